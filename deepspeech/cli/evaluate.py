"""`python -m deepspeech.evaluate`: the test report of an exported graph, from the graph alone."""

import argparse
import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from ..decoder import CTCDecoder
from ..errors import AlphabetError, DeepSpeechError, FlagError, GraphError
from ..options import ReportOptions
from ..schedule.jobs import EpochReport, Sample, SetName, Tally
from ..serving.ctc_loss import ctc_loss
from ..serving.engine import Engine
from ..serving.feature_windows import context_windows
from ..serving.frozen.model import ModelInfo, read_frozen_model
from ..training.reports import log_report
from ..training.scoring import decoder_of_labels
from ..util.audio import read_audio
from ..util.corpus import Corpus, Utterance, read_corpus
from ..util.features import front_end
from ..util.front_ends.mfcc import Mfcc
from ..util.metrics import evaluate_transcript
from ..util.parallel import ordered_map, usable_cores
from ..util.progress import Progress
from ..util.text import Alphabet
from .language_model_flags import LANGUAGE_MODEL_FLAGS, WEIGHT_FLAGS, check_language_model, language_model_options

UTTERANCES_AHEAD = 64


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise FlagError(f"{message}; see --help")


class _Given(argparse.Action):
    """Stores a value, and in `given` that there was one."""

    def __call__(self, _parser: object, options: argparse.Namespace, value: object, _option: str | None = None) -> None:
        setattr(options, self.dest, value)
        options.given |= {self.dest}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code, 1 after an error. The report goes to stderr, as training's does."""
    logging.basicConfig(format="%(levelname).1s %(message)s", level=logging.INFO, stream=sys.stderr, force=True)
    try:
        options = _parser().parse_args(arguments)
        _evaluate(options)
    except DeepSpeechError as error:
        print(f"deepspeech: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("deepspeech: interrupted", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m deepspeech.evaluate", description="Test an exported graph on a corpus.")
    add = parser.add_argument
    add("--model", required=True, type=Path, help="exported graph, .pb or .pbmm")
    add("--test_files", required=True, help="CSV files to test on, separated by commas")
    add("--limit_test", type=int, default=0, help="use only so many of the shortest utterances; 0: all")
    add("--skip_bad_rows", action="store_true", help="leave out rows that cannot be used, instead of stopping")
    for name, default, text in LANGUAGE_MODEL_FLAGS:
        add(f"--{name}", type=type(default), default=default, action=_Given, help=text)
    parser.set_defaults(given=frozenset())
    add("--report_count", type=int, default=10, help="wrongly transcribed utterances in the report")
    add("--wer_log_pattern", default="", help="pattern with %%s, %%s and %%f for set, date and word error rate")
    return parser


def _evaluate(options: argparse.Namespace) -> None:
    check_language_model(options)
    model = read_frozen_model(options.model)
    language_model = language_model_options(options, weights_chosen=not options.given.isdisjoint(WEIGHT_FLAGS))
    decoder = decoder_of_labels(model.info.labels, language_model)
    corpus = read_corpus(
        [Path(part.strip()) for part in options.test_files.split(",") if part.strip()],
        _alphabet(model.info),
        front_end(model.info.features),
        limit=options.limit_test,
        skip_bad_rows=options.skip_bad_rows,
    )
    tally = tested(Engine(model), model.info, decoder, corpus, options.report_count)
    report = EpochReport(epoch=0, set_name=SetName.TEST, decoded=True, tally=tally)
    log_report(report, ReportOptions(options.report_count, options.wer_log_pattern))


def tested(engine: Engine, info: ModelInfo, decoder: CTCDecoder, corpus: Corpus, report_count: int) -> Tally:
    """Transcribe a corpus on all cores and count its errors."""
    mfcc = Mfcc(info.features)

    def test(utterance: Utterance) -> Tally:
        frames = mfcc(read_audio(utterance.path, info.features.sample_rate))
        padding = np.zeros((info.network.context, info.features.coefficients), np.float32)
        windows = context_windows(np.concatenate([padding, frames, padding]), info.network.context)
        posteriors, _ = engine.run(windows, engine.initial_state())
        hypothesis = decoder.decode(posteriors)[0].text
        loss = ctc_loss(posteriors, np.asarray(utterance.labels))
        edits = evaluate_transcript(utterance.transcript, hypothesis)
        wrong = Sample(str(utterance.path), utterance.transcript, hypothesis, loss, edits)
        return Tally(1, loss, edits, (wrong,) if edits.character_edits else ())

    total = Tally()
    with Progress("Test", len(corpus)) as progress:
        for tally in ordered_map(test, corpus, threads=usable_cores(), ahead=UTTERANCES_AHEAD):
            total = total.merged(tally, report_count)
            progress.advance()
    return total


@dataclass(frozen=True)
class ByteAlphabet(Alphabet):
    """The labels of a model that writes UTF-8 bytes; each byte is written as the character of the same number."""

    def encode(self, text: str) -> npt.NDArray[np.int32]:
        """Return the labels of a text, int32 [bytes]; raises AlphabetError naming each byte it lacks."""
        return super().encode(text.encode().decode("latin-1"))


def _alphabet(info: ModelInfo) -> Alphabet:
    texts = [label if isinstance(label, str) else label.decode("latin-1") for label in info.labels]
    of_bytes = any(isinstance(label, bytes) for label in info.labels)
    try:
        return ByteAlphabet(tuple(texts)) if of_bytes else Alphabet(tuple(texts))
    except AlphabetError as error:
        raise GraphError(f"{info.path}: {error}") from error
