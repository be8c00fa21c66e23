"""Speakers that the paths of recordings name."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.errors import ImportingError
from deepspeech.util.importing.pipeline import folders_of_speakers
from deepspeech.util.importing.pipeline.folders_of_speakers import FoldersOfSpeakers
from deepspeech.util.importing.pipeline.records import Choices, LeftOut, Record
from deepspeech.util.importing.pipeline.speakers import check_speaker_pattern, with_speakers

ROOT = Path("/corpus")


def speakers(pattern: str, *names: str) -> list[str]:
    """Return the speakers of recordings that have these paths in the folder."""
    records = [Record(str(ROOT / name), "yes", name, "known") for name in names]
    return [item.speaker for item in with_speakers(records, ROOT, pattern) if isinstance(item, Record)]


@pytest.mark.parametrize(
    ("pattern", "path", "speaker"),
    [
        ("{speaker}/*", "anna/1.wav", "anna"),
        ("{speaker}/*", "audio/anna maria/1.wav", "anna maria"),
        ("{speaker}/*/*", "audio/anna/monday/1.wav", "anna"),
        ("audio/{speaker}/*", "audio/anna/1.wav", "anna"),
        ("{speaker}_*", "a/anna_b_1.wav", "anna"),
        ("*_{speaker}_*", "0_anna_b_1.wav", "anna"),
        ("{speaker}[1].wav", "anna[1].wav", "anna"),
        ("{speaker}.*", "anna.wav", "anna"),
        ("ä_{speaker}/*", "a\u0308_anna/1.wav", "anna"),
    ],
)
def test_a_path_names_its_speaker_as_the_pattern_says(pattern: str, path: str, speaker: str) -> None:
    assert speakers(pattern, path) == [speaker]


def test_a_path_that_does_not_end_so_leaves_the_speaker_that_is_known() -> None:
    assert speakers("s_{speaker}/*", "s_anna/1.wav", "1.wav", "t_bob/1.wav", "s_/1.wav") == ["anna", *3 * ["known"]]


def test_a_warning_tells_that_known_speakers_are_replaced(caplog: pytest.LogCaptureFixture) -> None:
    assert speakers("{speaker}/*", "known/0.wav", "anna/1.wav", "bob/2.wav") == ["known", "anna", "bob"]
    assert caplog.messages == ["anna/1.wav: --speakers takes the speaker anna in place of known, and others so"]


def test_the_folder_of_the_corpus_is_no_speaker() -> None:
    assert speakers("{speaker}/*", "1.wav", "anna/1.wav") == ["known", "anna"]


def test_a_pattern_that_fits_no_path_is_an_error_that_shows_one() -> None:
    with pytest.raises(
        ImportingError, match=r"--speakers=\{speaker\}_\*: no recording's path .* of them is anna/2.wav"
    ):
        speakers("{speaker}_*", "anna/1.wav", "anna/2.wav")
    assert len(list(with_speakers([LeftOut("a.wav", "no transcript beside it")], ROOT, "{speaker}/*"))) == 1


@pytest.mark.parametrize("pattern", ["*", "speaker/*", "{speaker}/{speaker}_*"])
def test_a_pattern_names_the_speaker_once(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"does not have \{speaker\} once"):
        check_speaker_pattern(pattern)


def test_sets_are_divided_by_the_speakers_of_paths(tmp_path: Path) -> None:
    source = tmp_path / "recordings"
    for speaker in ("anna", "bob", "carla", "dan"):
        for number in range(3):
            write(tone(source / speaker / f"{number}.wav", 0.1).with_suffix(".txt"), "yes")
    by_recording = Import("folder", source, tmp_path / "by recording")
    assert any(
        "if paths name the speakers, say how, as in --speakers '{speaker}/*'" in line for line in by_recording.news
    )
    done = Import("folder", source, tmp_path / "by speaker", Choices(speakers="{speaker}/*"))
    assert "divided into sets by speaker (4 speakers; no speaker is in two of these sets)" in done.news
    folders = {name: {Path(row["wav_filename"]).parent.name for row in done.rows(name)} for name in done.sets}
    assert sorted(map(len, folders.values())) == [1, 1, 2]
    assert len(set.union(*folders.values())) == 4
    assert all(row["speaker"] == Path(row["wav_filename"]).parent.name for row in done.all_rows)


def of_folders(folder: Path, name: str, words: str = "words {0} {1}", folders: int = 8) -> Import:
    """Import two recordings of each folder, whose names say the number of the folder and of the recording."""
    for first in range(folders):
        for second in range(2):
            path = folder / "corpus" / name.format(first, second)
            tone(path)
            write(path.with_suffix(".txt"), words.format(first, second))
    return Import("folder", folder / "corpus", folder / "out")


@pytest.mark.parametrize(
    ("name", "speaker"),
    [
        ("train/G000{0}/T0055G000{0}S000{1}.wav", "G0007"),
        ("kids/fab{0}/signal/fab{0}aa{1}.sph", "fab7"),
        ("data/00{0}/00{0}_2009-02-04/myst_00{0}_2009-02-04_{1}.wav", "007"),
    ],
)
def test_folders_whose_names_are_repeated_by_their_recordings_are_speakers(
    name: str, speaker: str, tmp_path: Path
) -> None:
    done = of_folders(tmp_path, name)
    assert speaker in {row["speaker"] for row in done.all_rows}
    assert all(len({row["speaker"] for row in done.rows(part)}) == len(done.rows(part)) / 2 for part in ("dev", "test"))
    assert any("8 speakers" in line for line in done.news)


@pytest.mark.parametrize(
    ("name", "words", "folders"),
    [
        ("a{0}x/wav/arctic_{1}.wav", "words {1}", 8),
        ("fe{0}/f000{0}-000{1}.wav", "words {1}", 8),
        ("de/female/a{0}/book/{1}.wav", "words {0} {1}", 3),
    ],
)
def test_folders_with_the_same_texts_or_in_those_of_women_are_speakers(
    name: str, words: str, folders: int, tmp_path: Path
) -> None:
    done = of_folders(tmp_path, name, words, folders)
    assert len({row["speaker"] for row in done.all_rows}) == folders
    assert any(f"{folders} speakers" in line for line in done.news)


@pytest.mark.parametrize(
    ("name", "words", "folders"),
    [
        ("a{0}x/wav/{1}.wav", "words {1}", 7),
        ("chapter {0}/{1}.wav", "words {1} {0}", 8),
        ("female/wavs/{0}-{1}.wav", "words {0} {1}", 3),
        ("w{0}/w{0}_{1}.wav", "word {0}", 8),
        ("b{0}/b{0}_{1}.wav", "words {0} {1}", 7),
        ("{0}/{0}{1}.wav", "words {0} {1}", 8),
        ("00/00_{0}_{1}.wav", "words {0} {1}", 8),
    ],
)
def test_folders_of_words_or_of_few_books_and_parts_of_numbers_are_no_speakers(
    name: str, words: str, folders: int, tmp_path: Path
) -> None:
    assert {row["speaker"] for row in of_folders(tmp_path, name, words, folders).all_rows} == {""}


def test_millions_of_folders_are_no_speakers_and_take_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders_of_speakers, "MOST", 20)
    folders = FoldersOfSpeakers()
    for number in range(40):
        for take in "ab":
            path = f"/corpus/u{number}/u{number}_{take}.wav"
            folders.add(Record(path, f"words {number} {take}", path))
        assert (folders.height() == 1) == (8 <= number + 1 <= 20)
