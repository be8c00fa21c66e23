"""Runs of the experiment `auto` that an earlier version began."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import TinyCorpus

from deepspeech.cli.flags import parse
from deepspeech.experiments.auto.measuring import Measured
from deepspeech.options.parameters.of_run import run_parameters
from deepspeech.options.parameters.text import FILE_NAME, write_parameters

MANY_SPEAKERS = Measured(900, seconds=2.5, speakers=70, labels=28, labels_a_second=16.0, sample_rate=16000)


def test_a_run_that_an_earlier_version_began_keeps_to_its_network(
    tiny_corpus: TinyCorpus, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deepspeech.cli.experiments.base_options.measure", lambda *_: MANY_SPEAKERS)
    command = ["--experiment=auto", f"--work={tmp_path}", f"--from={tiny_corpus.train}"]
    begun = parse(command)
    assert begun is not None and begun.model.settings.convolutions == 4
    written = run_parameters(begun)
    del written["convolutions"]  # which was no flag yet
    (tmp_path / "checkpoints").mkdir()
    write_parameters(tmp_path / "checkpoints" / FILE_NAME, written)
    again = parse(command)
    assert again is not None and again.model.settings.convolutions == 2
    assert "auto: but --convolutions=2, as when the run began" in capsys.readouterr().err.splitlines()


def test_a_run_that_an_earlier_version_began_keeps_to_what_that_version_chose(
    tiny_corpus: TinyCorpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--experiment=auto", f"--work={tmp_path}", f"--from={tiny_corpus.train}"]
    earlier = ["--normalize_features=running", "--output_step=40", "--augment=pitch[p=0.5,pitch=1~0.2]", "--epoch=100"]
    begun = parse([*command, *earlier, "--intermediate_ctc_weight=0"])
    assert begun is not None
    (tmp_path / "checkpoints").mkdir()
    write_parameters(tmp_path / "checkpoints" / FILE_NAME, run_parameters(begun))
    capsys.readouterr()
    again = parse([*command, "--output_step=30"])
    assert again is not None
    settings = again.model.settings
    assert (settings.output_step, settings.intermediate_ctc_weight) == (30, 0.0)
    assert again.features.normalization == "running"
    assert again.augmentation == begun.augmentation
    assert again.schedule.epoch == 150
    said = capsys.readouterr().err.splitlines()
    assert "auto: but --output_step=30, as given" in said
    assert "auto: but --normalize_features=running, as when the run began" in said
    assert "auto: but --intermediate_ctc_weight=0.0, as when the run began" in said
