"""The bytes of cache files on the page; see `lesson/constmap/file_bytes.py`."""

from __future__ import annotations

import traitlets

from ..errors import InputError
from ..lesson.constmap.file_bytes import FORMATS, FileBytes
from ..lesson.constmap.fuse_map import NOTES
from .assets import script, style
from .base import PLACE, View


class FileView(View):
    """One small static cache as a file of each format; every number says what it means.

    Args:
        file_format: "legacy", "constmap" or "ngc", shown at first.
        text: a few words, whose 2-grams are in the files.

    Raises:
        InputError: no such format, or see `FuseMap`.
    """

    _esm = script("filebytes")
    _css = style("filebytes")

    files = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(**PLACE)  #: file and at: the numbers of a file, and in it

    def __init__(self, file_format: str = "constmap", text: str = NOTES, at: int = 0) -> None:
        if file_format not in FORMATS:
            raise InputError(f"there is no format {file_format!r}; there are: {', '.join(FORMATS)}")
        self.model: FileBytes = FileBytes(text)
        super().__init__(
            files=self.model.document(),
            state={"file": list(FORMATS).index(file_format), "at": at},
        )

    def show(self) -> None:
        """Display it, and print what it says at first."""
        self.show_begun()

    def describe(self) -> str:
        """The sentence that the page shows."""
        name = list(FORMATS)[self.state["file"]]
        return str(self.model.files[name].sentence(self.state["at"]))
