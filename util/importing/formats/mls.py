"""Multilingual LibriSpeech, the folder of a language: train/, dev/ and test/, each with transcripts.txt and audio/.

Lines of transcripts.txt are SPEAKER_BOOK_NUMBER, a tab, and the transcript of audio/SPEAKER/BOOK/SPEAKER_BOOK_NUMBER, a
FLAC, or in the smaller edition an Opus. The book stays in the column `book`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...errors import OtherFormatError
from ..pipeline.folders import find_recording, set_of_name
from ..pipeline.lines import read_lines
from ..pipeline.records import Choices, Item, LeftOut, Record

_TRANSCRIPTS = "transcripts.txt"


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of the sets in a folder, which may also be a set itself; raise ImportingError if it is neither."""
    single = (source / _TRANSCRIPTS).is_file()
    lists = [source / _TRANSCRIPTS] if single else sorted(source.glob(f"*/{_TRANSCRIPTS}"))
    if not lists:
        raise OtherFormatError(
            f"{source} has no train/{_TRANSCRIPTS}, so it isn't a language of Multilingual LibriSpeech"
        )
    for path in lists:
        for where, line in read_lines(path):
            yield _item(path.parent, f"{path.parent.name}/{where}", line)


def _item(folder: Path, where: str, line: str) -> Item:
    name, tab, transcript = line.partition("\t")
    speaker, book, number = (*name.split("_"), "", "")[:3]
    if not tab or not number:
        return LeftOut(where, "not SPEAKER_BOOK_NUMBER, a tab and a transcript", "", line)
    recording = find_recording(str(folder / "audio" / speaker / book / name))
    return Record(recording, transcript, where, speaker, set_of_name(folder.name), columns={"book": book})
