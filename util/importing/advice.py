"""What to do with a folder in which no format finds a transcript."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..containers.endings import is_recording
from ..corpus_files.kaldi import RECORDINGS, TEXT
from ..corpus_files.lines import numbered_lines
from ..errors import CorpusError, ImportingError
from ..files.folders import files_below
from .pipeline.folders import SPREADSHEETS, packed_recordings

_LISTS = (RECORDINGS, "data.list")
"""Names of lists of Kaldi and WeNet, which are known without reading them."""


def packed(source: Path) -> ImportingError | None:
    """Return an error if there are archives, or recordings without a header, in place of recordings."""
    advice = packed_recordings(source)
    return ImportingError(f"{source} has no recordings; {advice}") if advice else None


def unread(source: Path) -> ImportingError | None:
    """Return an error that names what may be the transcripts: a list further below, a spreadsheet, a text, or names."""
    files = list(files_below(source))
    return (
        _deeper_list(source, files)
        or _segments_of_kaldi(source)
        or _spreadsheet(files)
        or _lines_in_order(files)
        or _names(source, files)
    )


def nothing_found(source: Path) -> ImportingError:
    """Return an error that says what is read."""
    return ImportingError(
        f"{source}: no format of docs/importing.md finds a transcript of a recording there; write each beside its "
        "recording, as 1.txt beside 1.wav, or all into a table with the columns file and text; `lhotse prepare` "
        "writes manifests, which are read, of a hundred published corpora; "
        "folders that are named after their words are the format speech_commands"
    )


def _deeper_list(source: Path, files: Sequence[Path]) -> ImportingError | None:
    for path in files:
        if path.parent != source and (path.name in _LISTS or path.name.endswith(".jsonl.gz")):
            return ImportingError(
                f"{source}: has no lists, but there is {path}; name the folder of that list, or "
                "the folder above it if each set has one"
            )
    return None


def _segments_of_kaldi(source: Path) -> ImportingError | None:
    if not all((source / name).is_file() for name in ("segments", TEXT)):
        return None
    command = "for f in $PWD/wav/*.wav; do echo $(basename $f .wav) $f; done > wav.scp"
    return ImportingError(f"{source} has segments and {TEXT} of Kaldi, but no {RECORDINGS}; write it: {command}")


def _spreadsheet(files: Sequence[Path]) -> ImportingError | None:
    path = next((path for path in files if path.name.lower().endswith(SPREADSHEETS)), None)
    return ImportingError(f"{path}: a spreadsheet; save it as CSV, in UTF-8, and import again") if path else None


def _lines_in_order(files: Sequence[Path]) -> ImportingError | None:
    """Return an error if the only text has as many lines as there are recordings beside it, and names none."""
    texts = [path for path in files if path.suffix.lower() == ".txt"]
    recordings = sorted(path.name for path in files if len(texts) == 1 and path.parent == texts[0].parent)
    recordings = [name for name in recordings if is_recording(name)]
    try:
        if not recordings or len(list(numbered_lines(texts[0]))) != len(recordings):
            return None
    except CorpusError as error:
        return ImportingError(str(error))
    ending = recordings[0].rpartition(".")[2]
    return ImportingError(
        f"{texts[0]} has a line for each recording, but does not name them; if both are in order, put the names before "
        f"the lines: ls *.{ending} | paste - {texts[0].name} > list.tsv"
    )


def _names(source: Path, files: Sequence[Path]) -> ImportingError | None:
    """Return an error if no file is beside the recordings, and their names are several words."""
    if not files or not all(is_recording(path.name) and len(path.stem.replace("_", " ").split()) > 1 for path in files):
        return None
    table = 'for f in *.wav; do printf \'%s\\t%s\\n\' "$f" "${f%.wav}"; done > list.tsv'
    return ImportingError(
        f"{source} has no files but recordings; if their names are what is said, such as {files[0].stem}, write them "
        f"into a table there: {table}"
    )
