"""Manifests of Lhotse: *_recordings_*.jsonl.gz with *_supervisions_*.jsonl.gz, or *_cuts_*.jsonl.gz.

They may also be without .gz. Each supervision is an utterance. Cuts are read only without supervisions in files of
their own; those that are mixed or changed, such as copies of another speed, are left out, as training augments by
itself. Relative recordings are looked for from the manifests' folder, the folders above it, and the current one.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ....corpus_files.json_lines import columns_of, texts_of
from ....corpus_files.lines import numbered_lines
from ....corpus_files.lookup import Lookup
from ....corpus_files.relative_paths import RecipeFolders
from ....corpus_files.speakers import speaker_of
from ....errors import CorpusError, ImportingError
from ....files.folders import files_like
from ...pipeline.folders import named_as_sets, set_of_name, tests_first
from ...pipeline.records import Choices, Item, LeftOut, Record, once

log = logging.getLogger(__name__)

SUPERVISIONS, RECORDINGS, CUTS = "supervisions", "recordings", "cuts"

_ENDINGS = (".jsonl.gz", ".jsonl")
_TOLERANCE = 0.01
"""Seconds by which times may differ that mean the same: Lhotse rounds them to samples or frames."""
_USED = {"id", "recording_id", "channel", "text", "type", "start", "duration"}

_Json = Mapping[str, Any]


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the utterances of all manifests; raise ImportingError if there are none, or CorpusError."""
    supervisions, cuts = _manifests(source, SUPERVISIONS), _manifests(source, CUTS)
    if not supervisions and not cuts:
        raise ImportingError(f"{source} has no *{SUPERVISIONS}*{_ENDINGS[0]} or *{CUTS}*{_ENDINGS[0]} of Lhotse")
    for path in cuts if supervisions else ():
        if not path.with_name(path.name.replace(CUTS, SUPERVISIONS)).exists():
            log.warning("%s: not read, as there are %s; import them apart if they are not its own", path, SUPERVISIONS)
    sets = {path: set_of_name(path.name.partition(".")[0]) for path in supervisions or cuts}
    for manifest in tests_first(named_as_sets(supervisions or cuts), sets):
        reader = _Reader(manifest, sets[manifest])
        yield from reader.of_supervisions() if supervisions else reader.of_cuts()


class _UnusableError(Exception):
    """An utterance that cannot be imported, for a reason, with its details."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


class _Reader:
    """Reads one manifest."""

    def __init__(self, manifest: Path, official_set: str) -> None:
        self._manifest = manifest
        self._set = official_set
        self._folders = RecipeFolders(manifest.parent)

    def of_supervisions(self) -> Iterator[Item]:
        """Yield the utterances of a manifest of supervisions."""
        with Lookup(_texts_by_id(_recordings_of(self._manifest))) as recordings:
            for where, supervision in _objects(self._manifest):
                if isinstance(supervision, LeftOut):
                    yield supervision
                    continue
                recording = recordings.get(f"{supervision.get('recording_id')}")
                yield self._item(where, supervision, json.loads(recording) if recording else None, {})

    def of_cuts(self) -> Iterator[Item]:
        """Yield the utterances of a manifest of cuts; cuts that overlap share some."""
        with Lookup() as cut_of:
            for where, whole in _objects(self._manifest):
                if isinstance(whole, LeftOut):
                    yield whole
                    continue
                cut = _without_padding(whole)
                if cut is None:
                    yield LeftOut(where, "a mix of several cuts", detail=f"{whole.get('id')}")
                    continue
                for supervision in _objects_of(cut.get("supervisions")) or [{}]:
                    item = self._item(where, supervision, cut.get("recording"), cut)
                    yield _once(item, cut_of) if isinstance(item, Record) else item

    def _item(self, where: str, supervision: _Json, recording: _Json | None, cut: _Json) -> Item:
        """Return an utterance; its times count from the start of the `cut`, if that is not empty."""
        path = ""
        try:
            transcript = _transcript_of(supervision)
            if recording is None:
                raise _UnusableError("its recording is in no manifest", f"{supervision.get('recording_id')}")
            file, channel = _file_of(recording, supervision["channel"])
            path = self._folders.find(file)
            start, duration = _times_of(supervision, recording, cut)
        except _UnusableError as error:
            return LeftOut(where, error.reason, path, error.detail)
        except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            return LeftOut(where, "not as Lhotse writes it", path, f"{type(error).__name__}: {error}")
        texts = texts_of(supervision)
        columns = columns_of(texts, _USED)
        return Record(path, transcript, where, speaker_of(texts), self._set, start, duration, columns, channel)


def _once(record: Record, cut_of: Lookup) -> Item:
    """Return the record, or why it is left out: speakers may speak at once, but do not say the same."""
    utterance = f"{record.path}\n{record.start:.3f} {record.channel} {record.speaker}\n{record.transcript}"
    return once(record, record.source, cut_of, "an utterance of another cut, too", utterance)


def _manifests(folder: Path, kind: str) -> Sequence[Path]:
    return [path for path in files_like(folder, f"*{kind}*") if path.name.endswith(_ENDINGS)]


def _recordings_of(supervisions: Path) -> Sequence[Path]:
    """Return the manifest of recordings with the same name as one of supervisions, or else all in the folder."""
    folder = supervisions.parent
    same = folder / supervisions.name.replace(SUPERVISIONS, RECORDINGS)
    found = [same] if same.exists() else _manifests(folder, RECORDINGS)
    if not found:
        raise CorpusError(f"{supervisions}: there is no {same.name} beside it, which has the files of its recordings")
    return found


def _texts_by_id(manifests: Sequence[Path]) -> Iterator[tuple[str, str]]:
    for manifest in manifests:
        for _, recording in _objects(manifest):
            if not isinstance(recording, LeftOut):
                yield f"{recording.get('id')}", json.dumps(recording)


def _objects(manifest: Path) -> Iterator[tuple[str, _Json | LeftOut]]:
    """Yield the place and the object of each line, or why it has none. Raise CorpusError."""
    for number, line in numbered_lines(manifest):
        where = f"{manifest.name}:{number}"
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield where, LeftOut(where, "not JSON", detail=str(error))
        else:
            yield where, value if isinstance(value, dict) else LeftOut(where, "not a JSON object")


def _without_padding(cut: _Json) -> _Json | None:
    """Return the cut that a mixed one only pads, or else a cut that is not mixed; None for other mixes."""
    if "tracks" not in cut:
        return cut
    tracks = [track for track in _objects_of(cut["tracks"]) if track.get("type") != "PaddingCut"]
    return next(iter(_objects_of([track.get("cut") for track in tracks])), None) if len(tracks) == 1 else None


def _objects_of(values: object) -> Sequence[_Json]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _transcript_of(supervision: _Json) -> str:
    """Return the text of a supervision, or the first of its texts, as in Libriheavy; raise _UnusableError."""
    custom = supervision.get("custom")
    texts = custom.get("texts") if isinstance(custom, dict) else None
    text = supervision.get("text", next(iter(texts), None) if isinstance(texts, list) else None)
    if not isinstance(text, str) or not text.strip():
        raise _UnusableError("no text", f"{supervision.get('id', '')}")
    return text


def _file_of(recording: _Json, channel: int | Sequence[int]) -> tuple[str, int | None]:
    """Return the file with these channels of a recording, and which of its channels is meant if it has others, too."""
    if recording.get("transforms"):
        raise _UnusableError("a recording that Lhotse changes", f"{recording['transforms'][0].get('name')}")
    wanted = {channel} if isinstance(channel, int) else {*channel}
    source = next((each for each in recording["sources"] if wanted <= {*each["channels"]}), None)
    if source is None or source["type"] != "file":
        raise _UnusableError("a recording that is no file", f"{recording['id']}")
    file, channels = str(source["source"]), [*source["channels"]]
    if len(channels) == len(wanted):
        return file, None
    if len(wanted) > 1:
        raise _UnusableError("several of a recording's channels, but not all", file)
    return file, channels.index(*wanted)


def _times_of(supervision: _Json, recording: _Json, cut: _Json) -> tuple[float, float | None]:
    """Return the start and the duration in seconds, None to the end, of a supervision in its recording."""
    start, duration = float(supervision["start"]), float(supervision["duration"])
    if not (math.isfinite(start) and math.isfinite(duration)):
        raise _UnusableError("times that are no numbers", f"{start}, {duration}")
    if cut and not (start >= -_TOLERANCE and start + duration <= cut["duration"] + _TOLERANCE):
        raise _UnusableError("a supervision that goes beyond its cut", f"{supervision.get('id', '')}")
    start += cut.get("start", 0.0)
    reaches_end = start + duration >= recording["duration"] - _TOLERANCE
    return (0.0, None) if abs(start) <= _TOLERANCE and reaches_end else (start, None if reaches_end else duration)
