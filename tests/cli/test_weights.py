"""`deepspeech-weights`, as a user runs it, but in this process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import tensorflow as tf
from program import Trained

from deepspeech.checkpoints.weights.figures import PLAIN_BARS, Figures, drawn_histogram
from deepspeech.cli.weights.command import main


@pytest.fixture(scope="module")
def file(trained: Trained, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the weights of the tiny model's best checkpoint."""
    path = tmp_path_factory.mktemp("weights") / "tiny.weights.h5"
    assert main(["export", str(trained.program.checkpoints), str(path)]) == 0
    return path


def said(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> list[str]:
    capsys.readouterr()
    assert main([*map(str, arguments)]) == code
    output = capsys.readouterr()
    return (output.err if code and not output.out else output.out).splitlines()


def test_layers_shapes_and_statistics_are_shown(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, layer, weights, *_, total = said(capsys, "show", file)
    assert first == f"{file}: network deepspeech, 6 labels (characters), 26 audio_ops every 20 ms at 16000 Hz"
    assert layer == "layer_1: 23,760 parameters"
    assert weights.split()[:3] == ["layer_1/weights", "(494,", "48)"]
    assert "mean" in weights and "deviation" in weights and weights.endswith("% zeros")
    assert total == "12 weights in 6 layers, 49,783 parameters, 0.2 MB"
    assert len(said(capsys, "show", file, "--histogram")) == 1 + 6 + 2 * 12 + 1


def test_a_file_of_keras_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, name="mine")])
    for name, weight in (("a.h5", "sequential"), ("a.weights.h5", "mine/0")):
        (model.save_weights if name == "a.weights.h5" else model.save)(tmp_path / name)
        lines = said(capsys, "show", tmp_path / name)
        assert lines[:2] == [f"{tmp_path / name}: does not describe the model of its weights", "mine: 15 parameters"]
        assert lines[2].strip().startswith(weight) and "(4, 3)" in lines[2]
        assert lines[-1] == "2 weights in 1 layer, 15 parameters, 0.0 MB"


def test_graph_checkpoint_and_file_hold_the_same_until_one_is_changed(
    trained: Trained, graph_file: Path, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, "compare", file, graph_file) == []
    assert said(capsys, "compare", file, graph_file.parent) == []
    assert said(capsys, "import", file, tmp_path / "folder")[0].startswith(f"{tmp_path / 'folder' / 'train-0'}: 12")
    assert said(capsys, "compare", tmp_path / "folder", trained.program.checkpoints) == []
    changed = tmp_path / "changed.h5"
    changed.write_bytes(file.read_bytes())
    with h5py.File(changed, "r+") as weights:
        weights["layer_6/layer_6/bias"][2] += 0.5
        weights["layer_5/layer_5/bias"][0] = np.nan
    lines = said(capsys, "compare", file, changed, code=1)
    assert lines[0] == "layer_5/bias: 1 of 48 differ, 1 of them by NaN"
    assert lines[1] == "layer_6/bias: 1 of 7 differ, by 0.5 at most, 0.07143 on average"
    assert "1 NOT FINITE" in "\n".join(said(capsys, "show", changed))


def test_weights_of_the_same_name_in_other_layers_are_compared_and_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, file in enumerate(("one.h5", "other.h5")):
        with h5py.File(tmp_path / file, "w") as keras:
            keras.attrs["layer_names"] = ["first", "second"]
            for layer, value in (("first", number), ("second", 5)):
                keras.create_group(layer).attrs["weight_names"] = ["kernel", "bias"]
                keras[f"{layer}/kernel"], keras[f"{layer}/bias"] = np.full(2, value, np.float32), np.zeros(3)
    lines = said(capsys, "compare", tmp_path / "one.h5", tmp_path / "other.h5", code=1)
    assert lines == ["first/kernel: 2 of 2 differ, by 1 at most, 1 on average"]
    (line,) = said(capsys, "export", tmp_path / "one.h5", tmp_path / "copy.h5")
    assert ": 4 weights of " in line
    assert said(capsys, "compare", tmp_path / "one.h5", tmp_path / "copy.h5") == []


def test_errors_are_one_line(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.pb", "b.PB", "a.onnx", "a.tflite"):
        (tmp_path / name).write_bytes(b"no graph")
    too_long = "File name too long" if sys.version_info < (3, 14) else "there is no such file"
    for arguments, code, told in (
        (("show", tmp_path / "none"), 1, "there is no such file, checkpoint or folder"),
        (("show", tmp_path), 1, f"deepspeech-weights: {tmp_path}: is a folder that holds no checkpoint; name another"),
        (("show", tmp_path / "a.pb"), 1, "a.pb: "),
        (("compare", file, tmp_path / "none"), 2, "there is no such file"),
        (("show", tmp_path / "b.PB"), 1, "b.PB: not a protocol buffer"),
        (("show", tmp_path / "a.onnx"), 1, "a.onnx: weights are read from HDF5 (.h5, .hdf5), exported graphs (.pb,"),
        (("show", tmp_path / "a.tflite"), 1, "and checkpoints, by their names without extension or folders"),
        (("export", file, tmp_path / "none/a.h5"), 1, f"there is no folder {tmp_path / 'none'}; make it, or name"),
        (("compare", file), 2, "required: OTHER"),
        (("compare", file, tmp_path / "none", "--chekpoint=last"), 2, "unrecognized arguments: --chekpoint=last"),
        (("compare", tmp_path / (300 * "a"), file), 2, too_long),
        (("export", file, tmp_path / "a.txt"), 1, "must end in .weights.h5 or .h5"),
        (("export", file, "s3://bucket/a.h5"), 1, "argument OUTPUT: s3://bucket/a.h5 is an address; give a path"),
        (("import", file, "s3://bucket/new"), 1, "argument FOLDER: s3://bucket/new is an address; give a path"),
        (("show", "s3://bucket/run"), 1, "argument FILE: s3://bucket/run is an address; download it, and give a path"),
        (("forget", file), 1, "invalid choice: 'forget'"),
        ((), 1, "required: COMMAND"),
    ):
        (line,) = said(capsys, *arguments, code=code)
        assert line.startswith("deepspeech-weights: ") and told in line


def test_statistics_leave_out_what_is_not_finite() -> None:
    values = np.array([0, 2, 4, np.nan, np.inf, 0], np.float32)
    assert Figures.of(values) == Figures(1.5, float(np.std([0, 2, 4, 0])), 0, 4, 2 / 6, 2)
    assert Figures.of(values[3:5]).in_words == "mean 0, deviation 0, 0.0% zeros, 2 NOT FINITE"
    assert drawn_histogram(values[3:5]) == "no finite values"
    drawn = drawn_histogram(values)
    assert drawn.startswith("0 █") and drawn.endswith("▄ 4")


@pytest.mark.parametrize(
    ("values", "low", "high", "places"),
    [
        ([-1.7e308, 0, 1.7e308], "-1.7e+308", "1.7e+308", (0, 30, 59)),
        ([1, np.nextafter(1, 2)], "1", "1", (0, 59)),
        ([0, 5e-324], "0", "4.941e-324", (30,)),
        ([3, 3], "3", "3", (30,)),
    ],
)
def test_values_of_any_distance_are_drawn_in_plain_characters(
    values: list[float], low: str, high: str, places: tuple[int, ...]
) -> None:
    bars = "".join("@" if place in places else " " for place in range(60))
    assert drawn_histogram(np.array(values, np.float64), PLAIN_BARS) == f"{low} {bars} {high}"


def test_a_histogram_is_printed_in_any_encoding(file: Path) -> None:
    program = "import sys; from deepspeech.cli.weights.command import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "show", str(file), "--histogram"]
    for encoding, bar in (("ascii", "@"), ("latin-1", "@"), ("utf-8", "█")):
        done = subprocess.run(
            command, capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": encoding}
        )
        assert bar in done.stdout.decode(encoding)


def test_it_needs_tensorflow_only_for_checkpoints(file: Path, graph_file: Path) -> None:
    program = (
        "import sys; from deepspeech.cli.weights.command import main; "
        "code = main(sys.argv[1:]); sys.exit(code or 9 * ('tensorflow' in sys.modules))"
    )
    command = [sys.executable, "-c", program, "compare", str(file), str(graph_file)]
    assert subprocess.run(command, check=False).returncode == 0
