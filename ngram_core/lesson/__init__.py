"""Plain models behind the lessons: what the views show, without any widget.

Nothing in here imports ipywidgets, anywidget or plotly. A view asks a model for a document
and draws it; the same model answers in words where there is no view.
"""
