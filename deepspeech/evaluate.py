"""`python -m deepspeech.evaluate`: the test report of an exported graph, from the graph alone."""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from .coordinator.jobs import EpochReport, Sample, SetName, Tally
from .decoder import CTCDecoder
from .errors import DeepSpeechError, FlagError, GraphError
from .evaluation import make_decoder
from .options import LanguageModelOptions, ReportOptions
from .reports import log_report
from .serving.ctc_loss import ctc_loss
from .serving.engine import Engine
from .serving.feature_windows import context_windows
from .serving.frozen_model import ModelInfo, read_frozen_model
from .serving.mfcc import Mfcc
from .util.audio import read_audio
from .util.corpus import Corpus, Utterance, read_corpus
from .util.features import front_end
from .util.metrics import evaluate_transcript
from .util.parallel import ordered_map, usable_cores
from .util.progress import Progress
from .util.text import Alphabet

UTTERANCES_AHEAD = 64


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise FlagError(f"{message}; see --help")


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
    language_model = LanguageModelOptions()
    add("--lm_binary_path", type=Path, help="KenLM language model, binary or ARPA")
    add("--lm_trie_path", type=Path, help="trie of the language model's words")
    add("--scorer_path", type=Path, help="DeepSpeech scorer package, in place of lm_binary_path")
    add("--beam_width", type=int, default=language_model.beam_width)
    add("--lm_weight", type=float, default=language_model.lm_weight)
    add("--valid_word_count_weight", type=float, default=language_model.valid_word_count_weight)
    add("--report_count", type=int, default=10, help="wrongly transcribed utterances in the report")
    add("--wer_log_pattern", default="", help="pattern with %%s, %%s and %%f for set, date and word error rate")
    return parser


def _evaluate(options: argparse.Namespace) -> None:
    model = read_frozen_model(options.model)
    alphabet = _alphabet(model.info)
    decoder = make_decoder(
        alphabet,
        LanguageModelOptions(
            binary_path=options.lm_binary_path,
            trie_path=options.lm_trie_path,
            scorer_path=options.scorer_path,
            beam_width=options.beam_width,
            lm_weight=options.lm_weight,
            valid_word_count_weight=options.valid_word_count_weight,
        ),
    )
    corpus = read_corpus(
        [Path(part.strip()) for part in options.test_files.split(",") if part.strip()],
        alphabet,
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
        context = np.zeros((info.features.context, info.features.coefficients), np.float32)
        windows = context_windows(np.concatenate([context, frames, context]), info.features.context)
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


def _alphabet(info: ModelInfo) -> Alphabet:
    labels = [label for label in info.labels if isinstance(label, str)]
    if len(labels) != len(info.labels):
        raise GraphError(f"{info.path}: writes bytes and not characters, which corpora are not tested with yet")
    return Alphabet(tuple(labels))


if __name__ == "__main__":
    sys.exit(main())
