"""Make train.csv, dev.csv and test.csv of the recordings in a folder.

    python -m deepspeech.import_corpus FORMAT --from FOLDER --to FOLDER [--split 90:5:5] [--seed 1]

Every recording is decoded once, to its end, and long ones are cut at their segments; what cannot be used is listed in
left_out.csv, with the reason. Run again, it does only what is missing.

In place of --from, --url and --sha256 name an archive to download and unpack below the folder of --to; both may be
repeated. A download that was interrupted is taken up where it ended.

Sets are those of the corpus itself where it has any; one that it lacks is taken from train. Else, and with --split,
the shares of train, dev and test are divided by speaker, or by the recordings' names where no speaker is known.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ...errors import FlagError
from ...util.importing import MODULES, descriptions, import_corpus
from ...util.importing.pipeline.records import Choices
from ...util.importing.unpacked_archives import fetch_archives
from ...util.progress import report
from ..arguments import ArgumentParser, run_command

PROGRAM = "import_corpus: error"

DOWNLOADS = "download"
"""The folder below that of --to that archives are unpacked in."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Import and return the exit code."""
    return run_command(lambda: _import(arguments), PROGRAM)


def _import(arguments: Sequence[str] | None) -> None:
    width = max(map(len, MODULES))
    formats = "\n".join(f"  {name:{width}}  {description}" for name, description in sorted(descriptions().items()))
    parser = ArgumentParser(f"{__doc__}\nFORMAT is one of\n\n{formats}")
    parser.add_argument("format", metavar="FORMAT", help="the format of the folder, or the name of its corpus")
    parser.add_argument("--from", dest="source", type=Path, metavar="FOLDER", help="where the recordings are")
    parser.add_argument("--url", action="append", default=[], help="an archive with the recordings, in place of --from")
    parser.add_argument("--sha256", action="append", default=[], help="its SHA-256")
    parser.add_argument("--to", dest="out", type=Path, metavar="FOLDER", required=True, help="where the CSVs go")
    parser.add_argument("--split", type=_shares, metavar="TRAIN:DEV:TEST", help="shares of the sets, such as 90:5:5")
    parser.add_argument("--seed", type=int, default=1, help="of the division into sets (default: %(default)s)")
    parser.add_argument(
        "--tier", action="append", default=[], metavar="NAME", help="a tier of TextGrid or ELAN files; may be repeated"
    )
    options = parser.parse_args(arguments)
    choices = Choices(options.split, options.seed, tuple(options.tier))
    if options.source and options.url:
        raise FlagError("--url: cannot be combined with --from")
    if len(options.url) != len(options.sha256):
        raise FlagError("--sha256: give the SHA-256 of each --url")
    source = options.source
    if options.url:
        source = fetch_archives(zip(options.url, options.sha256, strict=True), options.out / DOWNLOADS, report)
    import_corpus(options.format, options.out, source, report, choices)


def _shares(text: str) -> tuple[float, float, float]:
    try:
        train, dev, test = (float(share) for share in text.split(":"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not three numbers, such as 90:5:5") from None
    if not (min(train, dev, test) >= 0 and 0 < train + dev + test < float("inf")):
        raise argparse.ArgumentTypeError(f"{text!r}: shares are numbers of 0 or more, and not all 0")
    return train, dev, test
