"""List the words of sentences as separate utterances, so that isolated words are learned from more speakers.

    python -m deepspeech.cut_words MODEL LIST... [--words zero one two] [--output words.csv]

MODEL is an exported graph, which may have been trained on the same recordings; it finds each word in its recording. The
list names the parts of the recordings, which are not copied. Training reads the list as it is:
--train_files=train.csv,words.csv. Words that the model does not recognize at their place are left out. Without --words,
all are listed. With --of_each, all are listed equally often, so that rare words are not recognized as frequent ones.
--normalize_transcripts is for a model that was trained with it.
"""

from __future__ import annotations

import io
import logging
from argparse import ArgumentTypeError
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import cycle, islice, zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...errors import AlignmentError, AlphabetError, AudioError
from ...options.export import MODEL_FILE
from ...serving.alignment.isolated_words import is_in_one_place, parts_of_words
from ...serving.alignment.transcript import align
from ...serving.api import Model
from ...util.audio import Samples, read_audio
from ...util.checks.inspection import Inspection
from ...util.corpus_files import Row
from ...util.corpus_files.speakers import speaker_of
from ...util.errors import CorpusError
from ...util.files.csv_lines import csv_writer
from ...util.files.whole_files import write_text_whole
from ...util.importing.formats.lists.of_any_kind import rows_of
from ...util.parallel import ordered_map, usable_cores
from ...util.parts import PartError
from ...util.progress import Progress, report
from ...util.storage.copies import named_for_all
from ...util.transcripts import Normalizer
from ..arguments import (
    ArgumentParser,
    add_transcript_flags,
    check_list_of_rows,
    chosen_normalizer,
    list_path,
    output_path,
    run_tool,
)

LOWEST_SCORE = -1.0
"""The lowest score of a kept word, the mean of the log posteriors of its labels, in nats."""
COLUMNS = ("wav_filename", "transcript", "start", "duration", "speaker")
ROWS_AHEAD = 64
"""Rows that are processed ahead of the one whose words are taken next."""

logger = logging.getLogger(__name__)


class Said(NamedTuple):
    """A row of a list, and its speaker, empty if the list does not name one."""

    row: Row
    speaker: str


class Word(NamedTuple):
    """The fields of a word that is listed, by `COLUMNS`."""

    recording: str
    transcript: str
    start: str
    duration: str
    speaker: str


class Found(NamedTuple):
    """The words that are kept, and how many are not."""

    kept: list[Word]
    unheard: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, find the words, write the list and return the exit code."""
    return run_tool(lambda: _main(arguments), "cut_words: error")


def _main(given: Sequence[str] | None) -> None:
    parser = ArgumentParser(__doc__, "python -m deepspeech.cut_words")
    add = parser.add_argument
    add("model", type=Path, metavar="MODEL", help=MODEL_FILE)
    add("csv", type=list_path, nargs="+", metavar="LIST", help="corpus to take words from")
    add("--words", nargs="+", help="words to list (default: all)")
    add("--of_each", type=times, metavar="N", help="list each word N times, of all speakers in turn, rare ones again")
    add("--output", type=output_path, default=Path("words.csv"), help="the list (default: %(default)s)")
    add_transcript_flags(parser)
    arguments = parser.parse_args(given)
    normalizer = chosen_normalizer(arguments)
    check_list_of_rows(arguments.output, (arguments.model, *arguments.csv))
    rows = list(rows_in(arguments.csv))
    wanted = [normalizer(word) if normalizer else word for word in arguments.words] if arguments.words else None
    model, inspection = Model(arguments.model), Inspection()
    look = partial(words_in, model=model, inspection=inspection, normalizer=normalizer, wanted=wanted)
    kept: list[Word] = []
    unheard = 0
    with Progress("Finding words", len(rows), unit="utterance") as progress:
        for found in ordered_map(look, rows, threads=usable_cores(), ahead=ROWS_AHEAD):
            kept += found.kept
            unheard += found.unheard
            progress.advance()
    if not kept:
        why = "recognized in its recording" if unheard else "in a transcript"
        raise CorpusError(f"{', '.join(map(named_for_all, arguments.csv))}: none of the words is {why}")
    listed = equally_often(kept, arguments.of_each) if arguments.of_each else kept
    text = io.StringIO()
    csv_writer(text).writerows([COLUMNS, *listed])
    write_text_whole(arguments.output, text.getvalue())
    of = f" of {len(kept)}" if arguments.of_each else ""
    report(f"{arguments.output}: {len(listed)} words{of}; {unheard} more are not recognized at their place")
    transcripts = {word.transcript for word in listed}
    if absent := [word for word in wanted or () if word not in transcripts]:
        report(f"not listed, as they are in no transcript or not recognized: {', '.join(absent)}")


def equally_often(words: Sequence[Word], count: int) -> list[Word]:
    """Return each transcript `count` times, in the order of the words.

    The words of a transcript are taken from its speakers in turn, and repeated from the beginning if there are fewer.
    """
    by_transcript: dict[str, dict[str, list[int]]] = {}
    for place, word in enumerate(words):
        by_transcript.setdefault(word.transcript, {}).setdefault(word.speaker, []).append(place)
    chosen: list[int] = []
    for speakers in by_transcript.values():
        in_turn = [place for turn in zip_longest(*speakers.values()) for place in turn if place is not None]
        chosen += islice(cycle(in_turn), count)
    return [words[place] for place in sorted(chosen)]


def times(text: str) -> int:
    """Return how often each word is listed. Raise ArgumentTypeError for a text other than a number of at least 1."""
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)


def rows_in(lists: list[Path]) -> Iterator[Said]:
    """Yield the rows of lists; those that cannot be read are logged. Raise CorpusError."""
    for path in lists:
        for row, columns in rows_of(path):
            if isinstance(row, Row):
                yield Said(row, speaker_of(columns))
            else:
                logger.warning("Left out: %s: %s", row.source, row.detail or row.reason)


def words_in(
    said: Said, model: Model, inspection: Inspection, normalizer: Normalizer | None, wanted: Collection[str] | None
) -> Found:
    """Return the wanted words of a row; a row that cannot be read or spelled is logged and has none.

    A recording is only read if its transcript has a wanted word.
    """
    row = said.row
    transcript = normalizer(row.transcript) if normalizer else row.transcript
    if wanted is not None and set(wanted).isdisjoint(transcript.split()):
        return Found([], 0)
    try:
        part = inspection.part_within(row.path, row.part)
        alignment = align(model, int16_of(read_audio(row.path, model.sampleRate(), part)), transcript)
    except (AudioError, AlphabetError, AlignmentError) as error:
        logger.warning("Left out: %s", row.bad(str(error)))
        return Found([], 0)
    except PartError as error:
        logger.warning("Left out: %s", row.bad(f"{row.path}: {error}"))
        return Found([], 0)
    begin = part.start if part else 0.0
    words = [(word, place) for word, place in parts_of_words(alignment) if wanted is None or word.text in wanted]
    heard = [(word, place) for word, place in words if word.score >= LOWEST_SCORE and is_in_one_place(word)]
    recording = named_for_all(Path(row.path).absolute())
    kept = [
        Word(recording, word.text, f"{begin + place.start:.3f}", f"{place.end - place.start:.3f}", said.speaker)
        for word, place in heard
    ]
    return Found(kept, len(words) - len(heard))


def int16_of(samples: Samples) -> np.ndarray:
    """Return float32 samples in [-1, 1] as int16, as `align` takes them."""
    return np.clip(np.rint(samples * (1 << 15)), -(1 << 15), (1 << 15) - 1).astype(np.int16)
