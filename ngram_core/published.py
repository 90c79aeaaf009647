"""Published figures, to stand beside what is measured here, always in another style.

Machines, compilers and corpora differ: compare ratios, never the figures themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = (
    "Published: Apple M4 Pro, WikiText-103, Qwen2.5 tokens, context 4,096, 8 guesses, medians of"
    " 3 runs; github.com/jadidbourbaki/ngram-cache-bench, results of September 2026."
)


@dataclass(frozen=True)
class Published:
    """One line of the author's tables.

    Args:
        us_per_drafted: drafting and counting; of constmap, measured again with precheck.
        load_ms: of the static cache's file; None without one.
        static_mb: what the static cache takes, by how much the process grew.
        peak_mb: of the whole process, which holds a model of about 840 MB too.
    """

    stage: str
    corpus_mb: int
    us_per_drafted: float
    load_ms: int | None
    static_mb: int | None
    peak_mb: int
    n_drafted: int
    n_accept: int

    @property
    def accept_pct(self) -> float:
        return 100.0 * self.n_accept / self.n_drafted


_TABLE = """
corpus_mb  stage        us_per_drafted  load_ms  static_mb  peak_mb  n_drafted  n_accept
0          upstream     8.54            -        -          891      301769     46362
0          nocopy       1.89            -        -          896      300301     46586
0          outermap     1.72            -        -          883      300301     46586
0          innervector  0.82            -        -          846      299268     46660
0          constmap     0.88            -        -          848      299268     46660
0          precheck     0.45            -        -          844      299268     46660
25         upstream     45.61           438      215        1106     332917     58722
25         nocopy       4.12            474      249        1145     332245     58739
25         outermap     3.94            288      225        1108     332245     58739
25         innervector  3.31            234      90         937      332509     58889
25         constmap     3.05            32       46         895      332509     58889
25         precheck     0.76            39       47         891      332509     58889
50         upstream     59.73           904      399        1291     330291     60050
50         nocopy       4.42            845      451        1347     330000     60102
50         outermap     4.11            528      409        1292     330000     60102
50         innervector  3.46            482      168        1015     330295     60207
50         constmap     3.28            65       78         927      330295     60207
50         precheck     0.78            62       82         926      330295     60207
100        upstream     83.46           1327     705        1596     326463     61338
100        nocopy       4.64            1297     743        1638     325846     61355
100        outermap     4.55            922      680        1563     325846     61355
100        innervector  3.68            874      250        1097     326240     61455
100        constmap     3.53            103      133        981      326240     61455
100        precheck     0.90            81       139        983      326240     61455
200        upstream     113.46          2464     1215       2107     324630     62416
200        nocopy       5.62            2517     1284       2180     324012     62405
200        outermap     4.96            1648     1190       2074     324012     62405
200        innervector  3.95            1650     456        1302     324458     62458
200        constmap     3.67            165      228        1076     324458     62458
200        precheck     1.06            155      231        1075     324458     62458
541        upstream     165.48          5485     2573       3465     320534     63775
541        nocopy       6.47            5283     2652       3548     319980     63830
541        outermap     5.81            3508     2481       3364     319980     63830
541        innervector  4.78            3756     861        1707     320336     63846
541        constmap     4.29            324      464        1312     320336     63846
541        precheck     1.18            298      467        1311     320336     63846
"""


def _read() -> tuple[Published, ...]:
    def number(word: str) -> int | None:
        return None if word == "-" else int(word)

    return tuple(
        Published(
            stage,
            int(corpus_mb),
            float(us),
            number(load_ms),
            number(static_mb),
            int(peak_mb),
            int(n_drafted),
            int(n_accept),
        )
        for corpus_mb, stage, us, load_ms, static_mb, peak_mb, n_drafted, n_accept in (
            line.split() for line in _TABLE.strip().splitlines()[1:]
        )
    )


PUBLISHED = _read()
"""All lines, by corpus, then in the order of the stages."""


def _drafting() -> dict[str, dict[int, float]]:
    table: dict[str, dict[int, float]] = {}
    for line in PUBLISHED:
        table.setdefault(line.stage, {})[line.corpus_mb] = line.us_per_drafted
    return table


DRAFTING_US: dict[str, dict[int, float]] = _drafting()
"""Stage -> megabytes of corpus (0: no static cache) -> µs per drafted token."""

FIRST_RUN_CONSTMAP_US = 3.98
"""With 541 MB, in the run behind the headline of 42 times; measured again, it took 4.29."""

LONGEST_FOLLOWERS = 22_349
"""Followers of the 2-gram that has most, in the static cache of 541 MB; same source."""

FOLLOWERS = (
    5659155, 1207509, 529461, 305565, 201149, 142464, 107502, 83304, 66911, 54943, 45526, 38885,
    33497, 28981, 25175, 22203, 19799, 17860, 16305, 14536, 13149, 12115, 10818, 10278, 9290, 8662,
    8187, 7603, 6878, 6613, 6181, 5748, 153388,
)  # fmt: skip
"""[k - 1]: 2-grams with exactly k followers in that static cache; the last, with 33 or more."""
