"""Endpointing rules on artificial posteriors."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.decoder import CTCDecoder, DecoderOptions
from deepspeech.errors import ModelError
from deepspeech.serving.endpointing import EndpointRules
from deepspeech.serving.endpointing.rules import RowRules
from deepspeech.serving.endpointing.search import MOST_READY, EndpointedSearch, RowEndpoint

LABELS = (" ", "a", "b")
RULES = RowRules(silence_after_words=10, silence_without_words=30, longest_utterance=90)


def posteriors(text: str) -> npt.NDArray[np.float32]:
    """Return a row for each character, `.` being the blank, with a small probability for all other labels."""
    rows = np.full((len(text), len(LABELS) + 1), 0.001, np.float32)
    rows[np.arange(len(text)), [(*LABELS, ".").index(character) for character in text]] = 0.997
    return rows


def run(text: str, cuts: Iterable[int] = (), rules: RowRules = RULES) -> tuple[RowEndpoint | None, str]:
    decoder = CTCDecoder(LABELS, DecoderOptions(beam_width=20))
    search = EndpointedSearch(decoder, rules)
    for piece in np.split(posteriors(text), list(cuts)):
        search.feed(piece)
    return search.endpoint, decoder.hypotheses(search.finish(1))[0].text.strip()


def test_an_utterance_ends_in_the_middle_of_the_silence_after_its_words() -> None:
    assert run(".a.b" + 9 * "." + "a") == (None, "aba")
    assert run(".a.b" + 10 * "." + "a") == (RowEndpoint("silence", 9), "ab")
    assert run("..a b. " + 20 * ".") == (RowEndpoint("silence", 10), "a b")


def test_silence_without_words_ends_later_and_keeps_only_its_end() -> None:
    assert run(29 * ".") == (None, "")
    assert run(40 * ".") == (RowEndpoint("silence", 25), "")
    assert run(25 * "." + "a" + 10 * ".") == (RowEndpoint("silence", 31), "a")
    longer_after_words = RowRules(silence_after_words=60, silence_without_words=20, longest_utterance=0)
    assert run(25 * ".", rules=longer_after_words) == (RowEndpoint("silence", 10), "")


@given(st.tuples(*3 * [st.integers(0, 9)]), st.text("ab .", max_size=20), st.text("ab .", max_size=20))
def test_an_end_comes_only_where_it_was_said_to_be_possible(
    rules: tuple[int, int, int], before: str, after: str
) -> None:
    search = EndpointedSearch(CTCDecoder(LABELS, DecoderOptions(beam_width=20)), RowRules(*rules))
    search.feed(posteriors(before))
    earliest, may_end = search.earliest_end, search.endpoint is not None or search.can_end_within(len(after))
    search.feed(posteriors(after))
    assert search.endpoint is None or (may_end and search.endpoint.row >= earliest)


@given(st.tuples(*3 * [st.integers(0, 9)]), st.text("ab .", max_size=40))
def test_words_are_those_of_the_rows_up_to_the_end_alone(rules: tuple[int, int, int], text: str) -> None:
    decoder = CTCDecoder(LABELS, DecoderOptions(beam_width=20))
    search = EndpointedSearch(decoder, RowRules(*rules))
    search.feed(posteriors(text))
    (found,) = decoder.hypotheses(search.finish(1))
    if found.words:
        assert found == decoder.decode(posteriors(text)[: search.endpoint.row if search.endpoint else None])[0]


def test_an_utterance_cannot_end_in_a_silence_that_has_outlasted_the_rules() -> None:
    rules = RowRules(silence_after_words=10, silence_without_words=0, longest_utterance=0)
    search = EndpointedSearch(CTCDecoder(LABELS, DecoderOptions(beam_width=20)), rules)
    search.feed(posteriors(9 * "."))
    assert search.earliest_end == 0
    search.feed(posteriors(91 * "."))
    assert search.earliest_end == 100


def test_few_rows_wait_for_the_search_in_an_utterance_that_no_rule_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[int] = []
    search = EndpointedSearch(CTCDecoder(LABELS, DecoderOptions(beam_width=20)), RowRules(0, 0, 0))
    monkeypatch.setattr(search, "_search", SimpleNamespace(feed=lambda rows: fed.append(len(rows))))
    search.feed(posteriors(2500 * "."))
    assert fed == [MOST_READY, MOST_READY]


def test_no_end_is_possible_soon_while_there_is_speech_or_a_long_silence_without_words() -> None:
    for text in (".a.b", 15 * "."):
        search = EndpointedSearch(CTCDecoder(LABELS, DecoderOptions(beam_width=20)), RULES)
        search.feed(posteriors(text))
        assert not search.can_end_within(9)
        assert search.can_end_within(30)


@given(st.tuples(*3 * [st.integers(0, 9)]), st.text("ab .", max_size=40))
def test_utterances_that_follow_each_other_come_to_the_end_of_the_signal(
    rules: tuple[int, int, int], text: str
) -> None:
    while (endpoint := run(text, rules=RowRules(*rules))[0]) is not None:
        assert 1 <= endpoint.row <= len(text)
        text = text[endpoint.row :]


def test_the_longest_utterance_ends_in_its_last_long_pause_between_words() -> None:
    text = 20 * "ab." + "a.... ...b..a........b" + 30 * "a."
    assert run(text) == (RowEndpoint("longest", 20 * 3 + 1 + 4), 20 * "ab" + "a")
    assert run(50 * "ab") == (RowEndpoint("longest", 90), 45 * "ab")


def test_endpoints_do_not_depend_on_how_the_rows_come() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        text = "".join(
            random.choice(["a", "b", " ", "...", 12 * ".", 35 * "."], 40, p=[0.3, 0.3, 0.2, 0.1, 0.05, 0.05])
        )
        cuts = np.sort(random.integers(0, len(text), 15))
        assert run(text) == run(text, [int(cut) for cut in cuts])


def test_rules_can_be_turned_off() -> None:
    off = RowRules(0, 0, 0)
    assert run("ab" + 200 * "." + "a", rules=off) == (None, "aba")
    assert run("ab" + 200 * ".", rules=RowRules(0, 30, 0)) == (None, "ab")
    assert run(60 * ".", rules=RowRules(0, 30, 0)) == (RowEndpoint("silence", 15), "")


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf"), 1e308])
def test_rules_that_are_no_times_are_refused(seconds: float) -> None:
    with pytest.raises(ModelError, match=r"longest_utterance is .*seconds"):
        EndpointRules(longest_utterance=seconds)
