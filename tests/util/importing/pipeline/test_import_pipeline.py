"""The steps that all formats share: sets, checks, repeated runs, and the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from running import assert_fails_with, run_script
from trees import Import, read, tone, write

from deepspeech.util.errors import ImportingError
from deepspeech.util.importing import import_corpus
from deepspeech.util.importing.pipeline.known import KnownRecordings
from deepspeech.util.importing.pipeline.records import SETS, Choices, Record
from deepspeech.util.importing.pipeline.splits import Division, Splitter

HEADER = "client_id\tpath\tsentence\n"


def counted(records: list[Record], choices: Choices = Choices(), before: Division = Division("", {})) -> Splitter:  # noqa: B008
    splitter = Splitter(choices, ["/corpus"], before)
    for record in records:
        splitter.count(record)
    return splitter


def divided(records: list[Record], choices: Choices = Choices()) -> tuple[dict[str, list[Record]], list[str]]:  # noqa: B008
    splitter = counted(records, choices)
    news = splitter.divide()
    sets: dict[str, list[Record]] = {name: [] for name in SETS}
    for record in records:
        sets[splitter.choose(record)].append(record)
    return sets, news


def spoken_by(speakers: dict[str, int]) -> list[Record]:
    return [Record(f"/corpus/{name}{n}.wav", "x", "", name) for name, count in speakers.items() for n in range(count)]


def test_speakers_are_in_one_set_each_and_sets_have_their_shares() -> None:
    records = spoken_by({f"s{number}": 5 + number % 7 for number in range(200)})
    sets, news = divided(records)
    speakers = [{record.speaker for record in rows} for rows in sets.values()]
    assert not speakers[0] & speakers[1] and not speakers[0] & speakers[2] and not speakers[1] & speakers[2]
    assert [round(100 * len(rows) / len(records)) for rows in sets.values()] == [90, 5, 5]
    assert news == ["divided into sets by speaker (200 speakers; no speaker is in two of these sets)"]


def test_the_seed_decides_and_the_place_of_the_corpus_does_not() -> None:
    records = spoken_by({"": 100})
    elsewhere = [record._replace(path=record.path.replace("/corpus", "/corpus/corpus", 1)) for record in records]
    first, second, other = (divided(records, Choices(seed=seed))[0] for seed in (1, 1, 2))
    assert first == second != other
    splitter = Splitter(Choices(), ["/source", "/corpus/corpus"])
    for record in elsewhere:
        splitter.count(record)
    splitter.divide()
    assert [splitter.choose(record) for record in elsewhere].count("test") == len(first["test"]) == 5
    assert {record.path for record in first["test"]} == {
        record.path.replace("/corpus", "", 1) for record in elsewhere if splitter.choose(record) == "test"
    }


def test_one_speaker_with_most_rows_stays_in_train() -> None:
    sets, _ = divided(spoken_by({"most": 1000, "a": 10, "b": 10}))
    assert {name: {record.speaker for record in rows} for name, rows in sets.items()}["train"] == {"most"}
    assert all(sets.values())


def test_segments_of_a_recording_without_a_speaker_stay_together() -> None:
    records = [Record(f"/corpus/{n % 10}.wav", "x", "", start=n) for n in range(100)]
    sets, news = divided(records)
    places = [{record.path for record in rows} for rows in sets.values()]
    assert sum(map(len, places)) == 10 and all(places)
    assert news == [
        "divided into sets by a hash of each recording's name: no speaker is known, so a speaker can be in several "
        "sets; if paths name the speakers, say how, as in --speakers '{speaker}/*'"
    ]


def test_too_few_speakers_or_recordings_are_said() -> None:
    assert "too few speakers" in divided(spoken_by({"a": 50, "b": 50}))[1][0]
    sets, news = divided(spoken_by({"a": 2}))
    assert len(sets["train"]) == 2 and news == ["2 utterances: too few for 3 sets; all are in train"]


def test_two_long_recordings_are_divided_by_utterance() -> None:
    records = [Record(f"/corpus/{n % 2}.wav", "x", "", "ab"[n % 2], start=n) for n in range(100)]
    sets, news = divided(records, Choices(seed=-(10**30)))
    assert [len(rows) for rows in sets.values()] == [90, 5, 5]
    assert news == [
        "divided into sets by a hash of each utterance: there are too few speakers for sets of them,"
        " and too few recordings, so each can be in several sets"
    ]


def test_all_may_go_into_one_set_or_none_into_train() -> None:
    records = spoken_by({"a": 50, "b": 50})
    assert len(divided(records, Choices(split=(0, 0, 1)))[0]["test"]) == 100
    assert len(divided(records, Choices(split=(0, 2, 2)))[0]["dev"]) == 50


def test_what_was_too_little_to_divide_does_not_stay_in_a_train_set_that_has_no_share() -> None:
    segments, choices = [Record("/corpus/talk.wav", "x", "", start=n) for n in range(8)], Choices(split=(0, 1, 1))
    alone = counted(segments[:1], choices)
    assert alone.divide() == ["1 utterance: too few for 2 sets; all are in train"]
    for count in (2, 8):
        more = counted(segments[:count], choices, alone.division)
        assert more.divide()[0].startswith("not divided as before")
        assert [list(map(more.choose, segments[:count])).count(name) for name in SETS] == [0, count / 2, count / 2]


def test_more_speakers_than_are_counted_are_divided_by_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deepspeech.util.importing.pipeline.splits.MOST_UNITS", 50)
    sets, _ = divided(spoken_by({f"s{number}": 2 for number in range(2000)}))
    assert [round(100 * len(rows) / 4000) for rows in sets.values()] == pytest.approx([90, 5, 5], abs=2)
    assert not {record.speaker for record in sets["train"]} & {record.speaker for record in sets["test"]}


@pytest.mark.parametrize("speakers", [True, False], ids=["speakers", "recordings"])
def test_what_is_imported_again_with_more_stays_in_its_set_and_new_ones_fill_the_shares(speakers: bool) -> None:
    records = spoken_by({f"s{number}": 4 for number in range(200)})
    if not speakers:
        records = [record._replace(speaker="") for record in records]
    before = counted(records[:240])
    before.divide()
    after = counted(records, before=before.division)
    assert not any("not divided as before" in line for line in after.divide())
    chosen = [after.choose(record) for record in records]
    assert chosen[:240] == [before.choose(record) for record in records[:240]]
    assert [round(100 * chosen.count(name) / len(records)) for name in SETS] == [90, 5, 5]
    again = counted(records, before=after.division)
    again.divide()
    assert again.division == after.division


def test_rows_that_cannot_be_used_are_no_reason_to_divide_anew() -> None:
    records = spoken_by({"ann": 3})
    before = counted(records)
    before.divide()
    after = counted(records, before=before.division)
    for record in records:
        after.count(record._replace(speaker=f"noise in {record.path}"), usable=False)
    after.divide()
    assert after.division == before.division


def test_another_division_of_what_was_divided_before_is_said() -> None:
    records = spoken_by({f"s{number}": 4 for number in range(40)})
    before = counted(records)
    before.divide()
    said = "not divided as before: dev and test may have what was in train; train with a new --checkpoint_dir"
    for choices in (Choices(seed=2), Choices(split=(2, 1, 1))):
        assert counted(records, choices, before.division).divide()[0] == said
    for division in (before.division, Division("", {})):
        all_in_train = counted(records, Choices(split=(1, 0, 0)), division)
        assert all_in_train.divide() == []
        assert counted(records, before=all_in_train.division).divide()[0] == said
    left = [record for record in records if before.choose(record) == "train"]
    anew = counted(left[:12], before=before.division)  # three speakers of train, and none of the other sets
    assert anew.divide()[0] == said
    assert {anew.choose(record) for record in left[:12]} == set(SETS)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for number in range(6):
        tone(tmp_path / "corpus" / "clips" / f"{number}.wav")
    rows = "".join(f"s{number}\t{number}.wav\tword {number}\n" for number in range(6))
    write(tmp_path / "corpus" / "validated.tsv", HEADER + rows)
    return tmp_path / "corpus"


def test_no_set_consists_of_rows_without_a_recording_or_a_transcript(corpus: Path, tmp_path: Path) -> None:
    for number in (0, 2, 4):
        (corpus / f"clips/{number}.wav").write_bytes(b"")  # as after a failed download
        with (corpus / "validated.tsv").open("a") as table:
            table.write(f"{number}\t{number + 1}.wav\t\n")
    (corpus / "clips/0.wav").unlink()
    imported = Import("common_voice", corpus, tmp_path / "out")
    assert all(len(recordings) == 1 for recordings in imported.sets.values())
    before = imported.sets
    (corpus / "clips/1.wav").rename(tmp_path / "1.wav")
    assert not any("not divided as before" in line for line in Import("common_voice", corpus, tmp_path / "out").news)
    (tmp_path / "1.wav").rename(corpus / "clips/1.wav")
    assert Import("common_voice", corpus, tmp_path / "out").sets == before


def test_a_second_run_checks_only_what_is_new_or_changed(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Import("common_voice", corpus, tmp_path / "out")
    checked: list[str] = []
    module = "deepspeech.util.importing.pipeline.recordings"
    inspect = sys.modules[module].inspect_audio

    def inspect_noted(path: str) -> object:
        checked.append(Path(path).name)
        return inspect(path)

    monkeypatch.setattr(f"{module}.inspect_audio", inspect_noted)
    assert (Import("common_voice", corpus, tmp_path / "out").all_rows, checked) == (first.all_rows, [])
    tone(corpus / "clips" / "3.wav", 0.7)
    tone(corpus / "clips" / "6.wav")
    write(corpus / "validated.tsv", (corpus / "validated.tsv").read_text() + "s6\t6.wav\tword 6\n")
    again = Import("common_voice", corpus, tmp_path / "out")
    assert all(row in again.rows(name) for name in ("dev", "test") for row in first.rows(name))
    assert (len(again.all_rows), sorted(checked)) == (7, ["3.wav", "6.wav"])
    monkeypatch.setattr("deepspeech.util.importing.pipeline.known.reader_version", lambda: "another")
    for rows in (7, 0):  # a changed check repeats all of it, once
        checked.clear()
        assert (Import("common_voice", corpus, tmp_path / "out").all_rows, len(checked)) == (again.all_rows, rows)


def test_a_truncated_recording_is_left_out_and_a_corpus_of_nothing_else_keeps_what_was_there(
    corpus: Path, tmp_path: Path
) -> None:
    first = Import("common_voice", corpus, tmp_path / "out")
    for path in (corpus / "clips").iterdir():
        path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(ImportingError, match=r"no row of .* can be imported; .*left_out\.csv says why"):
        Import("common_voice", corpus, tmp_path / "out")
    rows = read(tmp_path / "out" / "left_out.csv")
    assert {row["reason"] for row in rows} == {"truncated"}
    assert rows[0]["detail"] == "7000 bytes of samples where the header promises 8000"
    assert read(tmp_path / "out" / "train.csv") == first.rows("train")


def test_what_a_killed_import_left_behind_does_no_harm(corpus: Path, tmp_path: Path) -> None:
    write(tmp_path / "out" / ".train.csv.part-1234", "wav_filename,")
    write(tmp_path / "out" / ".checked.sqlite", "not a database, but something else that is long enough" * 100)
    assert len(Import("common_voice", corpus, tmp_path / "out").all_rows) == 6
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {".checked.sqlite", "left_out.csv", "train.csv", "dev.csv", "test.csv"}


def test_results_that_are_damaged_anywhere_are_replaced(corpus: Path, tmp_path: Path) -> None:
    results, first = tmp_path / "out" / ".checked.sqlite", Import("common_voice", corpus, tmp_path / "out")
    for page in range(1, results.stat().st_size // 4096):  # as after a loss of power
        with results.open("r+b") as file:
            file.seek(page * 4096)
            file.write(b"\xff" * 64)
        assert Import("common_voice", corpus, tmp_path / "out").all_rows == first.all_rows


def test_an_imported_corpus_needs_no_source_any_more(corpus: Path, tmp_path: Path) -> None:
    Import("common_voice", corpus, tmp_path / "out")
    import_corpus("common_voice", tmp_path / "out")
    (corpus / "clips" / "3.wav").unlink()
    with pytest.raises(ImportingError, match="--from"):
        import_corpus("common_voice", tmp_path / "out")


def test_the_command_says_what_it_did_and_what_is_wrong(corpus: Path, tmp_path: Path) -> None:
    done = run_script("import_corpus.py", "common_voice", "--from", corpus, "--to", tmp_path / "out", "--split=4:1:1")
    assert done.returncode == 0 and done.stdout == "", done.stderr
    assert f"{tmp_path / 'out' / 'train.csv'}: 4 utterances, 2 s" in done.stderr
    command = [sys.executable, "-m", "deepspeech.import_corpus", "common_voice", "--to", str(tmp_path / "out")]
    wrong = subprocess.run([*command, "--split=1:2"], capture_output=True, text=True)
    assert_fails_with(wrong, "--split", "1:2", "90:5:5")


def test_names_and_texts_that_are_not_unicode_are_left_out(tmp_path: Path) -> None:
    source = tmp_path / "corpus"
    tone(source / "good.wav")
    write(source / "good.txt", "good")
    name = b"gr\xfc\xdfe".decode("utf-8", "surrogateescape")
    tone(source / "copied.wav").rename(source / f"{name}.wav")
    write(source / f"{name}.txt", "gruss")
    done = Import("folder", source, tmp_path / "out", Choices(split=(1, 0, 0)))
    assert done.transcripts == {"good.wav": "good"}
    assert list(done.left_out.values()) == ["a name or text that cannot be written as UTF-8"]
    write(
        source / "rows.jsonl",
        '{"audio_filepath": "good.wav", "text": "\\ud800"}\n{"audio_filepath": "a\\u0000", "text": "x"}',
    )
    with pytest.raises(ImportingError, match="no row"):
        Import("json_lines", source, tmp_path / "out")
    _, not_unicode, null = (tmp_path / "out" / "left_out.csv").read_text().splitlines()
    assert "a text that cannot be written as UTF-8" in not_unicode
    assert "embedded null" in null  # "byte" or "character", depending on the version of Python


def test_two_imports_into_one_folder_do_not_mix(corpus: Path, tmp_path: Path) -> None:
    Import("common_voice", corpus, tmp_path / "out")
    with (
        KnownRecordings(tmp_path / "out" / ".checked.sqlite"),
        pytest.raises(ImportingError, match="is another import at work there"),
    ):
        Import("common_voice", corpus, tmp_path / "out")
    assert len(Import("common_voice", corpus, tmp_path / "out").all_rows) == 6


def test_only_another_import_is_taken_for_one(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "out/.checked.sqlite").mkdir(parents=True)
    with pytest.raises(ImportingError, match=r"checked\.sqlite cannot be written: unable to open database file$"):
        Import("common_voice", corpus, tmp_path / "out")
