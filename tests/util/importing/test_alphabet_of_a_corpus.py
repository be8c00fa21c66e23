"""The alphabet of a corpus: the sets that give its labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deepspeech.util.importing.alphabet import make_alphabet
from deepspeech.util.output_units import WordPieceAlphabet
from deepspeech.util.text import Alphabet


def written(path: Path, transcripts: Sequence[str]) -> Path:
    lines = [f"{number}.wav,1000,{text}" for number, text in enumerate(transcripts)]
    path.write_text("\n".join(["wav_filename,wav_filesize,transcript", *lines, ""]), encoding="utf-8")
    return path


def test_word_pieces_are_those_of_the_training_set_and_the_characters_of_the_others(tmp_path: Path) -> None:
    train = written(tmp_path / "train.csv", ["seven seven one", "one seven", "seven one one"] * 4)
    test = written(tmp_path / "test.csv", ["nineteen nineteen", "nineteen kilos"] * 20)
    reports: list[str] = []
    make_alphabet("wordpieces", [train], [[test]], tmp_path / "pieces", None, reports.append)
    labels = WordPieceAlphabet.load(tmp_path / "pieces").labels
    assert {" seven", " one"} <= set(labels)
    assert not any(label.strip() in ("nineteen", "nine", "teen") for label in labels)
    assert set("nineteen kilos") <= set("".join(labels))
    assert "in no training transcript" in reports[0]


def test_a_list_may_be_that_of_two_sets(tmp_path: Path) -> None:
    train, dev = written(tmp_path / "train.csv", ["ab"]), written(tmp_path / "dev.csv", ["bc"])
    make_alphabet("characters", [train], [[dev], [dev]], tmp_path / "alphabet.txt", None, lambda _: None)
    assert (tmp_path / "alphabet.txt").read_text() == "a\nb\nc\n"


def test_syllables_that_no_set_has_are_not_told(tmp_path: Path) -> None:
    """They are labels for other recordings."""
    train, dev = written(tmp_path / "train.csv", ["你好"]), written(tmp_path / "dev.csv", ["你们"])
    reports: list[str] = []
    make_alphabet("pinyin", [train], [[dev]], tmp_path / "syllables.txt", None, reports.append)
    assert reports[0].endswith("made of the transcripts; 1 of them in no training transcript: men5")


def test_the_alphabet_of_the_model_to_begin_with_is_kept_if_it_spells_all_transcripts(tmp_path: Path) -> None:
    """A language model may have words with letters that no transcript has, such as the space between words."""
    train, dev = written(tmp_path / "train.csv", ["ab"]), written(tmp_path / "dev.csv", ["bc"])
    for labels, text in (("c ba", "c\n \nb\na\n"), (" ab", "a\nb\nc\n")):
        to = tmp_path / labels / "alphabet.txt"
        make_alphabet("characters", [train], [[dev]], to, None, lambda _: None, Alphabet(tuple(labels)))
        assert to.read_text() == text
