"""Two files with a line each for an utterance: its recording or times in one, and its text in the other.

fairseq's train.tsv goes with train.wrd, or else train.ltr; segments or segments.lst (mTEDx, Europarl-ST) and train.yaml
(MuST-C) go with a text of the same name, or of any, whose ending is a language, such as train.es. Of several languages,
that of the speech comes first in the names of folders, as in en-de.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ....corpus_files.lines import numbered_lines, read_text
from ....corpus_files.rows import why_not_times
from ....errors import CorpusError, ImportingError
from ....files.folders import files_below
from ...pipeline.folders import set_of_folders, set_of_name, tests_first
from ...pipeline.records import Choices, Item, LeftOut, Record
from .named_recordings import NamedRecordings, distinct_ends

_LANGUAGE = re.compile(r"\.(?!md|py|sh)[a-z]{2}")
"""The ending of a text in a language, and not of a README.md or a program."""
_SEGMENTS = ("segments", "segments.lst")
_ENDINGS = (".tsv", ".yaml", *_SEGMENTS)
_LINE_OF_YAML = re.compile(r"-\s*\{(.*)\}\s*")
_NO_PLACE = "no recording with two times"
_FIELD_OF_YAML = re.compile(r"(\w+):\s*([^,]+)")


class _Place(NamedTuple):
    """Where an utterance is."""

    recording: str
    start: float = 0.0
    duration: float | None = None
    speaker: str = ""
    wrong: str = ""
    """The place and the content of a line that does not say where an utterance is."""


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the utterances of all pairs of files in a folder and below.

    Raise ImportingError if there are none, or CorpusError if two do not go together.
    """
    paths = [path for path in files_below(source) if path.name.endswith(_ENDINGS)]
    found = {path: pair for path in paths if (pair := _text_and_reader(source, path))}
    if not found:
        raise ImportingError(f"{source} has no *.tsv with *.wrd, and no segments or *.yaml with texts of their lines")
    sets = {path: set_of_name(path.stem) or set_of_folders(path.relative_to(source).parts[:-1]) for path in found}
    with NamedRecordings(source) as recordings:
        for path in tests_first(found, sets):
            yield from _rows(source, path, *found[path], sets[path], recordings)


def _text_and_reader(source: Path, path: Path) -> tuple[Path, Callable[[Path], list[_Place]]] | None:
    """Return the text that goes with a list of places, and the list's reader; None if the file is no such list."""
    files = sorted(each.name for each in path.parent.iterdir())
    if path.suffix == ".tsv":
        text = next((name for name in (f"{path.stem}.wrd", f"{path.stem}.ltr") if name in files), None)
        return (path.with_name(text), _places_of_fairseq) if text else None
    if path.name not in _SEGMENTS and path.suffix != ".yaml":
        return None
    of_languages = [file for file in files if _LANGUAGE.fullmatch(Path(file).suffix)]
    named_alike = [file for file in of_languages if Path(file).stem == path.stem]
    texts = {Path(file).suffix[1:]: file for file in named_alike or of_languages}
    named = [part.partition("-")[0] for part in path.relative_to(source.parent).parts[:-1]]
    language = next((code for code in named if code in texts), next(iter(texts)) if len(texts) == 1 else "")
    reader = _places_of_yaml if path.suffix == ".yaml" else _places_of_segments
    return (path.with_name(texts[language]), reader) if language else None


def _rows(
    source: Path,
    path: Path,
    text: Path,
    read: Callable[[Path], list[_Place]],
    official_set: str,
    recordings: NamedRecordings,
) -> Iterator[Item]:
    places = read(path)
    if places and all(place.wrong for place in places):
        raise ImportingError(f"{path}: {_NO_PLACE}, as in {places[0].wrong}")
    try:
        lines = read_text(text).removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise CorpusError(f"{text}: not UTF-8; save it as UTF-8") from error
    if len(lines) != len(places):
        raise CorpusError(f"{text} has {len(lines)} lines, and {path} {len(places)} utterances; both must be as many")
    names = [place.recording for place in places if not place.wrong]
    ends = distinct_ends(path.parent, lambda: names)
    for number, (place, line) in enumerate(zip(places, lines, strict=True), start=1):
        where = f"{text.relative_to(source)}:{number}"
        recording = recordings.find(path, place.recording, ends)
        if place.wrong:
            yield LeftOut(where, _NO_PLACE, "", place.wrong)
        elif not recording:
            yield LeftOut(where, "no recording of this name in the folder, or several", "", place.recording)
        elif reason := why_not_times(place.start, place.duration):
            yield LeftOut(where, "times that cannot be used", recording, reason)
        else:
            words = line.replace(" ", "").replace("|", " ") if text.suffix == ".ltr" else line
            yield Record(recording, words, where, place.speaker, official_set, place.start, place.duration)


def _places_of_fairseq(path: Path) -> list[_Place]:
    lines = numbered_lines(path)
    _, root = next(lines, (0, ""))
    return [_Place(f"{root.strip()}/{line.split(chr(9))[0]}") for _, line in lines]


def _places_of_segments(path: Path) -> list[_Place]:
    """Read lines such as `[UTTERANCE] RECORDING START END`."""
    places = []
    for number, line in numbered_lines(path):
        try:
            *_, recording, start, end = line.split()
            places.append(_Place(recording, float(start), float(end) - float(start)))
        except ValueError:
            places.append(_Place("", wrong=f"{path.name}:{number}: {line}"))
    return places


def _places_of_yaml(path: Path) -> list[_Place]:
    """Read lines such as `- {duration: 1.5, offset: 0.3, speaker_id: spk.7, wav: a.wav}`."""
    places = []
    for number, line in numbered_lines(path):
        found = _LINE_OF_YAML.fullmatch(line)
        fields = dict(_FIELD_OF_YAML.findall(found[1])) if found else {}
        try:
            times = float(fields["offset"]), float(fields["duration"])
            places.append(_Place(fields["wav"].strip(), *times, fields.get("speaker_id", "").strip()))
        except (KeyError, ValueError):
            places.append(_Place("", wrong=f"{path.name}:{number}: {line}"))
    return places
