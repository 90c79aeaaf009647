"""One picture of each view is kept, light and dark, and is what the view looks like now.

Letters differ from machine to machine, so pictures are compared coarsely: how tall they are, and
how light or dark each square of 16 pixels is. After a change that is meant: `make pictures`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

import pictures
import pytest

from .lesson import Lesson

VIEWS = {
    "01-word-42": "Stepper",
    "02-numbers": "thresholds",
    "00-predict": "Predict",
    "00-keep": "Keep",
    "01-exercise": "Exercise",
    "03-live": "live measurement",
    "04-lookup": "table",
    "04-growth": "growth",
    "05-curve": "followers",
    "05-arrival": "arrival",
    "06-search": "searches",
    "06-times": "times of searches",
    "07-peel": "fuse map",
    "07-look-up": "look-up",
    "07-bytes": "bytes of a file",
    "08-check": "check",
    "08-lines": "cache lines",
    "08-profile": "bars measured here",
    "08-shares": "bars",
    "09-plots": "plots of a race",
    "09-race": "race",
    "10-payoff": "payoff",
}
"""By picture; times are those that `recorded.py` has kept."""

# Mean and largest difference of two pictures' squares, as shares of black against white, and by
# how much the one is taller.
COMPARE = """async ([one, other]) => {
    const drawn = [];
    for (const png of [one, other]) {
        const image = new Image();
        image.src = `data:image/png;base64,${png}`;
        await image.decode();
        drawn.push(image);
    }
    const [a, b] = drawn;
    const wide = Math.round(a.width / 16), tall = Math.round(a.height / 16);
    const squares = drawn.map((image) => {
        const canvas = new OffscreenCanvas(wide, tall);
        const context = canvas.getContext('2d');
        context.imageSmoothingQuality = 'high';
        context.drawImage(image, 0, 0, wide, tall);
        return context.getImageData(0, 0, wide, tall).data;
    });
    let sum = 0, most = 0;
    for (let i = 0; i < squares[0].length; i++) {
        const difference = Math.abs(squares[0][i] - squares[1][i]) / 255;
        sum += difference;
        most = Math.max(most, difference);
    }
    return [sum / squares[0].length, most, b.height / a.height];
}"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_views_look_as_in_their_pictures(open_notebook: Callable[..., Lesson], dark: bool) -> None:
    chosen = [picture for picture in pictures.PICTURES if picture.name in VIEWS]
    assert len(chosen) == len(VIEWS)
    cells = [picture.code for picture in chosen]
    lesson = open_notebook(cells, width=pictures.WIDTH, height=1800, dark=dark)
    found = {}
    for number, picture in enumerate(chosen):
        now = pictures.shot(lesson, number, picture)
        path = pictures.FOLDER / f"{picture.name}-{'dark' if dark else 'light'}.png"
        found[picture.name] = difference(lesson, path.read_bytes(), now)
        other_theme = path.with_name(f"{picture.name}-{'light' if dark else 'dark'}.png")
        assert difference(lesson, other_theme.read_bytes(), now)[0] > 0.3, "it would be seen"
    off = {
        VIEWS[name]: [round(share, 3) for share in (mean, most, taller)]
        for name, (mean, most, taller) in found.items()
        if mean > 0.03 or most > 0.6 or not 0.94 < taller < 1.06
    }
    assert not off, f"not as in its picture (mean, most, height): {off}"


def difference(lesson: Lesson, kept: bytes, now: bytes) -> tuple[float, float, float]:
    coded = [base64.b64encode(png).decode() for png in (kept, now)]
    mean, most, taller = lesson.page.evaluate(COMPARE, coded)
    return mean, most, taller
