"""`python -m deepspeech.evaluate`: the test report of an exported graph, from the graph alone."""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..decoder import CTCDecoder
from ..decoder.evaluation import Evaluation
from ..decoder.of_alphabet import make_decoder
from ..decoder.references import with_references
from ..errors import AudioError, FlagError
from ..options import EvaluationOptions, ReportOptions
from ..options.rows.predecessors import ignored_notice
from ..serving.acoustics.loading import AcousticModel, load_acoustic_model
from ..serving.alphabet import alphabet_of
from ..serving.ctc_loss import ctc_loss
from ..util.audio import read_audio
from ..util.checks.checked_recordings import users_file
from ..util.corpus import Corpus, Utterance, read_corpus
from ..util.features import front_end
from ..util.figures.error_report.folder import check_report_folder
from ..util.figures.output_file import check_output_file
from ..util.figures.report import report_lines, wer_line
from ..util.figures.tally import Tally, counted_files
from ..util.monitoring.log_lines import log_progress
from ..util.parallel import ordered_map, usable_cores
from ..util.progress import Progress
from .arguments import run_command
from .combinations.flags import check_language_model
from .flags import read_command_line
from .storage.addresses import SET_FLAGS, addresses_in

logger = logging.getLogger(__name__)

UTTERANCES_AHEAD = 64
"""Utterances that are transcribed ahead of the one whose result is counted next."""


USAGE = (
    "Test an exported graph on a corpus: "
    "python -m deepspeech.evaluate --model output_graph.pb --test_files test.csv [flags]"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return its exit code, 0, or 1 after an error. The report goes to stderr, as training's does."""
    log_progress(force=True)
    return run_command(lambda: _main(sys.argv[1:] if arguments is None else arguments))


def _main(arguments: Sequence[str]) -> None:
    read = read_command_line(arguments, EvaluationOptions(), USAGE)
    if read is None:
        return
    options = read.options
    for name in read.ignored:
        logger.warning(ignored_notice(name))
    for notice in options.language_model.notices:
        logger.warning(notice)
    required = {"--model": options.model, "--test_files": options.test.files}
    missing = [name for name, value in required.items() if not value]
    if missing:
        raise FlagError(f"the following arguments are required: {', '.join(missing)}; see --help")
    for name, address in addresses_in(options):
        if name not in SET_FLAGS:
            raise FlagError(f"--{name}={address}: must be on this machine; only --test_files takes addresses here")
    check_language_model(options.language_model)
    options.transcripts.check_given(read.given)
    if options.report.test_output_file is not None:
        check_output_file(options.report.test_output_file)
    if options.report.report_dir is not None:
        check_report_folder(options.report.report_dir)
    tally = _evaluate(options)
    for line in report_lines("Test", tally, files=counted_files(options.test.files)):
        logger.info(line)
    if options.report.wer_log_pattern:
        print(wer_line(options.report.wer_log_pattern, "test", tally), flush=True)


def _evaluate(options: EvaluationOptions) -> Tally:
    assert options.model is not None
    normalizer = options.transcripts.normalizer
    model = load_acoustic_model(options.model)
    alphabet = alphabet_of(model.info)
    decoder = make_decoder(alphabet, options.language_model)
    corpus = read_corpus(
        options.test.files,
        alphabet,
        front_end(model.info.features),
        limit=options.test.limit,
        skip_bad_rows=options.bad_rows.skip,
        progress=options.report.show_progressbar,
        remembered=users_file(),
        frames_per_row=model.info.network.time_reduction,
        normalizer=normalizer,
    )
    corpus = with_references(corpus, alphabet, decoder)
    skip = options.bad_rows.skip
    return tested(model, decoder, corpus, options.report, options.test.files, skip_unreadable=skip)


def tested(
    model: AcousticModel,
    decoder: CTCDecoder,
    corpus: Corpus,
    report: ReportOptions,
    csv_files: Sequence[Path],
    *,
    skip_unreadable: bool = False,
) -> Tally:
    """Transcribe a corpus on all cores and count its errors, and those of each of several CSV files.

    With `skip_unreadable`, recordings that cannot be read any more are left out, with a warning for each.
    """
    evaluation = Evaluation.of_test(decoder, csv_files, corpus, report, str(model.info.path))

    def test(utterance: Utterance) -> Tally:
        try:
            signal = read_audio(utterance.path, model.info.features.sample_rate, utterance.part)
        except AudioError as error:
            if not skip_unreadable:
                raise AudioError(f"{error} ({utterance.source})") from error
            logger.warning("Left out: %s (%s)", error, utterance.source)
            return Tally()
        posteriors = model.engine.posteriors(model.features.windows_of(signal))
        return evaluation.tally(utterance, posteriors, ctc_loss(posteriors, np.asarray(utterance.labels)))

    total = Tally()
    bar = report.show_progressbar
    with Progress("Test", len(corpus), bar, unit="utterance", effort=corpus.effort) as progress:
        for tally in ordered_map(test, corpus, threads=usable_cores(), ahead=UTTERANCES_AHEAD):
            total = total.merged(tally, report.count)
            progress.advance()
    evaluation.write(progress=report.show_progressbar)
    return total
