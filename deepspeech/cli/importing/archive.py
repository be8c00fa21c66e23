"""The command line of importers whose recordings are in an archive on the web."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ...util.importing.archive import Archive
from ...util.progress import Report, report
from ..arguments import ArgumentParser, output_path

Importer = Callable[[Path, Path | None, Report, Archive], None]


def run_importer(description: str | None, importer: Importer, archive: Archive) -> None:
    """Read the command line and import; `archive` is downloaded unless the command line names another one."""
    parser = ArgumentParser(description)
    parser.add_argument("out", type=output_path, help="the folder for train.csv, dev.csv and test.csv")
    parser.add_argument("--from", dest="source", type=Path, metavar="FOLDER", help="use recordings that are on disk")
    parser.add_argument("--url", default=archive.url, help="address of the download (default: %(default)s)")
    parser.add_argument("--sha256", default=archive.sha256, help="SHA-256 of the download (default: %(default)s)")
    arguments = parser.parse_args()
    archive = replace(archive, url=arguments.url, sha256=arguments.sha256)
    importer(arguments.out, arguments.source, report, archive)
