"""Rows with several utterances, or those of Label Studio, doccano or Prodigy, as rows with audio, text, start and end.

SLURP has all recordings of a sentence in a row, and the People's Speech those of a document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

from ..containers.endings import is_recording

_TEXTS = ("transcription", "transcript", "text", "sentence")
_LOCAL_FILE = "?d="
"""Comes before the path in an address of a file that Label Studio serves."""
_REJECTED = ("reject", "ignore")


def utterances_of(row: Any) -> Iterator[Any]:
    """Yield the utterances of a row, which may have several; a row of another program is yielded unchanged.

    A row without a transcript has none in what is yielded, too.
    """
    if not isinstance(row, dict):
        yield row
    elif isinstance(row.get("data"), dict) and isinstance(row.get("annotations"), list):
        yield from _of_tasks(row)
    elif "annotation_id" in row and "annotator" in row:
        yield from _of_columns(row)
    elif isinstance(row.get("filename"), str) and isinstance(row.get("label"), list) and not {*_TEXTS} & {*row}:
        yield {**row, "audio": row["filename"], "text": _joined(row["label"])}  # doccano
    elif "_input_hash" in row and "audio" in row:
        audio = row["audio"] if not str(row["audio"]).startswith("data:") else row.get("path")
        text = None if row.get("answer") in _REJECTED else row.get("transcript")
        yield {"audio": audio, "text": text}
    elif said := _of_sentence(row) or _of_document(row):
        yield from said
    else:
        yield row


def _of_sentence(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the utterances of a sentence of SLURP; none if the row is anything else."""
    recordings = row.get("recordings") if "sentence" in row else None
    found = recordings if isinstance(recordings, list) else []
    return [{**row, "audio": each.get("file")} for each in found if isinstance(each, dict)]


def _of_document(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the utterances of a document of the People's Speech; none if the row is anything else."""
    data = row.get("training_data")
    names, texts = (data.get("name"), data.get("label")) if isinstance(data, dict) else (None, None)
    if not (isinstance(names, list) and isinstance(texts, list) and len(names) == len(texts)):
        return []
    return [{**row, "audio": name, "text": text} for name, text in zip(names, texts, strict=True)]


def _of_tasks(task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the regions of a task of Label Studio, of the last annotation that was not cancelled."""
    audio = next((value for value in task["data"].values() if isinstance(value, str) and is_recording(value)), None)
    kept = [each for each in task["annotations"] if isinstance(each, dict) and not each.get("was_cancelled")]
    regions: dict[str, dict[str, Any]] = {}
    results = kept[-1].get("result") if kept else None
    for number, result in enumerate(results if isinstance(results, list) else []):
        value = result.get("value") if isinstance(result, dict) else None
        if isinstance(value, dict):
            region = regions.setdefault(str(result.get("id", number)), {"audio": _path(audio)})
            region.update({name: value[name] for name in ("start", "end") if name in value})
            if isinstance(value.get("text"), list):
                region["text"] = _joined(value["text"])
            if isinstance(value.get("labels"), list) and _joined(value["labels"]).lower().startswith("speaker"):
                region["speaker"] = f"{PurePath(str(audio)).stem}-{_joined(value['labels'])}"
    said = [region for region in regions.values() if "text" in region]
    yield from said or [{"audio": _path(audio)}]


def _of_columns(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the regions of a row of Label Studio's JSON-MIN, whose times and texts are in two lists."""
    audio = _path(next((value for value in row.values() if isinstance(value, str) and is_recording(value)), None))
    texts = next((row[name] for name in _TEXTS if name in row), None)
    texts = [texts] if isinstance(texts, str) else texts
    lists = (value for value in row.values() if isinstance(value, list) and value)
    regions = next((each for each in lists if all(isinstance(part, dict) and "start" in part for part in each)), None)
    if isinstance(texts, list) and regions and len(texts) == len(regions):
        for region, text in zip(regions, texts, strict=True):
            yield {**row, "audio": audio, "text": text, "start": region["start"], "end": region.get("end")}
    else:
        yield {**row, "audio": audio, "text": _joined(texts) if isinstance(texts, list) and not regions else None}


def _path(audio: str | None) -> str | None:
    return unquote(audio.partition(_LOCAL_FILE)[2]) if audio and _LOCAL_FILE in audio else audio


def _joined(texts: list[Any]) -> str:
    return " ".join(text for text in texts if isinstance(text, str))
