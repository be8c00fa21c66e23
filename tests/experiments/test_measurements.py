"""What the experiment `auto` measures of a corpus, and chooses by that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
import soundfile
from corpora import RATE, TinyCorpus, write_csv, write_wav

from deepspeech.cli.flags import parse
from deepspeech.errors import DeepSpeechError
from deepspeech.experiments.auto.choosing import Machine, experiment_for
from deepspeech.experiments.auto.measuring import Measured
from deepspeech.experiments.auto.measuring import measure as measure_items
from deepspeech.util.audio import AudioInfo, inspect_audio
from deepspeech.util.importing import read_items
from deepspeech.util.importing.pipeline.records import SETS, Choices
from deepspeech.util.output_units import ByteAlphabet
from deepspeech.util.transcripts import Normalizer

MACHINE = Machine(cores=2, gpus=0)


def measure(lists: Sequence[Path], *how: Any, **named: Any) -> Measured:
    return measure_items(read_items("lists", Path(), Choices(lists=tuple(lists))), "lists", *how, **named)


def test_bytes_get_outputs_for_each_byte_of_a_letter(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    folder = Path(copytree(tiny_corpus.train.parent, tmp_path / "corpus"))
    recordings = sorted(folder.rglob("*.wav"))
    foreign = write_csv(folder / "foreign.csv", [(recording, "語" * 5) for recording in recordings])
    characters, in_bytes = (measure([foreign], Normalizer(), unit) for unit in ("characters", "bytes"))
    assert in_bytes.labels_a_second == pytest.approx(characters.labels_a_second * 15 / 9)  # 4 blanks, and none
    arguments = ["--experiment=auto", f"--work={tmp_path}", f"--from={foreign}", "--output_unit=bytes"]
    options = parse(arguments)
    assert options is not None
    assert options.load_alphabet() == ByteAlphabet()
    assert options.model.settings.output_step == experiment_for(in_bytes, MACHINE)[0].options.model.settings.output_step


def test_labels_are_counted_as_the_model_will_spell_them(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    folder = Path(copytree(tiny_corpus.train.parent, tmp_path / "corpus"))
    recordings = sorted(folder.rglob("*.wav"))
    decomposed = write_csv(folder / "decomposed.csv", [(each, "\u1112\u1161\u11ab!... 0") for each in recordings])
    composed = write_csv(folder / "composed.csv", [(each, "\ud55c 0") for each in recordings])
    assert measure([decomposed], Normalizer()) == measure([composed], Normalizer())
    as_it_is = parse(["--experiment=auto", f"--work={tmp_path}", f"--from={decomposed}", "--nonormalize_transcripts"])
    assert as_it_is is not None
    needed = measure([decomposed], None).labels_a_second
    assert needed > 2 * measure([composed], Normalizer()).labels_a_second
    assert f"labels_a_second={needed}" in as_it_is.experiment.measured
    wrong = write_csv(folder / "wrong.csv", [(recordings[0], "0 " * 999), *((each, "\ud55c 0") for each in recordings)])
    assert measure([wrong], Normalizer()).labels_a_second == measure([composed], Normalizer()).labels_a_second


def test_turkish_gets_its_own_lower_case(
    tiny_corpus: TinyCorpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(copytree(tiny_corpus.train.parent, tmp_path / "corpus"))
    recordings = sorted(folder.rglob("*.wav"))
    turkish = write_csv(folder / "turkish.csv", [(each, "Irmak \u015f\u0131k") for each in recordings])
    command = ["--experiment=auto", f"--work={tmp_path}", f"--from={turkish}"]
    given: tuple[list[str], ...] = ([], ["--transcript_case=lower"], ["--nonormalize_transcripts"])
    cases = [parse([*command, *further]) for further in given]
    assert [options and options.transcripts.case for options in cases] == ["turkish", "lower", "lower"]
    said = capsys.readouterr().err
    assert said.count("auto: transcripts: I becomes \u0131 ") == 2
    assert "auto: but --transcript_case=lower, as given" in said


def test_recordings_that_begin_and_end_with_speech_are_given_silence(tmp_path: Path) -> None:
    tone = np.sin(np.arange(RATE) / 5).astype(np.float32) / 2
    quiet = np.random.default_rng(1).normal(0, 0.001, RATE // 4).astype(np.float32)
    chosen = []
    for name, samples in (("cut", tone), ("whole", np.concatenate([quiet, tone, quiet]))):
        recording = write_wav(tmp_path / name / "a.wav", samples)
        measured = measure([write_csv(tmp_path / name / "train.csv", [(recording, "a")])], None)
        experiment, choices = experiment_for(measured, MACHINE)
        chosen.append((measured.silence, "silence" in str(experiment.options.augmentation.written)))
        reasons = [reason for choice in choices for reason in choice.reasons]
        assert any(f"{measured.silence:.2f} s" in reason for reason in reasons) == (name == "cut")
    assert chosen == [(0, True), (pytest.approx(0.5, abs=0.05), False)]


def test_a_recording_of_many_parts_is_decoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soundfile.write(tmp_path / "talk.flac", np.random.default_rng(0).normal(0, 0.1, 20 * 8000), 8000)
    rows = [f"talk.flac,a,{start / 10},0.5" for start in range(100)]
    (tmp_path / "train.csv").write_text("\n".join(["wav_filename,transcript,start,duration", *rows]))
    decoded = []

    def noted(path: str) -> AudioInfo:
        decoded.append(path)
        return inspect_audio(path)

    monkeypatch.setattr("deepspeech.util.checks.inspection.inspect_audio", noted)
    measured = measure([tmp_path / "train.csv"], None)
    assert (measured.seconds, measured.sample_rate) == (0.5, 8000)
    assert decoded == [str(tmp_path / "talk.flac")]


def test_a_corpus_is_measured_by_its_training_set(tiny_corpus: TinyCorpus) -> None:
    measured = measure([tiny_corpus.train, tiny_corpus.dev, tiny_corpus.test], Normalizer())
    assert measured.utterances == len(tiny_corpus.train.read_text(encoding="utf-8").splitlines()) - 1
    assert 0 < measured.hours < 0.1 and measured.speakers == 0 and measured.sample_rate in (8000, 16000)


def test_sets_that_are_taken_from_the_training_set_are_not_counted(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    folder = Path(copytree(tiny_corpus.train.parent, tmp_path / "corpus"))
    recordings = zip(SETS, sorted(folder.rglob("*.wav")), strict=False)
    train, dev, test = (write_csv(folder / f"{name}.csv", [(path, "a")] * 100) for name, path in recordings)
    assert measure([train, dev, test], None).utterances == 100
    assert measure([train, dev], None).utterances == 95
    assert measure([train], None).utterances == 90
    assert measure([train, dev], None, split=(1, 1, 2)).utterances == 50
    options = parse(["--experiment=auto", f"--work={tmp_path}", f"--from={train},{dev}", "--split=70:15:15"])
    assert options is not None and "utterances=140" in options.experiment.measured


def test_recordings_that_cannot_be_read_are_named_by_the_first(tmp_path: Path) -> None:
    lists = write_csv(tmp_path / "train.csv", [(tmp_path / f"{name}.wav", name) for name in "ab"])
    with pytest.raises(DeepSpeechError, match=r"train\.csv:2: .*a\.wav: No such file or directory"):
        measure([lists], None)
