"""Lesson 05's models: how many followers n-grams have, what they cost, in what order they lie."""
