"""Tests that drive a real JupyterLab (or Notebook 7) in headless Chromium.

Put such tests into this folder; they get the marker `browser` by being here, and are
skipped with a reason where Chromium or Playwright is missing. How to write one:

    def test_stepper(open_notebook):
        lesson = open_notebook("00_start_here.ipynb")            # a copy, in a folder of its own
        lesson.run_all()                                         # waits for the kernel, then runs
        stepper = lesson.find(".ngram-stepper")                  # a Playwright locator, visible
        lesson.press("ArrowRight")
        lesson.screenshot("stepper")                             # build/screenshots/stepper.png
        assert lesson.axe(".ngram-stepper") == []                # serious and critical findings

    def test_narrow(open_notebook):
        lesson = open_notebook(["import ngram_core", "..."],     # or cells of your own
                               app="notebook", width=360, dark=True)

`open_notebook(what, app="lab"|"notebook", width=1280, height=900, dark=False,
reduced_motion=False)`: opens, waits until the kernel is ready, and closes the lab's
side bars. It may be called several times in one test. When the test ends, it fails if the
page logged an error to the console, or asked anything off this machine. Then the kernel is
shut down; but a page of cells is kept for the next test, if that wants the same cells in the
same app (`pages.py`): put such tests one after the other. A test that provokes an error
says so: `lesson.errors.clear()`.

See `lesson.py` for what a Lesson can do: run_all, run_cell, run_to, outputs, find,
cell_output, kernel (run code there and get its printed text), press, screenshot, axe.
Notebook 7 (app="notebook", what a phone gets from Binder) hands arrow keys and letters to
its own shortcuts before any listener of a widget sees them, stopPropagation or not: "a"
inserts a cell. The element with the focus gets its keys if it has the attribute
data-lm-suppress-shortcuts="true", which `el` in dom.js sets. So test keyboards in both apps.

Look at the pictures you take: a test that passes can still show an ugly page.
"""
