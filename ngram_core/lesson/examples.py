"""Ready texts to step through, each chosen to show one thing.

An example brings what each cache needs: the text itself, an earlier text for the dynamic cache
and a toy corpus for the static one. Words stand between blanks, so that they can be counted by
hand. The rhyme is traditional; all else was written for these lessons.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError


@dataclass(frozen=True)
class Example:
    """A text, what stands behind the other caches, and what to watch."""

    name: str
    title: str
    watch: str  #: one line for the reader
    text: str
    earlier: str  #: counted into the dynamic cache
    corpus: str  #: its 2-grams are the static cache
    n_draft: int


RECIPE = """\
sift the flour into the bowl
whisk the eggs and the sugar until pale and thick
add the flour and stir and stir and stir until smooth
let the batter rest for ten minutes
pour the batter into the tin and bake until the top is golden
for the second cake
whisk the eggs and the sugar until pale and thick
add the cocoa and stir and stir until smooth
let the batter rest for ten minutes
or have the batter rest overnight
pour the rest into the tin and bake until the top is golden
whip the cream until pale and thick
spread the cream over the first cake and set the second cake on top
"""

NOTES = """\
pour the batter into the tin and bake until the top is golden
pour what is left into the tin and bake until the top is golden
whip half of the cream until pale pink
whip the rest of the cream until pale pink
do not tell ada about the cake
do not tell ada about the party
"""

HOUSE = """\
this is the house that jack built
this is the malt that lay in the house that jack built
this is the rat that ate the malt that lay in the house that jack built
this is the cat that killed the rat that ate the malt that lay in the house that jack built
this is the dog that worried the cat that killed the rat that ate the malt \
that lay in the house that jack built
"""

HOUSE_EARLIER = """\
this is the dog that worried the cat that killed the rat
this is the cow that tossed the dog that worried the cat that killed the rat
"""

HOUSE_CORPUS = """\
the rat that ate the cheese ran to the barn and the cat that killed the bird sat in the sun
the boy that lay in the grass saw the cat that killed the mouse that lay in the house
"""

CODE = """\
def total ( items ) :
    result = 0
    for item in items :
        result = result + item . price
    return result
def longest ( items ) :
    result = 0
    for item in items :
        result = max ( result , item . length )
    return result
# the same file after the edit
def total ( items , rate ) :
    result = 0
    for item in items :
        result = result + item . price * rate
    return result
def longest ( items ) :
    result = 0
    for item in items :
        result = max ( result , item . length )
    return result
"""

CODE_EARLIER = """\
def shortest ( items ) :
    result = None
    for item in items :
        result = min ( result , item . length )
    return result
"""

CODE_CORPUS = """\
for item in items : print ( item . name )
for item in items : result = result + item . price
return result return result return None
"""

JSON_LINES = """\
{ "id" : 1 , "name" : "ada" , "city" : "london" , "paid" : true }
{ "id" : 2 , "name" : "alan" , "city" : "london" , "paid" : true }
{ "id" : 3 , "name" : "grace" , "city" : "new york" , "paid" : false }
{ "id" : 4 , "name" : "edsger" , "city" : "austin" , "paid" : true }
{ "id" : 5 , "name" : "barbara" , "city" : "boston" , "paid" : true }
{ "id" : 6 , "name" : "donald" , "city" : "stanford" , "paid" : false }
"""

JSON_EARLIER = """\
{ "id" : 98 , "name" : "konrad" , "city" : "berlin" , "paid" : false }
{ "id" : 99 , "name" : "hedy" , "city" : "vienna" , "paid" : true }
"""

JSON_CORPUS = """\
{ "name" : "x" , "value" : true } { "name" : "y" , "value" : true } { "id" : 1 , "city" : "rome" }
"""

LOG = """\
09:00:01 info worker started on port 8080
09:00:02 info request for /index took 3 ms
09:00:02 info request for /style took 1 ms
09:00:04 warn request for /search took 480 ms
09:00:04 info request for /index took 2 ms
09:00:07 error worker lost its database and will try again
09:00:08 error worker lost its database and will try again
09:00:09 info worker found its database
09:00:11 info request for /index took 3 ms
09:00:12 warn request for /search took 510 ms
"""

LOG_EARLIER = """\
08:59:58 info request for /index took 3 ms
08:59:59 error worker lost its database and will stop
"""

LOG_CORPUS = """\
took 3 ms took 1 ms took 2 ms took 3 ms and will try again later info request for /index
"""

PROSE = """\
a map is kind because it forgets
whoever draws one must leave out the smell of rain , three quarrels and most trees
what remains fits a pocket
travellers forgive such silence gladly , since they carry noise enough themselves
later , standing where two roads disagree , somebody unfolds the paper
nothing there mentions mud
yet her boots know what every cartographer omitted , and walking becomes a second drawing
"""

PROSE_EARLIER = """\
a letter is patient because it cannot answer
whoever writes one must imagine a chair by some window
"""

PROSE_CORPUS = """\
one must leave out of this what every one of them said , and the paper is a second drawing
"""

EXAMPLES: dict[str, Example] = {
    example.name: example
    for example in (
        Example(
            "recipe",
            "A recipe",
            "The second cake repeats the first: watch whole lines come four words at a time.",
            RECIPE,
            NOTES,
            NOTES,
            n_draft=4,
        ),
        Example(
            "house",
            "The house that Jack built",
            "Each verse says all of the one before: the longer it goes on, the more is guessed.",
            HOUSE,
            HOUSE_EARLIER,
            HOUSE_CORPUS,
            n_draft=4,
        ),
        Example(
            "code",
            "An edit to some code",
            "Most of an edited file is the old file: watch where the edit breaks the run.",
            CODE,
            CODE_EARLIER,
            CODE_CORPUS,
            n_draft=8,
        ),
        Example(
            "json",
            "JSON, line by line",
            "The frame repeats, the values do not: each value ends a run, then it goes on.",
            JSON_LINES,
            JSON_EARLIER,
            JSON_CORPUS,
            n_draft=8,
        ),
        Example(
            "log",
            "A server's log",
            "The times never repeat, the messages do: watch the guesses after each first word.",
            LOG,
            LOG_EARLIER,
            LOG_CORPUS,
            n_draft=4,
        ),
        Example(
            "prose",
            "Prose that repeats nothing",
            "Hardly a guess: where nothing comes back, counting has nothing to offer.",
            PROSE,
            PROSE_EARLIER,
            PROSE_CORPUS,
            n_draft=4,
        ),
    )
}
"""The examples by name, in the order in which they are offered."""


def example(name: str) -> Example:
    """The example of that name.

    Raises:
        InputError: there is none; the message lists those there are.
    """
    try:
        return EXAMPLES[name]
    except KeyError:
        names = ", ".join(EXAMPLES)
        raise InputError(f"there is no example {name!r}; there are: {names}.") from None


def ready_text(text: str) -> Example:
    """The example of that name, or any other text, with yesterday's notes behind it."""
    return EXAMPLES.get(text) or Example("", "your text", "", text, NOTES, NOTES, n_draft=4)
