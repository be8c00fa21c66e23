"""VoxForge: SPEAKER-DATE-ID/etc/PROMPTS and wav/, as the archives are unpacked.

A line of PROMPTS is a path, whose last part is the recording's name, and the transcript. Each submission of `anonymous`
counts as a speaker. A transcript in upper case is converted to lower case.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...errors import CorpusError, OtherFormatError
from ...files.folders import files_below
from ..pipeline.folders import find_recording
from ..pipeline.lines import read_lines
from ..pipeline.records import Choices, Item, LeftOut, Record


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of each PROMPTS; raise ImportingError if there is none."""
    empty = True
    for path in files_below(source):
        if path.parent.name == "etc" and path.name.upper() == "PROMPTS":
            empty = False
            yield from _read_submission(source, path)
    if empty:
        raise OtherFormatError(f"{source} has no etc/PROMPTS in its folders, so it isn't laid out as VoxForge is")


def _read_submission(source: Path, path: Path) -> Iterator[Item]:
    submission = path.parent.parent
    speaker = submission.name.partition("-")[0]
    if speaker.lower() == "anonymous":
        speaker = submission.name
    folder = next((submission / name for name in ("wav", "flac") if (submission / name).is_dir()), submission / "wav")
    try:
        for where, line in read_lines(path):
            name, transcript = (*line.split(maxsplit=1), "")[:2]
            recording = find_recording(str(folder / name.rpartition("/")[2]))
            transcript = transcript.lower() if transcript.isupper() else transcript
            yield Record(recording, transcript, f"{submission.name}/{where}", speaker)
    except CorpusError as error:  # one of thousands of files is not UTF-8
        yield LeftOut(str(path.relative_to(source)), "its prompts cannot be read", "", str(error))
