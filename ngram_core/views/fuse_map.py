"""The fuse map of lesson 07 on the page: built by hand, and looked up with the check or without."""

from __future__ import annotations

import traceback
from typing import Any

import traitlets

from ..errors import InputError, NgramError
from ..lesson.constmap.fuse_map import NOTES, FuseMap, Hand
from .assets import script, style
from .base import PLACE, View, whole_text


class Peel(View):
    """A fuse map to be built by hand: keys are peeled from their cells, then cells are filled.

    Args:
        text: a few words, whose 2-grams are the keys.

    Raises:
        InputError: see `FuseMap`.
    """

    _esm = script("fusemap")
    _css = style("fusemap")

    map = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(**PLACE)  #: see `Hand`

    def __init__(self, text: str = NOTES) -> None:
        self.model = FuseMap(text)
        super().__init__(map=self.model.document(), state=vars(Hand()))
        self.on_msg(self._heard)

    @property
    def hand(self) -> Hand:
        """How far the reader is."""
        return Hand(**{**self.state, "taken": [tuple(step) for step in self.state["taken"]]})

    def build(self, text: str) -> None:
        """Takes other words.

        Raises:
            InputError: see `FuseMap`; nothing is changed then.
        """
        self.model = FuseMap(text)
        with self.hold_sync():
            self.state = vars(Hand())
            self.map = self.model.document()

    def _heard(self, _widget: Any, content: Any, _buffers: Any) -> None:
        ok, line = True, "Built."
        try:
            self.build(whole_text(content["text"]))
        except NgramError as error:
            ok, line = False, f"{error}. Nothing was changed."
        except Exception as error:
            traceback.print_exc()
            ok, line = False, f"Something went wrong in the kernel: {error!r}. Nothing was changed."
        self.send({"kind": "answer", "ok": ok, "line": line})

    def show(self) -> None:
        """Display it, and print what it says at first."""
        self.show_begun()

    def describe(self) -> str:
        """The sentence that the page shows."""
        return self.model.sentence(self.hand)


class LookUp(View):
    """A finished fuse map to be looked up, with any two of its words.

    Args:
        text: a few words, whose 2-grams are the keys.
        ngram: two of the words, looked up at first; by default the first key.
        verify: whether the checks are compared.

    Raises:
        InputError: see `FuseMap`; or a word that is not in the text.
    """

    _esm = script("fuselook")
    _css = style("fusemap")

    map = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(**PLACE)  #: first and second (numbers of words), verify

    def __init__(self, text: str = NOTES, ngram: str = "", verify: bool = True) -> None:
        self.model = FuseMap(text)
        words = ngram.split() or list(self.model.keys[0].words)
        if len(words) != 2 or not set(words) <= set(self.model.words):
            raise InputError(f"{ngram!r}: give two of these words: {' '.join(self.model.words)}")
        first, second = map(self.model.words.index, words)
        super().__init__(
            map=self.model.document(), state={"first": first, "second": second, "verify": verify}
        )

    def show(self) -> None:
        """Display it, and print what it says at first."""
        self.show_begun()

    def describe(self) -> str:
        """The sentence that the page shows."""
        look = self.model.lookups[self.state["first"]][self.state["second"]]
        return self.model.said(look, self.state["verify"])
