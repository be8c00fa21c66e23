"""Two files with a line each for an utterance: fairseq's, and those of corpora of translated speech."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.errors import ImportingError
from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import SETS, Choices


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "corpus"


def imported(folder: Path) -> Import:
    assert format_of(folder, Choices()) == "parallel_lines"
    return Import("parallel_lines", folder, folder.with_name("out"))


@pytest.mark.parametrize(("ending", "text"), [("wrd", "A WORD\n"), ("ltr", "A | W O R D |\n")])
@pytest.mark.parametrize("root", ["{}/audio", "/of/another/machine"])
def test_fairseqs_lists_have_their_texts_in_another_file(root: str, ending: str, text: str, folder: Path) -> None:
    for part in ("train", "valid", "test"):
        tone(folder / "audio" / f"{part}.flac")
        write(folder / "manifest" / f"{part}.tsv", f"{root.format(folder)}\n{part}.flac\t4000\n")
        write(folder / "manifest" / f"{part}.{ending}", text)
    done = imported(folder)
    assert done.sets == {"train": {"train.flac"}, "dev": {"valid.flac"}, "test": {"test.flac"}}
    assert set(done.transcripts.values()) == {"A WORD"}


def test_must_c_is_cut_at_its_times_and_has_the_language_of_the_speech(folder: Path) -> None:
    for part in ("train", "dev", "tst-COMMON"):
        data = folder / "en-de" / "data" / part
        tone(data / "wav" / "ted_1.wav", 3)
        places = ("duration: 1.000, offset: 0.500", "duration: 0.500, offset: 1.500")
        lines = "".join(f"- {{{place}, rW: 4, uW: 0, speaker_id: spk.1, wav: ted_1.wav}}\n" for place in places)
        write(data / "txt" / f"{part}.yaml", lines)
        write(data / "txt" / f"{part}.en", "One,\n\n")
        write(data / "txt" / f"{part}.de", "Eins,\nzwei.\n")
    done = imported(folder)
    assert [[row["transcript"] for row in done.rows(name)] for name in SETS] == [["One,"]] * 3
    assert {(row["speaker"], row["duration"]) for row in done.all_rows} == {("spk.1", "1.000")}
    assert set(done.left_out.values()) == {"empty transcript"}


def test_segments_of_a_corpus_in_several_languages_are_used_once(folder: Path) -> None:
    tone(folder / "v1.1" / "en" / "audios" / "en.1.wav", 3)
    for target in ("de", "fr"):
        place = folder / "v1.1" / "en" / target / "train"
        write(place / "segments.lst", "en.1 0.00 1.00\nen.1 1.00 2.00\n")
        write(place / "segments.en", "one\ntwo\n")
        write(place / f"segments.{target}", "eins\nzwei\n")
        write(place / "speeches.en", "one two\n")
    done = Import("parallel_lines", folder, folder.with_name("out"), Choices(split=(1, 0, 0)))
    assert [row["transcript"] for row in done.all_rows] == ["one", "two"]
    assert set(done.left_out.values()) == {"an utterance of another list, too; keep one of the lists"}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("segments", ("u1 a 0 1", "u2 a x", "u3 a 1 2")),
        ("train.yaml", ("- {duration: 1, offset: 0, wav: a}", "- {offset: 1}", "- {duration: 1, offset: 1, wav: a}")),
    ],
)
def test_a_line_that_says_no_place_leaves_out_one_row(name: str, lines: tuple[str, ...], folder: Path) -> None:
    tone(folder / "wav" / "a.wav", 2)
    write(folder / "txt" / name, "\n".join(lines))
    write(folder / "txt" / "train.es", "one\ntwo\nthree\n")
    write(folder / "txt" / "README.md", "About\n")
    done = imported(folder)
    assert [row["transcript"] for row in done.all_rows] == ["one", "three"]
    assert done.left_out == {"txt/train.es:2": "no recording with two times"}


@pytest.mark.parametrize(
    ("segments", "texts", "complaint"),
    [
        ("u1 a 0 1\n", "one\ntwo\n", "train.es has 2 lines, and .*segments 1 utterances"),
        ("u1 a 0\n", "one\n", "no recording with two times, as in segments:1: u1 a 0"),
    ],
)
def test_files_that_do_not_go_together_are_refused(segments: str, texts: str, complaint: str, folder: Path) -> None:
    tone(folder / "wav" / "a.wav", 2)
    write(folder / "txt" / "segments", segments)
    write(folder / "txt" / "train.es", texts)
    with pytest.raises(ImportingError, match=complaint):
        Import("parallel_lines", folder, folder.with_name("out"))
