"""Tuda-De, the German Distant Speech Corpus: train/, dev/ and test/ with 2014-03-17-13-03-33.xml and its recordings.

Each text was recorded by several microphones, such as ..._Kinect-Beam.wav. Only the first of them, in the order of the
alphabet, is used. The transcript is the cleaned sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from ....containers.endings import is_recording
from ....errors import OtherFormatError
from ....files.folders import walk
from ...pipeline.folders import set_of_name
from ...pipeline.records import NO_TRANSCRIPT, Choices, Item, LeftOut, Record

_TEXT, _SPEAKER = "cleaned_sentence", "speaker_id"


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield a recording of each text; raise ImportingError if the folder has none that is laid out so."""
    empty = True
    for name, files in walk(source):
        folder = Path(name)
        by_text: dict[str, str] = {}
        for file in filter(is_recording, files):  # in order, so that the first microphone is met first
            by_text.setdefault(file.rpartition("_")[0], file)
        for text, file in by_text.items():
            if f"{text}.xml" in files:
                item = _item(source, folder / f"{text}.xml", folder / file)
                empty = empty and isinstance(item, LeftOut)
                yield item
            elif any(each.endswith(".xml") for each in files):
                yield LeftOut(str((folder / file).relative_to(source)), NO_TRANSCRIPT, str(folder / file))
    if empty:
        raise OtherFormatError(f"{source} has no *.xml with a {_TEXT} beside recordings, so it isn't Tuda-De")


def _item(source: Path, path: Path, recording: Path) -> Item:
    where = str(path.relative_to(source))
    try:
        root = ElementTree.parse(path).getroot()  # noqa: S314 (expat limits expansions)
    except (ElementTree.ParseError, LookupError, ValueError, OSError) as error:
        return LeftOut(where, "an .xml that cannot be read", str(recording), str(error))
    text = root.findtext(_TEXT)
    if text is None:
        return LeftOut(where, f"no {_TEXT}", str(recording))
    return Record(str(recording), text, where, root.findtext(_SPEAKER, "").strip(), set_of_name(path.parent.name))
