"""Lesson 04's models: looking an n-gram up in chains and in slots, and how a table grows."""
