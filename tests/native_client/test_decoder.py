"""The decoder's Python interface: results, batches, and messages about bad input."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from exhaustive import write_arpa
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from deepspeech import _ctcdecoder
from deepspeech.decoder import UTF8_BYTES, CTCDecoder, DecoderError, DecoderOptions, Scorer, Word
from deepspeech.util.parallel import usable_cores

LABELS = (" ", "a", "b")


def one_hot(text: str) -> npt.NDArray[np.float32]:
    """Return posteriors of an acoustic model that is sure of `text`, one frame a character, "-" being the blank."""
    posteriors = np.full((len(text), 4), 0.001, np.float32)
    posteriors[np.arange(len(text)), [(*LABELS, "-").index(character) for character in text]] = 0.997
    return posteriors


@pytest.fixture
def scorer(tmp_path: Path) -> Scorer:
    write_arpa(tmp_path / "lm.arpa", ["a", "b", "ab"], np.random.default_rng(0))
    return Scorer.load(LABELS, tmp_path / "lm.arpa")


def test_repeated_labels_collapse_unless_a_blank_parts_them() -> None:
    assert CTCDecoder(LABELS).decode(one_hot("-aab-b--"))[0].text == "abb"


def test_labels_appear_at_their_frames_and_words_span_theirs() -> None:
    best = CTCDecoder(LABELS).decode(one_hot("-ab--  b-a-"))[0]
    assert best.text == "ab ba"
    assert best.timesteps == (1, 2, 5, 7, 9)
    assert best.words == (Word("ab", 1, 3), Word("ba", 7, 10))


def test_scorer_allows_only_its_words(scorer: Scorer) -> None:
    for result in CTCDecoder(LABELS, DecoderOptions(result_count=100), scorer).decode(one_hot("-ba-bb-")):
        assert set(result.text.split()) <= {"a", "b", "ab"}


def test_no_frames_give_the_empty_transcript(scorer: Scorer) -> None:
    nothing = np.zeros((0, 4), np.float32)
    assert [result.text for result in CTCDecoder(LABELS).decode(nothing)] == [""]
    assert [result.text for result in CTCDecoder(LABELS, None, scorer).decode(nothing)] == [""]


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_batch_gives_what_each_utterance_gives(threads: int, scorer: Scorer) -> None:
    posteriors = np.random.default_rng(1).dirichlet([0.2] * 4, (9, 30))
    lengths = [30, 0, 1, 12, 30, 7, 29, 3, 30]
    decoder = CTCDecoder(LABELS, DecoderOptions(beam_width=20, result_count=5), scorer)
    expected = [decoder.decode(utterance[:length]) for utterance, length in zip(posteriors, lengths, strict=True)]
    assert decoder.decode_batch(posteriors, lengths, threads) == expected


@given(st.sampled_from([np.float32, np.float64]), st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_strided_views_give_what_a_copy_gives(
    dtype: type[np.float32 | np.float64], step: int, gap: int, transposed: bool
) -> None:
    rng = np.random.default_rng(2)
    whole: npt.NDArray[np.float32 | np.float64] = np.zeros((20 * step, 4 * gap), dtype)
    view = (whole.T.copy().T if transposed else whole)[::step, ::gap]
    view[:] = rng.dirichlet([0.2] * 4, 20)
    decoder = CTCDecoder(LABELS)
    assert decoder.decode(view) == decoder.decode(view.copy())
    assert decoder.decode(view[::-1]) == decoder.decode(view[::-1].copy())


@given(st.lists(st.integers(0, 30), max_size=5), st.booleans(), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_stream_gives_what_one_piece_gives_wherever_it_is_cut(cuts: list[int], scored: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    posteriors = rng.dirichlet([0.2] * 4, 30)
    with tempfile.TemporaryDirectory() as folder:
        write_arpa(Path(folder) / "lm.arpa", ["a", "b", "ab"], rng)
        scorer = Scorer.load(LABELS, Path(folder) / "lm.arpa") if scored else None
    decoder = CTCDecoder(LABELS, DecoderOptions(beam_width=20, result_count=20), scorer)
    stream = decoder.stream()
    for begin, end in pairwise([0, *sorted(cuts), 30]):
        stream.feed(posteriors[begin:end])
        stream.peek()
    assert stream.finish() == decoder.decode(posteriors)
    assert stream.finish(2) == decoder.decode(posteriors)[:2]


def test_peek_shows_the_unfinished_word(tmp_path: Path) -> None:
    write_arpa(tmp_path / "lm.arpa", ["abba"], np.random.default_rng(0))
    stream = CTCDecoder(LABELS, None, Scorer.load(LABELS, tmp_path / "lm.arpa")).stream()
    texts = []
    for frame in one_hot("-abb-ba--"):
        stream.feed(frame[np.newaxis])
        texts.append(stream.peek()[0].text)
    assert texts == ["", "a", "ab", "ab", "ab", "abb", "abba", "abba", "abba"]


def test_stream_takes_no_frame_of_a_bad_piece() -> None:
    stream = CTCDecoder(LABELS).stream()
    stream.feed(one_hot("a-"))
    piece = one_hot("bb")
    piece[1, 0] = np.nan
    with pytest.raises(DecoderError, match="frame 3, column 0"):
        stream.feed(piece)
    stream.feed(one_hot("a"))
    assert stream.finish()[0].text == "aa"


def test_a_long_stream_forgets_what_no_hypothesis_needs() -> None:
    stream = CTCDecoder(LABELS, DecoderOptions(beam_width=8)).stream()
    posteriors = np.random.default_rng(3).dirichlet([0.3] * 4, 1000)
    for _ in range(20):
        stream.feed(posteriors)
        stream.peek()
    best = stream.finish()[0]
    assert best == CTCDecoder(LABELS, DecoderOptions(beam_width=8)).decode(np.tile(posteriors, (20, 1)))[0]
    assert sorted(best.timesteps) == list(best.timesteps)


def test_hot_words_win_over_likelier_words(tmp_path: Path) -> None:
    write_arpa(tmp_path / "lm.arpa", ["a", "b", "ab"], np.random.default_rng(0))
    scorer = Scorer.load(LABELS, tmp_path / "lm.arpa")
    unsure = np.array([[0.001, 0.6, 0.398, 0.001], [0.001, 0.001, 0.001, 0.997]])
    assert CTCDecoder(LABELS, None, scorer).decode(unsure)[0].text == "b"
    assert CTCDecoder(LABELS, DecoderOptions(hot_words={"a": 20.0}), scorer).decode(unsure)[0].text == "a"
    unknown = CTCDecoder(LABELS, DecoderOptions(hot_words={"bab": 20.0}), scorer)
    assert unknown.decode(one_hot("-bab-"))[0].text == "bab"


def test_unknown_words_are_heard_only_if_allowed(scorer: Scorer) -> None:
    posteriors = one_hot("-bb-b-ab-")
    assert set(CTCDecoder(LABELS, None, scorer).decode(posteriors)[0].text.split()) <= {"a", "b", "ab"}
    allowed = CTCDecoder(LABELS, DecoderOptions(unknown_word_score=5.0), scorer)
    assert allowed.decode(posteriors)[0].text == "bbab"


def test_model_of_characters_reads_utf8_bytes(tmp_path: Path) -> None:
    write_arpa(tmp_path / "lm.arpa", ["ä", "я", "語", "a"], np.random.default_rng(0))
    text = "語ä語я"
    posteriors = np.full((len(text.encode()), 256), 1e-5)
    posteriors[np.arange(len(posteriors)), [byte - 1 for byte in text.encode()]] = 1 - 255e-5
    scorer = Scorer.load(UTF8_BYTES, tmp_path / "lm.arpa", characters=True)
    assert CTCDecoder(UTF8_BYTES, DecoderOptions(beam_width=50), scorer).decode(posteriors)[0].text == text


def test_words_of_bytes_are_heard_where_their_first_byte_has_64_others_after_it(tmp_path: Path) -> None:
    words = [chr(0xB000 + 64 * place) for place in range(64)]
    write_arpa(tmp_path / "lm.arpa", words, np.random.default_rng(0))
    text = f"{words[5]} {words[60]}"
    columns = [column for byte in text.encode() for column in (byte - 1, 255)]
    posteriors = 0.99 * np.eye(256)[columns] + 0.01 / 256
    scorer = Scorer.load(UTF8_BYTES, tmp_path / "lm.arpa")
    assert CTCDecoder(UTF8_BYTES, DecoderOptions(lm_weight=0), scorer).decode(posteriors)[0].text == text


def test_cutoffs_that_leave_no_way_on_are_lifted(scorer: Scorer) -> None:
    options = DecoderOptions(cutoff_top_n=1)
    assert CTCDecoder(LABELS, options, scorer).decode(one_hot(" -a b-"))[0].text == "a b"
    best = CTCDecoder(LABELS, options, scorer).decode(one_hot("-ba-"))[0]  # "ba" is no word: "b", "bb" or "b "
    assert best.text == "b"
    assert best.acoustic_score == pytest.approx(math.log(3 * 0.997**3 * 0.001), abs=1e-4)


@pytest.mark.parametrize(
    ("posteriors", "message"),
    [
        (np.full((3, 4), np.nan), r"frame 0, column 0 .* nan, which is not a probability"),
        (np.array([[0.5, 0.5, 0, 0], [1.5, -0.5, 0, 0]]), r"frame 1, column 0 .* 1\.5"),
        (np.array([[0.5, 0.7, -0.2, 0]]), r"frame 0, column 2 .* -0\.2"),
        (np.array([[0.5, 0.2, 0.2, 0]]), r"frame 0 .* sums up to 0\.9 instead of 1"),
        (np.full((3, 5), 0.2), r"5 columns, but 3 labels and the blank make 4"),
        (np.full(4, 0.25), r"shape \(4,\), but must be \[time, labels \+ 1\]"),
        (np.eye(4, dtype=int), r"int64, but must be float32 or float64"),
    ],
)
def test_bad_posteriors_are_refused_with_the_reason(posteriors: npt.NDArray[np.float64], message: str) -> None:
    with pytest.raises(DecoderError, match=message):
        CTCDecoder(LABELS).decode(posteriors)


def test_what_is_no_array_is_refused_without_its_numbers() -> None:
    decoder, numbers = CTCDecoder(LABELS), one_hot("-a-").tolist()
    batch: Callable[[Any, list[int]], object] = decoder.decode_batch
    takes: list[Callable[[Any], object]] = [decoder.decode, decoder.stream().feed, lambda given: batch([given], [3])]
    for take in takes:
        with pytest.raises(DecoderError, match=r"^the posteriors are of type list, .* np\.asarray\(posteriors\)$"):
            take(numbers)


def test_bad_batches_are_refused_naming_the_utterance() -> None:
    posteriors = np.full((2, 3, 4), 0.25)
    posteriors[1, 2] = -1
    decoder = CTCDecoder(LABELS)
    with pytest.raises(DecoderError, match="utterance 1: frame 2, column 0"):
        decoder.decode_batch(posteriors, [3, 3])
    with pytest.raises(DecoderError, match="utterance 1 has length 4, but the posteriors have 3 frames"):
        decoder.decode_batch(posteriors, [3, 4])
    with pytest.raises(DecoderError, match="1 lengths for 2 utterances"):
        decoder.decode_batch(posteriors, [3])
    with pytest.raises(DecoderError, match="threads is -1, but must be 0 or more"):
        decoder.decode_batch(posteriors, [3, 3], threads=-1)


@given(hnp.arrays(st.sampled_from([np.float32, np.float64]), st.tuples(st.integers(0, 5), st.just(4))))
@settings(deadline=None)
def test_any_numbers_are_decoded_or_refused(posteriors: npt.NDArray[np.float64]) -> None:
    try:
        assert len(CTCDecoder(LABELS).decode(posteriors)) == 1
    except DecoderError as error:
        assert "of the posteriors" in str(error)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (DecoderOptions(beam_width=0), "beam_width is 0"),
        (DecoderOptions(beam_width=-5), "beam_width is -5"),
        (DecoderOptions(lm_weight=float("nan")), "lm_weight is nan"),
        (DecoderOptions(lm_weight=-1e38), "lm_weight is -"),
        (DecoderOptions(cutoff_prob=0), "cutoff_prob is 0"),
        (DecoderOptions(result_count=0), "result_count is 0"),
        (DecoderOptions(score_threshold=0), "score_threshold is 0"),
        (DecoderOptions(unknown_word_score=float("nan")), "unknown_word_score is nan"),
        (DecoderOptions(hot_words={"a": 1e38}), "hot_words is a: "),
        (DecoderOptions(valid_word_count_weight=math.inf), "valid_word_count_weight is inf, .*between -1e30 and 1e30"),
        (DecoderOptions(hot_words={"a": 1}), "hot_words need a scorer"),
    ],
)
def test_bad_options_are_refused_by_name(options: DecoderOptions, message: str) -> None:
    with pytest.raises(DecoderError, match=message):
        CTCDecoder(LABELS, options)


@pytest.mark.parametrize(
    "content", [b"", b"not a language model\n", b"\\data\\\nngram 1=5\n", bytes(range(255, -1, -1)) * 20]
)
def test_files_that_are_no_language_model_are_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "lm.binary"
    path.write_bytes(content)
    with pytest.raises(DecoderError, match=r"lm\.binary cannot be used as a KenLM language model") as caught:
        Scorer.load(LABELS, path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 700  # a byte may be written as four characters


def test_missing_language_model_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DecoderError, match=r"none\.arpa .* No such file"):
        Scorer.load(LABELS, tmp_path / "none.arpa")


def test_language_model_of_another_alphabet_is_refused(tmp_path: Path) -> None:
    write_arpa(tmp_path / "lm.arpa", ["x", "y"], np.random.default_rng(0))
    with pytest.raises(DecoderError, match=r"fit none of the 5 words of .*lm\.arpa, such as 'x'; build it .* the case"):
        Scorer.load(LABELS, tmp_path / "lm.arpa")
    with pytest.raises(DecoderError, match="needs a label ' '"):
        Scorer.load(("x", "y"), tmp_path / "lm.arpa")


def test_scorer_of_other_labels_is_refused(scorer: Scorer) -> None:
    with pytest.raises(DecoderError, match="other labels"):
        CTCDecoder((" ", "b", "a"), None, scorer)


def test_hot_words_that_cannot_be_spelled_are_refused(scorer: Scorer) -> None:
    for word in ("ax", "a x", " "):
        with pytest.raises(DecoderError, match=f"cannot spell the hot word '{word}'"):
            CTCDecoder(LABELS, DecoderOptions(hot_words={word: 1.0}), scorer)


def test_importing_the_decoder_does_not_import_tensorflow() -> None:
    code = "import sys, deepspeech.decoder; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system does not let a process choose its cores")
def test_python_and_the_decoder_count_the_same_cores() -> None:
    before = os.sched_getaffinity(0)
    try:
        for cores in (before, {min(before)}):
            os.sched_setaffinity(0, cores)
            assert _ctcdecoder.usable_cores() == usable_cores() == len(cores)
    finally:
        os.sched_setaffinity(0, before)
