"""AISHELL-3, and corpora in the layouts of AISHELL-1 and THCHS-30 whose texts have spaces between words."""

from __future__ import annotations

from pathlib import Path

from trees import Import, tone, write

from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import Choices


def test_aishell_3_loses_the_syllables_after_its_characters(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    for part, speaker in (("train", "SSB0005"), ("train", "SSB0009"), ("test", "SSB0011")):
        tone(corpus / part / "wav" / speaker / f"{speaker}0001.wav")
        with (corpus / part / "content.txt").open("a", encoding="utf-8") as file:
            file.write(f"{speaker}0001.wav\t小 xiao3 门 men2\n")
    write(corpus / "train" / "label_train-set.txt", "# \nSSB00050001|xiao3 men2 $|小门$\n")
    assert format_of(corpus, Choices()) == "aishell"
    done = Import("aishell", corpus, tmp_path / "out")
    assert {(row["transcript"], row["speaker"]) for row in done.all_rows} == {
        ("小门", speaker) for speaker in ("SSB0005", "SSB0009", "SSB0011")
    }
    assert done.sets["test"] == {"SSB00110001.wav"}
    assert not done.left_out


def test_words_of_other_languages_in_the_layout_of_aishell_1_stay_apart(tmp_path: Path) -> None:
    tone(tmp_path / "corpus" / "wav" / "a.wav")
    write(tmp_path / "corpus" / "transcript.txt", "a some plain words\n")
    done = Import(format_of(tmp_path / "corpus", Choices()), tmp_path / "corpus", tmp_path / "out")
    assert done.transcripts == {"a.wav": "some plain words"}


def test_words_of_other_languages_in_the_layout_of_thchs_30_stay_apart(tmp_path: Path) -> None:
    for part in ("train", "test"):
        tone(tmp_path / "corpus" / part / f"{part}.wav")
        write(tmp_path / "corpus" / part / f"{part}.wav.trn", "some plain words\n")
    done = Import(format_of(tmp_path / "corpus", Choices()), tmp_path / "corpus", tmp_path / "out")
    assert done.transcripts == dict.fromkeys(("train.wav", "test.wav"), "some plain words")
    assert done.sets["test"] == {"test.wav"}


def test_in_the_layout_of_aishell_1_no_speaker_gets_the_text_of_another(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    for name in ("ann/1", "bob/1", "ann/2", "bob/3"):
        tone(corpus / "wav" / f"{name}.wav")
    write(corpus / "transcript" / "ann.txt", "1 一 个\n2 两 个\n")
    write(corpus / "transcript" / "bob.txt", "1 一 次\n3 三 次\n")
    done = Import("aishell", corpus, tmp_path / "out")
    assert done.transcripts == {"2.wav": "两个", "3.wav": "三次"}
    assert set(done.left_out.values()) == {"several recordings or transcripts of this name"}
