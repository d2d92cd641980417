"""Irregular forms count as their root, and no position is lost by it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from runner.protocol.datasets import SUITES

# Words, not lexemes: the first of a group is its root. "leaves" stays with "leave".
GROUPS = """
arise arose arisen|awake awoke awoken|bear bore borne|beat beaten|become became|begin began begun|bend bent
bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built
burn burnt|buy bought|catch caught|choose chose chosen|cling clung|come came|creep crept|deal dealt|dig dug
draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed
feel felt|fight fought|find found|flee fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten
forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|go went gone|grind ground
grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept|kneel knelt|know knew known|lead led
lean leant|leap leapt|learn learnt|leave left|lend lent|light lit|lose lost|make made|mean meant|meet met
mistake mistook mistaken|overcome overcame|pay paid|prove proven|ride rode ridden|ring rang rung
rise rose risen|run ran|say said|see saw seen|seek sought|sell sold|send sent|sew sewn|shake shook shaken
shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept
slide slid|speak spoke spoken|spend spent|spill spilt|spin spun|spoil spoilt|spring sprang sprung|stand stood
steal stole stolen|stick stuck|sting stung|stink stank|strike struck stricken|strive strove|swear swore sworn
sweep swept|swell swollen|swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told
think thought|throw threw thrown|tread trod|understand understood|undergo underwent
undertake undertook undertaken|wake woke woken|wear wore worn|weave wove woven|weep wept|win won|wind wound
withdraw withdrew withdrawn|write wrote written
child children|man men|woman women|person people|foot feet|tooth teeth|goose geese|mouse mice|wife wives
life lives|knife knives|shelf shelves|half halves|wolf wolves|loaf loaves|thief thieves
old older oldest elder eldest|good better best|bad worse worst|big bigger biggest|small smaller smallest
large larger largest|high higher highest|low lower lowest|long longer longest|short shorter shortest
new newer newest|young younger youngest|early earlier earliest|late later latest|fast faster fastest
slow slower slowest|easy easier easiest|hard harder hardest|cheap cheaper cheapest|near nearer nearest
close closer closest|great greater greatest|happy happier happiest|healthy healthier healthiest
busy busier busiest|warm warmer warmest|cold colder coldest|strong stronger strongest
mother mom mum mommy|father dad daddy|grandmother grandma granny|grandfather grandpa|child kid
photo picture pic photograph|boyfriend bf|girlfriend gf|television tv|bicycle bike|refrigerator fridge
vacation vacay|education edu|laboratory lab|advertisement ad|application app|doctor doc|veterinarian vet
mathematics math|gymnasium gym|movie film
1 one|2 two|3 three|4 four|5 five|6 six|7 seven|8 eight|9 nine|10 ten|11 eleven|12 twelve
"""
NOTHING_SPECIAL = [
    "river", "the", "gone-by", "it's", "e-mail", "http://a.example/foo'went?x=1", "naive", "3.14", "U.S.",
]  # fmt: skip


def counts(owner: Any, function: str, text: str, config: str = "english") -> dict[str, int]:
    rows = owner.execute(f"SELECT lexeme, cardinality(positions) FROM unnest({function}(%s::regconfig, %s))",
                          (config, text))  # fmt: skip
    return dict(rows.fetchall())


@pytest.fixture
def roots(owner: Any) -> dict[str, str]:
    """Form -> root, each as the lexeme that the english stemmer gives."""
    groups = [line.split() for line in GROUPS.replace("\n", "|").split("|") if line]
    stems = {word: list(counts(owner, "to_tsvector", word)) for group in groups for word in group}
    pairs = {stem: stems[group[0]][0] for group in groups for word in group for stem in stems[word]}
    assert all(len(stem) == 1 for stem in stems.values())
    return {form: root for form, root in pairs.items() if form != root}


@pytest.fixture
def merged(owner: Any, roots: dict[str, str]) -> Any:
    """The reference: positions of to_tsvector, united one by one; PostgreSQL keeps 256 of a lexeme.

    Names that are stop words stand apart: see test_words.py.
    """

    def merge(text: str) -> dict[str, int]:
        places: dict[str, set[int]] = {}
        cut = "SELECT lexeme, positions FROM unnest(to_tsvector(%s::regconfig, pgmnemo._parser_input(%s)))"
        found = owner.execute(cut, ("english", text)).fetchall()
        for lexeme, positions in found or owner.execute(cut, ("simple", text)):
            places.setdefault(roots.get(lexeme, lexeme), set()).update(positions)
        found = {lexeme: min(len(held), 256) for lexeme, held in places.items()}
        names = owner.execute("SELECT tsvector_to_array(pgmnemo._stop_word_names('english', %s))", (text,))
        return found | dict.fromkeys(names.fetchone()[0], 1)

    return merge


def some_text(chance: random.Random, words: int) -> str:
    forms = GROUPS.replace("|", " ").split()
    rare = [f"w{chance.randrange(10 * words)}" for _ in range(words // 3 + 1)]
    return " ".join(chance.choice(chance.choice([forms, rare, NOTHING_SPECIAL])) for _ in range(words))


def test_the_table_holds_what_the_stemmer_makes_of_its_words(owner: Any, roots: dict[str, str]) -> None:
    assert owner.execute("SELECT pgmnemo._form_roots()").fetchone()[0] == roots
    assert not roots.keys() & roots.values()


@pytest.mark.parametrize(
    ("text", "lexemes"),
    [
        ("", {}),
        ("the and of", {"the": 1, "and": 1, "of": 1}),
        ("the river", {"river": 1}),
        ("She went home; gone, and they go.", {"go": 3, "home": 1}),
        ("Two kids, one child and 2 children", {"2": 2, "1": 1, "child": 3}),
        ("Mum's photos and Dad's PICTURE", {"mother": 1, "photo": 2, "father": 1}),
        ("better than the best of older brothers", {"good": 2, "old": 1, "brother": 1}),
        ("a-went b'went it's", {"a-went": 1, "b": 1, "go": 2}),
    ],
)
def test_a_form_counts_as_its_root(owner: Any, text: str, lexemes: dict[str, int]) -> None:
    assert counts(owner, "pgmnemo._lexemes", text) == lexemes


@pytest.mark.parametrize("words", [1, 3, 10, 60, 300, 2000, 8_000, 12_000, 20_000])
def test_no_count_is_lost_even_where_positions_end(owner: Any, merged: Any, words: int) -> None:
    chance = random.Random(words)
    for _ in range(20 if words <= 300 else 2):
        text = some_text(chance, words)
        assert counts(owner, "pgmnemo._lexemes", text) == merged(text)


def test_a_lexeme_keeps_256_positions(owner: Any) -> None:
    found = counts(owner, "pgmnemo._lexemes", "went " * 200 + "go " * 100 + "river")
    assert found == {"go": 256, "river": 1}


def test_the_sample_is_cut_as_the_reference_cuts_it(owner: Any, merged: Any) -> None:
    sample = SUITES["sample"]
    corpus = sample.load(sample.locate(None, {}), "session")
    texts = [item.text for item in (*corpus.segments, *corpus.questions)]
    assert [counts(owner, "pgmnemo._lexemes", text) for text in texts] == [merged(text) for text in texts]


@pytest.mark.parametrize("config", ["simple", "german", "french"])
def test_other_configurations_keep_irregular_forms_apart(owner: Any, config: str) -> None:
    text = some_text(random.Random(7), 100)
    same = (
        "SELECT pgmnemo._lexemes(%(c)s::regconfig, %(t)s) = to_tsvector(%(c)s::regconfig, "
        "pgmnemo._even_stems(%(c)s::regconfig, pgmnemo._parser_input(%(t)s)))"
    )
    assert owner.execute(same, {"c": config, "t": text}).fetchone()[0]


def test_nothing_comes_of_nothing(owner: Any) -> None:
    assert owner.execute("SELECT pgmnemo._lexemes('english', NULL)").fetchone()[0] is None
