"""CMU AN4, and others of Sphinx: etc/*.fileids, etc/*.transcription, wav/.

A line of a transcription is `<s> YES </s> (an251-fash-b)`. The names of the files give the sets (an4_train, an4_test);
the folder of a recording gives the speaker. Transcripts are converted to lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from ...errors import ImportingError, OtherFormatError
from ...files.folders import files_like
from ..pipeline.folders import find_recording, set_of_name
from ..pipeline.lines import read_lines
from ..pipeline.records import Choices, Item, LeftOut, Record

_LINE = re.compile(r"(.*)\(([^()]*)\)\s*")
_MARK = re.compile(r"</?s>|<sil>|\+\+\w+\+\+|\(\d+\)")  # begin, end, silence, noises, pronunciations


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of each etc/NAME.fileids; raise ImportingError if there is none."""
    lists = files_like(source / "etc", "*.fileids")
    if not lists:
        raise OtherFormatError(f"{source} has no etc/*.fileids, so it isn't laid out as AN4 is")
    for path in lists:
        yield from _read_set(source / "wav", path)


def _read_set(wav: Path, path: Path) -> Iterator[Item]:
    official_set = set_of_name(path.stem)
    transcription = path.with_suffix(".transcription")
    for listed, spoken in zip_longest(read_lines(path), read_lines(transcription)):
        if listed is None or spoken is None:
            raise ImportingError(f"{path} and {transcription} do not have the same number of lines")
        (_, name), (where, line) = listed, spoken
        name = name.strip()
        found = _LINE.fullmatch(line)
        recording = find_recording(str(wav / name))
        if found is None or found[2] != Path(name).name:
            yield LeftOut(where, "a transcript of another recording than its line of fileids", recording, line)
            continue
        transcript = _MARK.sub(" ", found[1]).lower()
        yield Record(recording, transcript, where, Path(name).parent.name, official_set)
