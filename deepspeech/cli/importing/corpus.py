"""Make train.csv, dev.csv and test.csv from the recordings in a folder.

    python -m deepspeech.import_corpus [FORMAT] --from FOLDER --to FOLDER [--split 90:5:5] [--seed 1]

The FORMAT auto, which is the default, finds out which of the formats of several corpora the folder has.

Every recording is decoded once, to its end, and long recordings are cut at their segments. left_out.csv lists what
cannot be used, with the reason. When the command is run again, it does only what is missing.

--from may be an archive (.tar.gz, .tgz, .tar.bz2, .tar.xz, .tar or .zip), which is unpacked below the folder of --to,
or an address, such as s3://bucket/corpus or hf://datasets/NAMESPACE/NAME. The files below an address are fetched into
the folder of --to, and again only if they change.

Instead of --from, --download fetches the published archives of a corpus, or the parts that --part names, and unpacks
them below the folder of --to; --url and --sha256 name your own archives, and may be repeated. An interrupted download
is resumed.

If the corpus has its own sets, they are used, and a missing set is taken from train. Otherwise, and with --split, the
recordings are divided into train, dev and test by speaker, or by their names if the speakers are unknown. If the paths
of recordings name the speakers, --speakers says how: {speaker}/* stands for anna/001.wav, and {speaker}_* for
anna_001.wav.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ...errors import FlagError
from ...util.importing import (
    DOWNLOADS,
    MODULES,
    check_known,
    descriptions,
    format_of,
    import_corpus,
    is_format,
    is_imported,
    unpacked_source,
)
from ...util.importing.download import RemoteFile
from ...util.importing.pipeline.records import Choices, read_split
from ...util.importing.pipeline.speakers import SPEAKER, check_speaker_pattern
from ...util.importing.published import PUBLISHED
from ...util.importing.stored import fetch_folder
from ...util.importing.unpacked_archives import fetch_archives
from ...util.progress import report
from ...util.storage.addresses import address_of
from ..arguments import ArgumentParser, list_path, output_path, run_tool
from ..recordings import LISTS

PROGRAM = "import_corpus: error"

_T = TypeVar("_T")

FETCHED = "fetched"
"""The subfolder of the corpus's folder for the files of an address."""

AUTO = "auto"
"""Stands for the format of the folder."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Import and return the exit code."""
    return run_tool(lambda: _import(_parser().parse_args(arguments)), PROGRAM)


def run_importer(corpus: str, description: str | None) -> None:
    """Read the command line of a script that imports one published corpus, and import it."""
    parser = ArgumentParser(description)
    parser.add_argument("out", type=output_path, help="the folder for train.csv, dev.csv and test.csv")
    parser.add_argument("--from", dest="source", type=Path, metavar="FOLDER", help="use recordings that are on disk")
    (archive,) = PUBLISHED[corpus].archives.values()
    parser.add_argument("--url", default=archive.url, help="address of the download (default: %(default)s)")
    parser.add_argument("--sha256", default=archive.sha256, help="SHA-256 of the download (default: %(default)s)")
    options = parser.parse_args()
    source = options.source
    if source is None and is_imported(options.out):
        return
    if source is None:
        source = fetch_archives([RemoteFile(options.url, options.sha256)], options.out / DOWNLOADS, report)
    import_corpus(corpus, options.out, source, report)


def _import(options: argparse.Namespace) -> None:
    _check(options)
    name, source = options.format, _source(options)
    parts = tuple(options.part)
    download = options.download or bool(parts and source is None)
    choices = Choices(
        options.split, options.seed, options.speakers, tuple(options.tier), parts, download, out=options.out
    )
    if name == AUTO:
        if source is None:
            raise FlagError(f"{AUTO}: needs --from, the folder of the recordings")
        source = unpacked_source(source, options.out, report)
        if not source.is_dir():
            what = "not a folder" if source.exists() else "there is no such folder"
            lists = "; lists of utterances are the format lists" if source.suffix.lower() in LISTS else ""
            raise FlagError(f"--from={source}: {what}; name the folder of the recordings, or their archive{lists}")
        name = format_of(source, choices)
        report(f"{source} has the format {name}")
    if not import_corpus(name, options.out, source, report, choices):
        report(f"{options.out} holds an imported corpus, which stays as it is; --from imports its recordings again")


def _check(options: argparse.Namespace) -> None:
    if options.source and options.url:
        raise FlagError("--url: cannot be combined with --from")
    if options.download and (options.source or options.url):
        raise FlagError(f"--download: cannot be combined with {'--from' if options.source else '--url'}")
    if options.download and options.format != AUTO and not is_format(options.format):
        raise FlagError(f"--download: {options.format} has no published archives; leave it out")
    if len(options.url) != len(options.sha256):
        raise FlagError("--sha256: give the SHA-256 of each --url")


def _source(options: argparse.Namespace) -> Path | None:
    """Return the folder of the recordings, which is fetched if it is at an address; None if a format downloads it."""
    if options.url:
        archives = map(RemoteFile, options.url, options.sha256)
        return fetch_archives(archives, options.out / DOWNLOADS, report)
    source: Path | None = options.source
    if source is not None and (address := address_of(source)) is not None:
        return fetch_folder(address, options.out / FETCHED)
    return source


def _parser() -> ArgumentParser:
    width = max(map(len, MODULES))
    formats = "\n".join(f"  {name:{width}}  {description}" for name, description in sorted(descriptions().items()))
    parser = ArgumentParser(f"{__doc__ or ''}\nFORMAT is one of\n\n{formats}", "python -m deepspeech.import_corpus")
    parser.add_argument(
        "format",
        nargs="?",
        type=_format,
        default=AUTO,
        metavar="FORMAT",
        help="the format of the folder, or the name of its corpus (default: %(default)s)",
    )
    parser.add_argument(
        "--from",
        dest="source",
        type=list_path,
        metavar="FOLDER",
        help="folder of the recordings, an archive of it, or its address",
    )
    parser.add_argument("--download", action="store_true", help="download the published archives, instead of --from")
    parser.add_argument(
        "--part", action="append", default=[], metavar="NAME", help="a part, such as train-clean-100; may be repeated"
    )
    parser.add_argument("--url", action="append", default=[], help="an archive with the recordings, instead of --from")
    parser.add_argument("--sha256", action="append", default=[], help="SHA-256 of the archive")
    parser.add_argument(
        "--to", dest="out", type=output_path, metavar="FOLDER", required=True, help="folder of the CSVs"
    )
    parser.add_argument(
        "--split",
        type=_shares,
        metavar="TRAIN:DEV:TEST",
        help="shares of the sets, such as 80:10:10 (default: the corpus's own sets, or 90:5:5 if it has none)",
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the division into sets (default: %(default)s)")
    parser.add_argument(
        "--speakers",
        type=_speaker_pattern,
        default="",
        metavar="PATTERN",
        help=f"how the paths of recordings that name their speakers end, such as {SPEAKER}/* or {SPEAKER}_*",
    )
    parser.add_argument(
        "--tier",
        action="append",
        default=[],
        metavar="NAME",
        help=f"a tier of TextGrid or ELAN files, or all with names such as tx@{SPEAKER}; may be repeated",
    )
    return parser


def _format(text: str) -> str:
    if text not in (AUTO, *MODULES) and Path(text).exists():
        raise argparse.ArgumentTypeError(f"{text} is no format; name the folder of the recordings with --from {text}")
    if text != AUTO:
        check_known(text)
    return text


def _shares(text: str) -> tuple[float, float, float]:
    return _parsed(read_split, text)


def _speaker_pattern(text: str) -> str:
    return _parsed(check_speaker_pattern, text)


def _parsed(parse: Callable[[str], _T], text: str) -> _T:
    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
