"""The output of the `deepspeech` command: standard output, or a file for each recording."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..errors import ExportError, FlagError
from ..util.files.whole_files import write_whole
from ..util.progress import report
from .recordings import Recording
from .rendering import SUBTITLES, SUFFIXES


def output_files(options: argparse.Namespace, chosen: Sequence[Recording]) -> list[Path | None]:
    """Return the file for the output of each recording, None for standard output.

    Raise FlagError for subtitles of several recordings on standard output, and for two recordings with one file.
    """
    if options.output_dir is None:
        if len(chosen) > 1 and options.format in SUBTITLES:
            raise FlagError(f"--format={options.format}: subtitles of several recordings need --output_dir")
        return [None] * len(chosen)
    suffix = SUFFIXES[options.format]
    files = [options.output_dir / recording.name.with_suffix(suffix) for recording in chosen]
    taken = Counter(files)
    alike = {file for file in files if taken[file] > 1}
    for number, recording in enumerate(chosen):
        if files[number] in alike:  # some differ only in their extensions, such as a.wav and a.flac
            files[number] = options.output_dir / f"{recording.name}{suffix}"
    first: dict[Path, Recording] = {}
    for file, recording in zip(files, chosen, strict=True):
        if file in first:
            told = f"--output_dir: {first[file]} and {recording} would both be written to {file}"
            raise FlagError(f"{told}; give a folder that holds both, or transcribe them one after the other")
        first[file] = recording
    for file in sorted(alike):
        report(f"deepspeech: recordings that differ only in their extensions keep them in {file.stem}.*{suffix}")
    return files


def write_output(text: str, output: Path | None) -> None:
    """Print a text, or write it to a file, completely or not at all; raise ExportError if that fails."""
    if output is None:
        print(text, flush=True)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        write_whole(output, f"{text.rstrip()}\n".encode())
    except OSError as error:
        raise ExportError(f"--output_dir: {output} cannot be written ({error.strerror})") from error
