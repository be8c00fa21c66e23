"""Recordings with ELAN's annotations beside them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from trees import Import, read, tone, write

from deepspeech.util.errors import ImportingError
from deepspeech.util.importing.pipeline.records import Choices


def eaf(*tiers: tuple[str, str, Sequence[tuple[int, int, str]]]) -> str:
    """Return an ELAN file with tiers (name, participant, annotations in ms), and a child tier of the first."""
    slots: list[str] = []
    parts: list[str] = []
    for name, participant, rows in tiers:
        parts.append(f'<TIER TIER_ID="{name}" PARTICIPANT="{participant}" LINGUISTIC_TYPE_REF="t">')
        for begin, end, text in rows:
            here = len(slots) + 1
            slots += [f'<TIME_SLOT TIME_SLOT_ID="ts{here + n}" TIME_VALUE="{t}"/>' for n, t in enumerate((begin, end))]
            parts.append(
                f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a{here}" TIME_SLOT_REF1="ts{here}"'
                f' TIME_SLOT_REF2="ts{here + 1}"><ANNOTATION_VALUE>{text}</ANNOTATION_VALUE>'
                "</ALIGNABLE_ANNOTATION></ANNOTATION>"
            )
        parts.append("</TIER>")
    parts.append(f'<TIER TIER_ID="translation" PARENT_REF="{tiers[0][0]}" LINGUISTIC_TYPE_REF="s">')
    if slots:
        parts.append(
            '<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="a99" ANNOTATION_REF="a1"><ANNOTATION_VALUE>one'
            "</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>"
        )
    parts.append("</TIER>")
    return (
        '<?xml version="1.0" encoding="UTF-8"?><ANNOTATION_DOCUMENT AUTHOR="" DATE="2020-01-01T00:00:00+00:00"'
        ' FORMAT="3.0" VERSION="3.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        ' xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd">'
        f'<HEADER TIME_UNITS="milliseconds"/><TIME_ORDER>{"".join(slots)}</TIME_ORDER>{"".join(parts)}'
        '<LINGUISTIC_TYPE LINGUISTIC_TYPE_ID="t" TIME_ALIGNABLE="true"/>'
        '<LINGUISTIC_TYPE LINGUISTIC_TYPE_ID="s" TIME_ALIGNABLE="false"/></ANNOTATION_DOCUMENT>'
    )


def test_elan_knows_who_speaks(tmp_path: Path) -> None:
    pytest.importorskip("pympi")
    tone(tmp_path / "a.wav", 3)
    tone(tmp_path / "b.wav", 3)
    ann, bob = ("Ann tx", "Ann", [(0, 1000, "ein")]), ("Bob tx", "Bob", [(1000, 2000, "zwei"), (2000, 9000, " ")])
    write(tmp_path / "a.eaf", eaf(ann, bob))
    write(tmp_path / "b.eaf", "<no xml")
    done = Import("folder", tmp_path, tmp_path / "out", Choices(split=(1, 0, 0), tiers=("Ann tx", "Bob tx")))
    assert [(row["transcript"], row["speaker"]) for row in done.all_rows] == [("ein", "Ann"), ("zwei", "Bob")]
    assert [set(done.samples(row)[0]) for row in done.all_rows] == [{100}, {200}]
    assert done.left_out == {"b.eaf": "its transcript cannot be read"}
    explained = Import("folder", tmp_path, tmp_path / "out", Choices(split=(1, 0, 0), tiers=("translation",))).all_rows
    assert [(row["transcript"], row["speaker"], row["duration"]) for row in explained] == [("one", "Ann", "1.000")]


def test_words_that_divide_an_annotation_without_times_of_their_own_are_one_utterance(tmp_path: Path) -> None:
    """On a tier of the stereotype Symbolic Subdivision, each word has the times of the whole sentence."""
    pytest.importorskip("pympi")
    tone(tmp_path / "a.wav", 3)
    words = [("a1", "the"), ("a1", "cat"), ("a3", "sat"), ("a3", " "), ("a3", "down"), ("a1", "came")]
    annotations = "".join(
        f'<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="a{50 + place}" ANNOTATION_REF="{sentence}"><ANNOTATION_VALUE>'
        f"{word}</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>"
        for place, (sentence, word) in enumerate(words)
    )
    tier = f'<TIER TIER_ID="words" PARENT_REF="ref" LINGUISTIC_TYPE_REF="s">{annotations}</TIER>'
    sentences = eaf(("ref", "Ann", [(0, 1000, "001"), (1000, 2000, "002")]))
    write(tmp_path / "a.eaf", sentences.replace("<LINGUISTIC_TYPE ", f"{tier}<LINGUISTIC_TYPE ", 1))
    done = Import("folder", tmp_path, tmp_path / "out", Choices(split=(1, 0, 0), tiers=("words",)))
    assert [(row["transcript"], row["speaker"]) for row in done.all_rows] == [
        ("the cat came", "Ann"),
        ("sat down", "Ann"),
    ]
    assert [set(done.samples(row)[0]) for row in done.all_rows] == [{100}, {200}]


def test_words_of_a_script_without_spaces_that_divide_an_annotation_are_joined_without_one(tmp_path: Path) -> None:
    pytest.importorskip("pympi")
    tone(tmp_path / "a.wav", 3)
    write(tmp_path / "a.eaf", eaf(("words", "", [(0, 1000, "银行"), (0, 1000, "开门"), (1000, 2000, "再见")])))
    done = Import("folder", tmp_path, tmp_path / "out", Choices(split=(1, 0, 0), tiers=("words",)))
    assert [row["transcript"] for row in done.all_rows] == ["银行开门", "再见"]


def test_annotations_without_a_time_are_listed_as_left_out(tmp_path: Path) -> None:
    """On a tier of the stereotype Time Subdivision, ELAN stores only those inner times that a person has set."""
    pytest.importorskip("pympi")
    tone(tmp_path / "a.wav", 3)
    text = eaf(("words", "Ann", [(0, 1000, "ein"), (1000, 1500, "zwei"), (1500, 2000, "drei"), (2000, 2500, " ")]))
    for untimed in (1500, 2500):
        text = text.replace(f' TIME_VALUE="{untimed}"', "")
    write(tmp_path / "a.eaf", text)
    done = Import("folder", tmp_path, tmp_path / "out", Choices(split=(1, 0, 0), tiers=("words",)))
    assert [row["transcript"] for row in done.all_rows] == ["ein"]
    left_out = [(row["reason"], row["detail"]) for row in read(tmp_path / "out/left_out.csv")]
    assert left_out == [("an annotation without a time", f"words: {word}") for word in ("zwei", "drei")]


def test_names_of_tiers_may_name_the_speakers(tmp_path: Path) -> None:
    pytest.importorskip("pympi")
    for name, speakers in (("a", ("Ann", "Eve")), ("b", ("Ann", "Bob"))):
        tone(tmp_path / f"{name}.wav", 3)
        said = [(f"{speaker} tx", "", [(0, 1000, f"{name} {speaker}")]) for speaker in speakers]
        write(tmp_path / f"{name}.eaf", eaf(*said, ("notes", "", [(0, 1000, "no")])))
    with pytest.raises(ImportingError, match=r"several tiers: Ann tx, Eve tx, notes, .* \{speaker\} stands for them"):
        Import("folder", tmp_path, tmp_path / "out")
    done = Import("folder", tmp_path, tmp_path / "out", Choices(split=(1, 0, 0), tiers=("{speaker} tx",)))
    rows = sorted((row["transcript"], row["speaker"]) for row in done.all_rows)
    assert rows == [("a Ann", "Ann"), ("a Eve", "Eve"), ("b Ann", "Ann"), ("b Bob", "Bob")]


@pytest.mark.parametrize(
    ("media", "wanted"),
    [
        ({"a%201.wav": 1000, "a 1.mp4": 0}, 200),
        ({"A%201.WAV": 1000}, 200),
        ({"a 1.mp4": 0, "a 1.wav": 2000}, 300),
        ({"a 1.mp4": 1000}, 200),
        ({"b.wav": 1000}, 100),
    ],
)
def test_recordings_that_begin_before_the_annotations_are_cut_where_elan_plays_them(
    tmp_path: Path, media: dict[str, int], wanted: int
) -> None:
    """Each of several media that are synchronized in ELAN has an offset: the place of the annotations' time 0."""
    pytest.importorskip("pympi")
    tone(tmp_path / "a 1.wav", 4)
    descriptors = "".join(
        f'<MEDIA_DESCRIPTOR MEDIA_URL="file:///C:/field/{name}" MIME_TYPE="audio/x-wav"'
        + (f' TIME_ORIGIN="{offset}"/>' if offset else "/>")
        for name, offset in media.items()
    )
    header = '<HEADER TIME_UNITS="milliseconds"'
    text = eaf(("words", "Ann", [(0, 1000, "ein")])).replace(f"{header}/>", f"{header}>{descriptors}</HEADER>")
    write(tmp_path / "a 1.eaf", text)
    done = Import("folder", tmp_path, tmp_path / "out", Choices(split=(1, 0, 0), tiers=("words",)))
    assert [set(done.samples(row)[0]) for row in done.all_rows] == [{wanted}]


def test_what_a_file_of_elan_lacks_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pympi")
    tone(tmp_path / "a.wav")
    tone(tmp_path / "b.wav")
    write(tmp_path / "b.txt", "ein")
    write(tmp_path / "a.eaf", eaf(("t", "", [(0, 100, "ein")])).replace(" xsi:noNamespaceSchemaLocation", " location"))
    Import("folder", tmp_path, tmp_path / "out")
    (left_out,) = read(tmp_path / "out/left_out.csv")
    assert left_out["reason"] == "its transcript cannot be read"
    assert left_out["detail"] == "it has no {http://www.w3.org/2001/XMLSchema-instance}noNamespaceSchemaLocation"


def test_without_the_library_for_tiers_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tone(tmp_path / "a.wav")
    write(tmp_path / "a.eaf", eaf(("t", "", [])))
    monkeypatch.setitem(sys.modules, "pympi", None)
    with pytest.raises(ImportingError, match=r"a\.eaf: needs pympi-ling: .*`importing`, .* wheel file$"):
        Import("folder", tmp_path, tmp_path / "out")
