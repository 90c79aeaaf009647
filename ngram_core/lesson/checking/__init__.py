"""Plain models of lesson 08: rows checked before they are scored, what that saves, cache lines."""
