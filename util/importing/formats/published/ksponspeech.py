"""KsponSpeech: train.trn, dev.trn, eval_clean.trn … with lines such as `FOLDER/NAME.pcm :: TEXT`, and the .pcm.

The recordings have no header: they are 16-bit samples, 16,000 a second. They are written as FLAC into the corpus's
folder, unless they have been converted beside the .pcm. Where a text has a spelling and what is said, as in
`(3)/(세)`, the latter is used. Marks of noises and repetitions, such as `n/` and `+`, are left out.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

import numpy as np
import soundfile

from ....containers.endings import is_recording
from ....corpus_files.lookup import Lookup
from ....errors import OtherFormatError
from ....files.folders import files_below, walk
from ...pipeline.folders import set_of_name
from ...pipeline.lines import read_lines
from ...pipeline.records import Choices, Item, LeftOut, Record
from ..lists.parquet import RECORDINGS_FOLDER

_PCM = ".pcm"
_LINE = re.compile(rf"(\S+){re.escape(_PCM)} :: ?(.*)")
_SPELLED_AND_SAID = re.compile(r"\(([^()]*)\)\s*/\s*\(([^()]*)\)")
_MARKS = re.compile(r"\b[a-z]/|[/*+]")
_RATE = 16000


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the lines of all lists; raise ImportingError if there are none."""
    lists = [path for path in files_below(source) if path.suffix == ".trn"]
    lists = [path for path in lists if all(_LINE.fullmatch(line) for _, line in islice(_lines(path), 1))]
    if not lists:
        raise OtherFormatError(f"{source} has no *.trn with lines such as NAME{_PCM} :: TEXT, so it isn't KsponSpeech")
    with Lookup(_recordings(source)) as recordings:
        for path in lists:
            for where, line in _lines(path):
                found = _LINE.fullmatch(line)
                recording = recordings.get(PurePosixPath(found[1]).name) if found else None
                if found is None or recording is None:
                    reason = "no recording of this name in the folder" if found else f"not NAME{_PCM} :: TEXT"
                    yield LeftOut(where, reason, "", found[1] if found else line)
                    continue
                if recording.endswith(_PCM) and choices.out is not None and choices.writes:
                    recording = _with_header(source, Path(recording), choices.out.resolve() / RECORDINGS_FOLDER)
                yield Record(recording, _said(found[2]), where, official_set=set_of_name(path.stem))


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    return ((where, line.strip()) for where, line in read_lines(path))


def _recordings(source: Path) -> Iterator[tuple[str, str]]:
    """Yield the paths of recordings by their names without an ending; those with a header come last, and count."""
    for folder, files in walk(source):
        for file in sorted(files, key=is_recording):
            if file.endswith(_PCM) or is_recording(file):
                yield file.rpartition(".")[0], f"{folder}/{file}"


def _said(text: str) -> str:
    return _MARKS.sub(" ", _SPELLED_AND_SAID.sub(r"\2", text))


def _with_header(source: Path, pcm: Path, folder: Path) -> str:
    """Write a recording as FLAC below a folder, unless it is there, and return its path; raise OSError."""
    flac = (folder / pcm.relative_to(source)).with_suffix(".flac")
    modified = pcm.stat().st_mtime_ns
    if not (flac.exists() and flac.stat().st_mtime_ns == modified):
        flac.parent.mkdir(parents=True, exist_ok=True)
        beside = flac.with_name(f".{flac.name}.part")
        data, encoded = pcm.read_bytes(), io.BytesIO()  # libsndfile does not tell why a file cannot be written
        soundfile.write(encoded, np.frombuffer(data[: len(data) // 2 * 2], "<i2"), _RATE, format="FLAC")
        try:
            beside.write_bytes(encoded.getvalue())
            os.utime(beside, ns=(modified, modified))
            beside.replace(flac)
        finally:
            beside.unlink(missing_ok=True)
    return str(flac)
