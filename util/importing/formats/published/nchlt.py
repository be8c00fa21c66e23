"""NCHLT, the eleven languages of South Africa: transcriptions/nchlt_zul.trn.xml and .tst.xml, and audio/.

Each speaker of the XML has recordings, with their path and their text. .trn is for training, and .tst is the test set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from ....errors import CorpusError, OtherFormatError
from ....files.folders import files_below
from ...pipeline.records import TEST, TRAIN, Choices, Item, LeftOut, Record

_SETS = {".trn.xml": TRAIN, ".tst.xml": TEST}


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the recordings of all transcriptions; raise ImportingError if there are none, or CorpusError."""
    empty = True
    for path in files_below(source):
        if official_set := next((name for ending, name in _SETS.items() if path.name.endswith(ending)), ""):
            empty = False
            yield from _recordings(path, official_set)
    if empty:
        raise OtherFormatError(f"{source} has no {' or '.join(f'*{ending}' for ending in _SETS)}, so it isn't NCHLT")


def _recordings(path: Path, official_set: str) -> Iterator[Item]:
    speaker = ""
    try:
        for event, element in ElementTree.iterparse(path, ("start", "end")):  # noqa: S314 (expat limits expansions)
            if element.tag == "speaker" and event == "start":
                speaker = element.get("id", "")
            elif element.tag == "recording" and event == "end":
                audio, text = element.get("audio", ""), element.findtext("orth", "")
                where = f"{path.name} {audio}"
                yield (
                    Record(_find(path, audio), text, where, speaker, official_set)
                    if audio
                    else LeftOut(where, "no audio")
                )
                element.clear()
    except (ElementTree.ParseError, LookupError, ValueError, OSError) as error:
        raise CorpusError(f"{path}: cannot be read as XML: {error}") from error


def _find(path: Path, audio: str) -> str:
    """Return a recording, whose path begins with the corpus's own folder or below it."""
    corpus = path.parent.parent
    inside = corpus.joinpath(*Path(audio).parts[1:])
    is_inside = os.path.isfile(inside)  # noqa: PTH113 (a Path raises errors for long names)
    return str(inside if is_inside else corpus.parent / audio)
