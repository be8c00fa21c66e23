"""GigaSpeech and WenetSpeech."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trees import Import, tone, write

from deepspeech.util.errors import ImportingError
from deepspeech.util.importing import format_of
from deepspeech.util.importing.formats.published import gigaspeech
from deepspeech.util.importing.pipeline.records import Choices


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "corpus"


def imported(folder: Path) -> Import:
    assert format_of(folder, Choices()) == "gigaspeech"
    return Import("gigaspeech", folder, folder.with_name("out"))


def audio(folder: Path, name: str, *segments: dict[str, Any], **values: Any) -> dict[str, Any]:
    tone(folder / "audio" / f"{name}.opus", 3)
    return {"path": f"audio/{name}.opus", **values, "segments": segments}


def segment(start: float, end: float, text: str, key: str, *subsets: str, **values: str) -> dict[str, Any]:
    return {"sid": f"S{start}", "begin_time": start, "end_time": end, key: text, "subsets": subsets, **values}


@pytest.mark.parametrize("block", [1 << 20, 64])
def test_segments_of_gigaspeech_have_the_sets_of_their_subsets(
    block: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audios = [
        audio(
            *(folder, "a", segment(0, 1.5, "DON'T <COMMA> STOP <PERIOD>", "text_tn", "{XL}", "{XS}", speaker="N/A")),
            segment(1.5, 3, "<MUSIC>", "text_tn", "{XL}"),
            speaker="Ann",
        ),
        audio(folder, "b", segment(0, 1, "YES", "text_tn", "{DEV}"), speaker="Bob"),
        audio(folder, "c", segment(0, 1, "NO", "text_tn", "{TEST}"), {"sid": "S9"}, speaker="N/A"),
        {"path": "audio/d.opus"},
    ]
    write(folder / "GigaSpeech.json", json.dumps({"dataset": "GigaSpeech", "audios": audios}, indent=2))
    write(folder / "other.json", "[]")
    monkeypatch.setattr(gigaspeech, "_BLOCK", block)
    done = imported(folder)
    assert [(row["transcript"], row["speaker"]) for row in done.rows("train")] == [("don't stop", "")]
    assert [(row["transcript"], row["speaker"]) for row in done.rows("dev")] == [("yes", "Bob")]
    assert [(row["transcript"], row["speaker"]) for row in done.rows("test")] == [("no", "")]
    assert done.left_out == {
        "GigaSpeech.json:1 S1.5": "a segment without speech",
        "GigaSpeech.json:3 S9": "no text",
        "GigaSpeech.json:4": "an element of audios without a path and segments",
    }


def test_segments_of_wenetspeech_keep_their_texts(folder: Path) -> None:
    audios = [
        audio(folder, name, segment(0, 1, text, "text", subset))
        for name, text, subset in (("a", "一句 OK", "L"), ("b", "两句", "DEV"), ("c", "三句", "TEST_NET"))
    ]
    write(folder / "WenetSpeech.json", json.dumps({"audios": audios}, ensure_ascii=False))
    done = imported(folder)
    assert [done.rows(name)[0]["transcript"] for name in ("train", "dev", "test")] == ["一句 OK", "两句", "三句"]


def test_a_list_that_ends_too_early_is_refused(folder: Path) -> None:
    text = json.dumps({"audios": [audio(folder, "a", segment(0, 1, "YES", "text", "L"))]})
    write(folder / "GigaSpeech.json", text[:-2])
    with pytest.raises(ImportingError, match=r"GigaSpeech\.json: malformed, or cut off"):
        imported(folder)
