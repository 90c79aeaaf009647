"""Prose of any size from a small text: order 2 with back-off.

The next token is one that followed the last two tokens somewhere in the small text, or one
that followed the last token alone, or any word. Now and then a phrase from earlier in the same
article comes again, as names and terms do. How often each of these happens is the recipe:

    repeat      a phrase from earlier in the article begins
    any_word    forget the text before; new two-token contexts come from here
    one_token   look at one token instead of two; new followers come from here
    (else)      look at two tokens

Thousands of articles grow at once, a token each in one numpy step, so a token costs 60 to 90 ns
(541 MB in 10 s on one core) and memory is bounded by one block of articles, 4 million tokens.
Block i depends on nothing but the seed and i. Random numbers are Philox's raw output and choices
are made in whole numbers: the same seed gives the same tokens everywhere.

The default recipe makes, from our ten short articles and 20,000 words of the tokenizer's, prose
with the followers of WikiText-103 (published: static cache of 541 MB, and llama.cpp's files of
25 MB, from whose sizes the counts follow roughly):

    size     whose       2-grams     pairs   followers of a 2-gram, % of 2-grams      longest
                                              1     2    3    4    5    8   33+
    541 MB   published    8.88 M    38.4 M   63.7  13.6  6.0  3.4  2.3  0.9  1.7      22,349
    541 MB   ours         8.71 M    38.0 M   64.3  14.2  6.1  3.5  2.2  0.9  1.5      13,748
     25 MB   published    1.4 M      2.8 M
     25 MB   ours         1.01 M     2.65 M  75.6  12.0  4.2  2.1  1.3  0.5  0.6       2,797

Without a static cache 14.2 % of the guesses are accepted at 1.18 tokens per pass (WikiText's test
text: 15.6 %, 1.18), with one of 25 MB of the same prose 17.2 % (WikiText, 541 MB: 19.9 %).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..tokenizers import Tokens
from .shape import follower_shape

ARTICLE_TOKENS = 2048
ARTICLES = 2048

_FIRST_ARTICLES = 64

_WORD_BITS = 20
_NO_WORDS: Tokens = np.empty(0, np.int32)
_Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Recipe:
    """How often the next token comes from where; chances from 0 to 1.

    Args:
        repeat: a phrase of the same article begins again.
        any_word: any word comes: more 2-grams, and more followers of frequent ones.
        one_token: a follower of the last token alone: more followers.
        phrase_tokens: how long a repeated phrase is, on average.
        new_words: of `any_word`, the share that is not in the small text: more 2-grams.
        slope: how fast those words get rarer, word r having the weight 1 / (r + 2) ** slope;
            a steeper slope gives fewer 2-grams.
    """

    repeat: float = 0.025
    any_word: float = 0.335
    one_token: float = 0.2
    phrase_tokens: float = 6.0
    new_words: float = 0.57
    slope: float = 1.14

    def __post_init__(self) -> None:
        chances = (self.repeat, self.any_word, self.one_token, self.new_words)
        if min(chances) < 0 or self.new_words > 1 or sum(chances[:3]) > 1:
            raise InputError(f"chances go from 0 to 1, and the first three to 1 in sum: {self}")
        if self.phrase_tokens < 1 or self.slope < 0:
            raise InputError(f"need phrases of 1 token or more and no negative slope: {self}")


WIKITEXT_LIKE = Recipe()


class Prose:
    """An endless text in the manner of a small one.

    Args:
        text: the small text's ids, at least 3.
        words: ids of other words that may come, the most frequent first.
        recipe: how often what happens.
        end: id that ends each article; by default the text's last.
        articles: how many grow at once, at most; another number, another text.

    Raises:
        InputError: too small a text.
    """

    def __init__(
        self,
        text: Tokens,
        words: Tokens = _NO_WORDS,
        recipe: Recipe = WIKITEXT_LIKE,
        end: int | None = None,
        articles: int = ARTICLES,
    ) -> None:
        if len(text) < 3:
            raise InputError(f"{len(text)} tokens are too small a text to learn from; give 3")
        self.recipe = recipe
        self.articles = articles
        self._end = int(text[-1]) if end is None else end
        # A place is a position in this: the text, then each other word once.
        self._tokens = np.concatenate([text, words]).astype(np.int32)
        self._followers, self._first, self._n_followers = _follower_table(text, len(words))
        self._any = _any_places(len(text), len(words), recipe)

    def token_blocks(self, seed: int = 1, first: int = 0) -> Iterator[Tokens]:
        """Blocks of 2,048 ids times the number of articles, without end.

        The first blocks are small, so that a short text costs little.

        Args:
            seed: another seed, another text.
            first: number of the first block.

        Raises:
            InputError: a seed below 0.
        """
        if seed < 0:
            raise InputError(f"{seed} is no seed for prose; take 0 or more")
        while True:
            articles = min(self.articles, _FIRST_ARTICLES << min(2 * first, 20))
            yield self._block(np.random.Philox(key=[seed, first]), articles)
            first += 1

    def _block(self, random: np.random.Philox, n: int) -> Tokens:
        """Articles, one after the other; while they grow, row t holds token t of each."""
        recipe = self.recipe
        n_places = len(self._tokens)
        repeat, any_word, one_token = (
            round(chance * (1 << 16))
            for chance in np.cumsum([recipe.repeat, recipe.any_word, recipe.one_token])
        )
        stop = round((1 << 16) / recipe.phrase_tokens)
        places = np.empty((ARTICLE_TOKENS, n), np.int32)
        copying = np.zeros(n, bool)
        copied = np.zeros(n, np.int64)  # row of the token copied last
        # Whether to look at two tokens: not after any word, whose neighbour says nothing of it.
        known = np.zeros(n, bool)
        place: _Places = self._any[random.random_raw(n) >> (64 - _WORD_BITS)]
        places[0] = place
        for t in range(1, ARTICLE_TOKENS):
            dice = random.random_raw(n)
            chance = (dice & 0xFFFF).astype(np.int64)
            pick = ((dice >> 16) & 0xFFFFFF).astype(np.int64)
            two = known & (chance >= one_token)
            row = np.where(two, place + n_places, place)
            n_followers = self._n_followers[row]
            forget = (chance < any_word) | (n_followers == 0)
            place = self._followers[self._first[row] + (pick * n_followers >> 24)]
            place = np.where(forget, self._any[dice >> (64 - _WORD_BITS)], place)
            begin = chance < repeat
            copying = begin | (copying & (chance >= stop))
            copied = np.where(begin, pick * t >> 24, copied + 1)
            lanes = np.flatnonzero(copying)
            place[lanes] = places[copied[lanes], lanes]
            known = copying | ~forget
            places[t] = place
        tokens = self._tokens[places.T]
        tokens[:, -1] = self._end
        return tokens.reshape(-1)


def _follower_table(text: Tokens, n_words: int) -> tuple[_Places, _Places, _Places]:
    """What came next in the text, by place.

    Returns:
        followers: places, those after one context side by side.
        first, n_followers: of each place by its one token, then of each by its two: where they
            begin there and how many there are.
    """
    n_places = len(text) + n_words
    one = text.astype(np.int64)
    two = one + (np.concatenate([[-1], one[:-1]]) + 1 << 32)
    first = np.zeros(2 * n_places, np.int64)
    n_followers = np.zeros(2 * n_places, np.int64)
    followers = []
    for order, contexts in enumerate((one, two)):
        by_context = np.argsort(contexts[:-1], kind="stable")  # nothing follows the last place
        begin, end = (
            np.searchsorted(contexts[by_context], contexts, side) for side in ("left", "right")
        )
        here = slice(order * n_places, order * n_places + len(text))
        first[here] = begin + order * len(by_context)
        n_followers[here] = end - begin
        followers.append(by_context + 1)
    return np.concatenate([*followers, [0]]), first, n_followers


def _any_places(n_text: int, n_words: int, recipe: Recipe) -> _Places:
    """2^20 places; one of them taken by chance is "any word"."""
    size = 1 << _WORD_BITS
    n_new = round(size * recipe.new_words) if n_words else 0
    old = np.arange(size - n_new, dtype=np.int64) * n_text // (size - n_new or 1)
    if not n_new:
        return old
    up_to = np.cumsum(1 / np.arange(2, n_words + 2) ** recipe.slope)
    up_to = np.rint(up_to / up_to[-1] * 2**32)  # whole, lest machines differ in the last bit
    middles = (2 * np.arange(n_new, dtype=np.int64) + 1) * 2**31 // n_new
    new = np.searchsorted(up_to, middles, "right")
    return np.concatenate([old, n_text + new])


def fitted(
    text: Tokens,
    words: Tokens,
    n_tokens: int,
    n_grams: int,
    n_pairs: int,
    start: Recipe = WIKITEXT_LIKE,
    sample: int = 64,
    rounds: int = 5,
) -> Recipe:
    """A recipe whose text has the wanted number of 2-grams and of followers.

    Turns `any_word` and `slope`, and leaves the rest of `start`. What can be had depends on the
    small text and the words: measure the result (`follower_shape`).

    Args:
        text, words: as for `Prose`.
        n_tokens: of the text that is to have them.
        n_grams, n_pairs: wanted.
        start: where to begin.
        sample: count one 2-gram in so many.
        rounds: texts made, after the first three.

    Returns:
        The nearest recipe met.

    Cost: `rounds` + 3 times about 0.1 µs a token.
    """
    wanted = np.log([n_grams, n_pairs])
    articles = min(-(-n_tokens // ARTICLE_TOKENS), ARTICLES)

    def recipe(knobs: npt.NDArray[np.float64]) -> Recipe:
        most = 1 - start.repeat - start.one_token
        any_word = float(np.clip(np.exp(knobs[0]), 1e-3, most))
        return replace(start, any_word=any_word, slope=float(np.clip(knobs[1], 0, 4)))

    def missed(knobs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        prose = Prose(text, words, recipe(knobs), articles=articles)
        shape = follower_shape(_first_tokens(prose.token_blocks(), n_tokens), sample)
        return np.log([max(shape.n_grams, 1), max(shape.n_pairs, 1)]) - wanted

    # Broyden's method: Newton's, with a derivative that is mended by what each step brings.
    knobs = np.array([np.log(start.any_word), start.slope])
    error = missed(knobs)
    steps = np.diag([0.05, 0.05])
    slopes = np.column_stack([(missed(knobs + step) - error) for step in steps]) / 0.05
    best = (float(np.abs(error).max()), knobs)
    for _ in range(rounds):
        step = np.clip(-np.linalg.lstsq(slopes, error, rcond=None)[0], -0.5, 0.5)
        knobs = knobs + step
        before, error = error, missed(knobs)
        slopes += np.outer(error - before - slopes @ step, step) / (step @ step or 1.0)
        best = min(best, (float(np.abs(error).max()), knobs), key=lambda pair: pair[0])
    return recipe(best[1])


def _first_tokens(blocks: Iterable[Tokens], n_tokens: int) -> Iterator[Tokens]:
    """The first tokens of a longer text."""
    for block in blocks:
        yield block[:n_tokens]
        n_tokens -= len(block)
        if n_tokens <= 0:
            return
