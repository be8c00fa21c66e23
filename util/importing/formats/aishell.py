"""AISHELL-1: wav/SET/SPEAKER/*.wav and transcript/aishell_transcript_v0.8.txt, or AISHELL-3: SET/content.txt.

The sample of AISHELL-1 has transcript.txt. The spaces between Chinese words, which are not spoken, are left out, and so
are the syllables in Latin letters after each character of AISHELL-3, whose recordings are SET/wav/SPEAKER/*.wav.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ...containers.endings import is_recording
from ...corpus_files.lookup import Lookup
from ...errors import ImportingError, OtherFormatError
from ...files.folders import files_below, files_like
from ...transcripts import has_unspaced
from ..pipeline.folders import set_of_name
from ..pipeline.lines import read_lines
from ..pipeline.records import Choices, Item, LeftOut, Record

_CONTENT = "content.txt"
_LINE_OF_CONTENT = re.compile(r"SSB\d{8}\.wav\t\S+ [a-z]+\d\b")
_SPEAKER = len("SSB0005")


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the recordings below wav/ with a transcript; raise ImportingError if the folder has another layout."""
    if contents := [path for path in sorted(source.glob(f"*/{_CONTENT}")) if _has_syllables(path)]:
        for path in contents:
            yield from _read_content(path)
        return
    found = [*files_like(source, "transcript/*.txt"), *files_like(source, "transcript*.txt")]
    if not found or not (source / "wav").is_dir():
        raise OtherFormatError(f"{source} has no wav/ with transcript/*.txt or transcript.txt, so it isn't AISHELL-1")
    if not has_unspaced(next(read_lines(found[0]), ("", ""))[1]):  # joined, the words of others would become one
        raise OtherFormatError(f"{found[0]} does not begin with Chinese characters, so it isn't AISHELL-1")
    lines = (line.partition(" ")[::2] for path in found for _, line in read_lines(path))
    empty = True
    with (
        Lookup(((name, "".join(text.split())) for name, text in lines), repeated="") as transcripts,
        Lookup(((path.stem, str(path)) for path in _recordings(source)), repeated="") as paths,
    ):
        for path in _recordings(source):
            empty = False
            yield _record(source, path, transcripts, paths)
    if empty:
        raise ImportingError(f"{source / 'wav'} has no recordings; unpack the archives in it first")


def _recordings(source: Path) -> Iterator[Path]:
    return (path for path in files_below(source / "wav") if is_recording(path.name))


def _has_syllables(path: Path) -> bool:
    _, line = next(read_lines(path), ("", ""))
    return _LINE_OF_CONTENT.match(line) is not None


def _read_content(path: Path) -> Iterator[Item]:
    for where, line in read_lines(path):
        name, _, text = line.partition("\t")
        speaker = name[:_SPEAKER]
        recording = path.parent / "wav" / speaker / name
        place = f"{path.parent.name}/{where}"
        yield Record(str(recording), "".join(text.split()[::2]), place, speaker, set_of_name(path.parent.name))


def _record(source: Path, path: Path, transcripts: Lookup, paths: Lookup) -> Item:
    where = str(path.relative_to(source))
    transcript = transcripts.get(path.stem)
    if transcript is None:
        return LeftOut(where, "no transcript", str(path))
    if not (transcript and paths.get(path.stem)):
        return LeftOut(where, "several recordings or transcripts of this name", str(path))
    return Record(str(path), transcript, where, path.parent.name, set_of_name(path.parent.parent.name))
