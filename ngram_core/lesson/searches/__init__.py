"""Lesson 06's models: searches side by side, how long they take, and one of the reader's own."""
