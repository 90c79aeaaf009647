"""One setting of an experiment, and the run that measures it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ..closing import Closing
from ..replay import Replay
from ..toggles import Toggles
from .measured import Line
from .same_drafts import DraftLog
from .switches import name_of


@dataclass(frozen=True)
class Setting:
    """What one run measures: megabytes of corpus (0: no static cache) and the switches."""

    size_mb: int
    toggles: Toggles

    @property
    def name(self) -> str:
        return name_of(self.toggles)

    @property
    def static_cache(self) -> tuple[object, ...]:
        """Settings with the same value here read the same static cache."""
        toggles = self.toggles
        if self.size_mb == 0:
            return (0,)
        if toggles.static != "same":  # it has a hash and arrays of its own
            return self.size_mb, toggles.static
        return self.size_mb, toggles.static, toggles.outer, toggles.followers, toggles.hash


@dataclass
class Run:
    """A replay with one setting: what it measured, what it drafted, and, until its end, the
    engine's replay itself."""

    setting: Setting
    line: Line
    log: DraftLog = field(default_factory=DraftLog)
    replay: Replay | None = None
    worked_seconds: float = 0.0

    @property
    def done(self) -> bool:
        return self.line.sample is not None and self.line.sample.done

    @property
    def unfinished(self) -> bool:
        """Begun, and able to go on."""
        return self.replay is not None

    def work(self, seconds: float) -> None:
        """Replays for about so many seconds, but not past the end of a piece."""
        assert self.replay is not None, "the run was opened"
        begun = time.monotonic()
        while not self.done:
            left = seconds - (time.monotonic() - begun)
            if left <= 0:
                break
            assert self.line.sample is not None
            tokens = self.line.piece_end - self.line.sample.n_replayed
            self.line.add(self.replay.advance(tokens=tokens, seconds=left))
        self.log.add(self.replay.drafts())
        self.line.memory["dynamic"] = self.replay.dynamic.memory()
        self.worked_seconds += time.monotonic() - begun

    def give_back(self) -> list[Closing]:
        """The engine's part, to be closed in this order; the figures stay."""
        if self.replay is None:
            return []
        replay, self.replay = self.replay, None
        return [replay, replay.dynamic]

    def held_bytes(self) -> int:
        """Bytes of the engine's part."""
        return 0 if self.replay is None else self.replay.dynamic.memory().live_bytes
