"""Align a transcript with its recording: print when each word is said, as CTM, TextGrid, SubRip subtitles or JSON.

    python -m deepspeech.align --model output_graph.pb --audio speech.wav --transcript speech.txt [--format textgrid]

The transcript is a UTF-8 text file, spelled with the model's labels; line breaks and other white space separate words.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import AlignmentError, AlphabetError, ExportError, FlagError
from ..options.export import MODEL_FILE
from ..serving.alignment.formats import FORMATS
from ..serving.alignment.transcript import align
from ..serving.api import Model
from ..util.files.whole_files import write_text_whole
from .arguments import ArgumentParser, check_output_file, output_path, run_command, writing_output


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0, 1 after an error, 130 if interrupted."""
    logging.getLogger("deepspeech").addHandler(logging.NullHandler())
    return run_command(lambda: _main(arguments))


def _main(arguments: Sequence[str] | None) -> None:
    parser = ArgumentParser(__doc__, "python -m deepspeech.align")
    add = parser.add_argument
    add("--model", required=True, type=Path, help=MODEL_FILE)
    add("--audio", required=True, type=Path, help="recording of any format")
    add("--transcript", required=True, type=Path, help="text file of the recording's transcript")
    add("--format", choices=list(FORMATS), default="ctm", help="what to print or write (default: %(default)s)")
    add("--output", type=output_path, help="file to write instead of printing")
    options = parser.parse_args(arguments)
    if options.output is not None:
        read = (options.model, options.audio, options.transcript)
        check_output_file(f"--output={options.output}", options.output, read)
    transcript = _read(options.transcript)
    try:
        alignment = align(Model(options.model), options.audio, transcript)
    except (AlphabetError, AlignmentError) as error:
        raise AlignmentError(f"{options.transcript}: {error}") from error
    _write(FORMATS[options.format](alignment, options.audio.stem), options.output)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        advice = "; give a file of text, not the transcript itself" if missing else ""
        raise FlagError(f"--transcript={path}: cannot be read ({error.strerror}){advice}") from error
    except UnicodeDecodeError as error:
        raise FlagError(f"--transcript={path}: not UTF-8; save the text as UTF-8") from error


def _write(text: str, output: Path | None) -> None:
    if output is None:
        with writing_output():
            sys.stdout.write(text)
            sys.stdout.flush()
        return
    try:
        write_text_whole(output, text)
    except OSError as error:
        raise ExportError(f"--output={output}: cannot be written ({error.strerror})") from error
