"""Calibrate the confidences of a model's words on a dev set: nine of ten words with confidence 0.9 are then right.

    python -m deepspeech.calibrate --model output_graph.pb --dev_files dev.csv [--scorer kenlm.scorer]

The calibration is written into the graph, which has one without and one with a language model. The report is written
into the model card beside the graph. The report's table and figures are for words that the calibration was not fitted
on: each half of the dev set is tested with the fit on the other half. With --report_only, they are for the graph's
present calibration, and nothing is written.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from ...decoder.references import reference_of
from ...errors import ExportError, FlagError, GraphError
from ...options.rows.values import listed
from ...serving.acoustics.loading import is_loaded_as_graph, model_file
from ...serving.api import Model
from ...serving.confidence.calibration import Calibration, Calibrations, Observation, fitted
from ...serving.confidence.reliability import reliability
from ...serving.confidence.stability import parts
from ...serving.confidence.words import words_and_letters
from ...serving.frozen.constants import with_text
from ...serving.frozen.metadata import CALIBRATIONS_NODE
from ...util.audio import read_audio
from ...util.checks.checked_recordings import users_file
from ...util.corpus import Utterance, read_corpus
from ...util.features import front_end
from ...util.figures.errors.alignment import align
from ...util.files.user_paths import user_path
from ...util.files.whole_files import write_whole
from ...util.files.writable import why_not_writable
from ...util.parallel import ordered_map, usable_cores
from ...util.progress import Progress
from ...util.web.libraries import check_libraries
from ..arguments import ArgumentParser, add_transcript_flags, chosen_normalizer, run_tool
from ..scorer import add_scorer_flags, check_scorer_flags, enable_scorer

CARD_FILE = "model.md"
FEWEST_WORDS = 100
"""The fewest words for a calibration."""
UTTERANCES_AHEAD = 16


@dataclass(frozen=True)
class _Words:
    """The recognized words of an utterance: the observation of each, and whether it is right."""

    observations: list[Observation]
    right: list[bool]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0, 1 after an error, 130 if interrupted."""
    return run_tool(lambda: _main(arguments), "deepspeech")


def _main(arguments: Sequence[str] | None) -> None:
    options = _parser().parse_args(arguments)
    check_scorer_flags(options)
    check_libraries("comparing words with transcripts", ["rapidfuzz"], "train", FlagError)
    options.model = model_file(options.model)
    if not is_loaded_as_graph(options.model):
        raise GraphError(f"{options.model}: calibrations are kept in graphs; give the .pb file of the same checkpoint")
    model = Model(options.model)
    if not options.report_only:  # what cannot be written is refused before the transcription
        _with_calibrations(options.model, b"")
        if wrong := why_not_writable(options.model.resolve().parent):
            raise FlagError(f"--model={options.model}: {wrong}; copy the graph elsewhere, or give --report_only")
    enable_scorer(model, options)
    kind = "acoustic" if options.scorer is None else "language_model"
    utterances = _words_of_corpus(model, options)
    count = sum(len(words.right) for words in utterances)
    if count < FEWEST_WORDS:
        raise FlagError(f"--dev_files: {count} words were recognized, but a calibration needs {FEWEST_WORDS} or more")
    default: Calibration = getattr(Calibrations(), kind)
    if options.report_only:
        print("\n".join(_report([(getattr(model.calibrations, kind), utterances)])))
        return
    if not any(right for words in utterances for right in words.right):
        raise FlagError(
            f"--dev_files: none of the {count} words that were recognized is right; check that the transcripts are "
            "those of the recordings, and spelled as the model spells"
        )
    halves = utterances[::2], utterances[1::2]
    lines = _report([(_fit(other, default), half) for half, other in (halves, halves[::-1])])
    calibrations = replace(model.calibrations, **{kind: _fit(utterances, default)})
    _write(options.model, calibrations.to_json().encode(), kind, lines)
    print("\n".join([*lines, f"{options.model}: the calibration was written into the graph"]))


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(__doc__, "python -m deepspeech.calibrate")
    add = parser.add_argument
    add("--model", required=True, type=Path, help="exported graph, .pb, or its folder, to write the calibration into")
    add("--dev_files", required=True, help="lists of recordings that the model was not trained on, separated by commas")
    add_scorer_flags(parser)
    add("--report_only", action="store_true", help="report how reliable the present confidences are, and write nothing")
    add_transcript_flags(parser)
    return parser


def _words_of_corpus(model: Model, options: argparse.Namespace) -> list[_Words]:
    corpus = read_corpus(
        map(user_path, listed(options.dev_files)),
        model.alphabet,
        front_end(model.features),
        remembered=users_file(),
        normalizer=chosen_normalizer(options),
    )

    def words(utterance: Utterance) -> _Words:
        return _words(model, utterance)

    found = []
    with Progress("Transcribing", len(corpus), unit="utterance", effort=corpus.effort) as progress:
        for each in ordered_map(words, corpus, threads=usable_cores(), ahead=UTTERANCES_AHEAD):
            found.append(each)
            progress.advance()
    return found


def _words(model: Model, utterance: Utterance) -> _Words:
    recognition = model.recognition()
    recognition.feed(read_audio(utterance.path, model.sampleRate(), utterance.part))
    hypothesis, observations = recognition.finish_observed()
    reference = reference_of(utterance.transcript, model.alphabet, recognition.scorer)
    spaced = hypothesis.label_texts.divide_words
    said = [part.strip(" ") for part in parts(reference, spaced=spaced)]
    # A label may be several letters.
    heard = [parts(word.text, spaced=spaced) for word in words_and_letters(hypothesis)]
    steps = align(said, list(chain.from_iterable(heard)))
    right = iter([step.reference == step.hypothesis for step in steps if step.hypothesis is not None])
    return _Words(observations, [all(list(islice(right, len(letters)))) for letters in heard])


def _fit(utterances: Sequence[_Words], default: Calibration) -> Calibration:
    observations = [each for words in utterances for each in words.observations]
    return fitted(observations, [each for words in utterances for each in words.right], default)


def _report(parts: Sequence[tuple[Calibration, Sequence[_Words]]]) -> list[str]:
    confidences, right = [], []
    for calibration, utterances in parts:
        for words in utterances:
            confidences += [calibration.confidence(each) for each in words.observations]
            right += words.right
    return reliability(confidences, right).lines()


def _write(graph: Path, calibrations: bytes, kind: str, lines: Sequence[str]) -> None:
    """Write the graph with its calibrations, and the report into the card beside it, if there is one."""
    data = _with_calibrations(graph, calibrations)
    title = f"Confidence {'with' if kind == 'language_model' else 'without'} a language model"
    card = graph.with_name(CARD_FILE)
    try:
        write_whole(graph, data)
        if card.is_file():
            section = [f"## {title}", "", "```", *lines, "```"]
            text = card.read_text("utf-8", "surrogateescape")  # it may have been edited in another encoding
            write_whole(card, _with_section(text, section).encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise ExportError(f"--model={graph}: cannot be written ({error.strerror})") from error


def _with_calibrations(graph: Path, calibrations: bytes) -> bytes:
    """Return the content of a graph's file with other calibrations; raise GraphError if it cannot hold any."""
    try:
        return with_text(graph.read_bytes(), CALIBRATIONS_NODE, calibrations)
    except GraphError as error:
        raise GraphError(f"{graph}: {error}") from None


def _with_section(card: str, section: Sequence[str]) -> str:
    """Return a card with a section at its end, in place of an earlier one with the same title, its first line."""
    before, found, after = f"{card.rstrip()}\n".partition(f"{section[0]}\n")
    rest = after[after.find("\n## ") + 1 :] if found and "\n## " in after else ""
    return "\n".join([*filter(None, (before.rstrip(), rest.rstrip() and f"\n{rest.rstrip()}")), "", *section, ""])
