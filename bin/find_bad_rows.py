#!/usr/bin/env python3
"""List the rows of a corpus whose transcript may be wrong according to a trained model, worst first.

    find_bad_rows.py MODEL CSV... [--worst 5%] [--output bad_rows.csv] [--report report.html]

MODEL is an exported graph. It may have been trained on the same rows, if it has not learned them by heart. Rows are
ranked by their loss per label, by the edits between their transcript and the model's, and by the longest stretch
without a label; see docs/alignment.md. The report contains the recordings to listen to. Correct the rows, or leave them
out of training with --exclude_files=bad_rows.csv. --normalize_transcripts is for a model that was trained with it.
"""

from argparse import ArgumentTypeError
from pathlib import Path

from deepspeech.cli.arguments import (
    ArgumentParser,
    add_transcript_flags,
    check_list_of_rows,
    chosen_normalizer,
    list_path,
    output_path,
    run_script,
)
from deepspeech.decoder import CTCDecoder, DecoderOptions
from deepspeech.decoder.references import with_references
from deepspeech.errors import FlagError
from deepspeech.options.export import MODEL_FILE
from deepspeech.serving.acoustics.loading import load_acoustic_model
from deepspeech.serving.alignment.rows import figures_of_rows
from deepspeech.serving.alphabet import alphabet_of
from deepspeech.util.checks.bad_rows.listing import write_list
from deepspeech.util.checks.bad_rows.page import write_page
from deepspeech.util.checks.bad_rows.ranking import RankedRow, worst_first
from deepspeech.util.checks.checked_recordings import users_file
from deepspeech.util.corpus import read_corpus
from deepspeech.util.features import front_end
from deepspeech.util.progress import Progress, report
from deepspeech.util.transcripts import Normalizer
from deepspeech.util.web.libraries import check_libraries

BEAM_WIDTH = 100
"""A beam width that is enough without a language model."""


def main() -> None:
    """Read the arguments, find the rows and write them."""
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    add("model", type=Path, metavar="MODEL", help=MODEL_FILE)
    add("csv", type=list_path, nargs="+", metavar="CSV", help="corpus to check")
    add("--worst", type=share_or_count, default="5%", help="rows to list, a share or a number (default: %(default)s)")
    add("--output", type=output_path, default=Path("bad_rows.csv"), help="the list (default: %(default)s)")
    add("--report", type=output_path, help="page of HTML with the first 200 of them, and their recordings")
    add_transcript_flags(parser)
    arguments = parser.parse_args()
    normalizer = chosen_normalizer(arguments)
    for path in filter(None, (arguments.output, arguments.report)):
        check_list_of_rows(path, (arguments.model, *arguments.csv))
    if arguments.report and arguments.report.resolve() == arguments.output.resolve():
        raise FlagError(f"--report={arguments.report}: is the file of --output; name another one")
    check_libraries("counting the errors of rows", ["rapidfuzz"], "train", FlagError)
    ranked = ranked_rows(arguments.model, arguments.csv, normalizer)
    worst = ranked[: max(1, round(arguments.worst * len(ranked) if arguments.worst < 1 else arguments.worst))]
    write_list(worst, arguments.output)
    if arguments.report:
        write_page(worst, len(ranked), arguments.report)
    report(f"{arguments.output}: the {len(worst)} worst of {len(ranked)} rows")


def ranked_rows(model_file: Path, csv_files: list[Path], normalizer: Normalizer | None) -> list[RankedRow]:
    """Return the rows of a corpus, worst first; unusable rows are logged."""
    model = load_acoustic_model(model_file)
    alphabet = alphabet_of(model.info)
    corpus = read_corpus(
        csv_files,
        alphabet,
        front_end(model.info.features),
        skip_bad_rows=True,
        remembered=users_file(),
        normalizer=normalizer,
        frames_per_row=model.info.network.time_reduction,
    )
    decoder = CTCDecoder(model.info.labels, DecoderOptions(beam_width=BEAM_WIDTH))
    corpus = with_references(corpus, alphabet, decoder)
    rows = []
    with Progress("Finding bad rows", len(corpus), unit="utterance", effort=corpus.effort) as progress:
        for figures in figures_of_rows(model, decoder, corpus):
            rows += [figures] if figures is not None else []
            progress.advance()
    return worst_first(rows)


def share_or_count(text: str) -> float:
    """Parse a share, such as "5%", which is 0.05, or a number of at least 1. Raise ArgumentTypeError otherwise."""
    number, sign, rest = text.partition("%")
    try:
        value = float(number) / 100 if sign else int(number)
    except ValueError:
        value = 0
    if rest or not (0 < value < 1 if sign else value >= 1):
        raise ArgumentTypeError(f"{text!r} is neither a share, such as 5%, nor a number of rows")
    return value


if __name__ == "__main__":
    run_script(main)
