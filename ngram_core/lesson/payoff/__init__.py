"""Plain models of lesson 10: what checking costs, what drafting gains, and whether it pays."""
