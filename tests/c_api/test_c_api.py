"""The C library, and programs in other languages that use it, have the same transcripts as the Python package."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from client import LIBRARY, ROOT, CModel, Library
from comparison import ROUNDING, check_equal, check_words, samples_of

from deepspeech import Model, version
from deepspeech.serving.confidence.calibration import Calibration, Calibrations
from deepspeech.serving.frozen.constants import with_text
from deepspeech.serving.frozen.metadata import CALIBRATIONS_NODE

EXAMPLES = ROOT / "examples/c_api"


def test_the_library_hears_what_python_hears(library: Library, graph_file: Path, recordings: list[Path]) -> None:
    python = Model(graph_file)
    with CModel(library, graph_file) as ours:
        for path in recordings:
            check_equal(ours, python, samples_of(path))
        for count in (0, 1, 511, 513):
            check_equal(ours, python, samples_of(recordings[0])[:count])


def test_the_library_hears_what_python_hears_with_a_scorer_and_hot_words(
    library: Library, graph_file: Path, scorer_file: Path, recordings: list[Path]
) -> None:
    python = Model(graph_file)
    noise = np.random.default_rng(3).normal(0, 2000, 16000).astype(np.int16)
    with CModel(library, graph_file) as ours:
        for model in (python, ours):
            model.enableExternalScorer(scorer_file)
        check_equal(ours, python, samples_of(recordings[0]))
        for model in (python, ours):
            model.setScorerAlphaBeta(0.7, 1.5)
            model.addHotWord("eee", 200.0)
            model.addHotWord("not spelled", 200.0)
        check_equal(ours, python, noise)
        check_words(ours, python, noise)
        assert "eee" in ours.stt(noise).split()


def test_the_characters_of_a_transcript_spell_its_text(
    library: Library, graph_file: Path, scorer_file: Path, recordings: list[Path]
) -> None:
    samples = samples_of(recordings[0])
    with CModel(library, graph_file) as ours:
        ours.enableExternalScorer(scorer_file)
        library.check(library.functions.DS_SetModelBeamWidth(ours.handle, 2))
        for end in range(0, len(samples), 800):
            ((_, tokens),) = ours.transcripts(samples[:end], 1)
            assert "".join(text for text, *_ in tokens) == ours.stt(samples[:end])


def test_words_are_as_probable_as_the_models_calibration_says(
    library: Library, graph_file: Path, recordings: list[Path], tmp_path: Path
) -> None:
    calibrations = Calibrations(Calibration(-1.0, 0.3, 0.5), Calibration(-2.0, 0.1, 0.4))
    path = tmp_path / "calibrated.pb"
    path.write_bytes(with_text(graph_file.read_bytes(), CALIBRATIONS_NODE, calibrations.to_json().encode()))
    python = Model(path)
    assert python.calibrations == calibrations
    with CModel(library, path) as ours:
        for recording in recordings[:3]:
            check_words(ours, python, samples_of(recording))


def test_the_library_hears_what_python_hears_in_the_demo(library: Library, demo: Path) -> None:
    graph = demo / "model/output_graph.pb"
    python = Model(graph)
    with CModel(library, graph) as ours:
        for path in sorted((demo / "corpus/test").glob("*.wav"))[::20]:
            check_equal(ours, python, samples_of(path))


def test_all_transcripts_there_are_can_be_asked_for(library: Library, graph_file: Path, recordings: list[Path]) -> None:
    samples, all_there_are = samples_of(recordings[0]), 2**32 - 1
    with CModel(library, graph_file) as ours:
        expected = ours.transcripts(samples, 32)
        assert len(expected) == 32 == library.functions.DS_GetModelBeamWidth(ours.handle)
        assert ours.transcripts(samples, all_there_are) == expected
        for width in (0, all_there_are):
            with pytest.raises(RuntimeError, match=f"0x4000: beam_width is {width}, but must be between 1 and 1048576"):
                library.check(library.functions.DS_SetModelBeamWidth(ours.handle, width))


def test_what_is_wrong_is_said_in_a_line(library: Library, graph_file: Path, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"0x3000: .*/none\.pb cannot be opened"):
        CModel(library, tmp_path / "none.pb")
    with CModel(library, graph_file) as ours:
        with pytest.raises(RuntimeError, match=r"0x2002: .*/none\.scorer cannot be opened"):
            ours.enableExternalScorer(tmp_path / "none.scorer")
        with pytest.raises(RuntimeError, match="0x2004: this needs a scorer"):
            ours.addHotWord("a", 1.0)
        assert library.text(library.functions.DS_GetModelLanguage(ours.handle)) == "xx"
    assert library.text(library.functions.DS_Version()) == version()


def test_the_library_shows_nothing_but_its_functions(library: Library) -> None:
    assert library
    listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
    header = (ROOT / "native_client/c_api/deepspeech.h").read_text()
    declared = re.findall(r"^DEEPSPEECH_EXPORT .*?(DS_\w+)\(", header, re.MULTILINE)
    assert sorted(line.split()[-1] for line in listed.splitlines()) == sorted(declared)


def check_program(
    command: list[str | Path], environment: dict[str, str], graph: Path, recording: Path, lines: int = 2
) -> None:
    """Check that an example prints Python's text and confidence, and an error for an unusable file."""
    python, samples = Model(graph), samples_of(recording)
    printed = subprocess.run([*command, graph, recording], env=environment, capture_output=True, text=True, check=True)
    found = printed.stdout.splitlines()
    assert len(found) == lines
    assert found[0] == python.stt(samples)
    assert float(found[1].removeprefix("confidence ")) == pytest.approx(
        python.sttWithMetadata(samples).transcripts[0].confidence, abs=ROUNDING
    )
    for files, told in ((("none.pb", recording), "none.pb cannot be opened"), ((graph, "none.wav"), "o such file or")):
        failed = subprocess.run([*command, *files], env=environment, capture_output=True, text=True)
        assert failed.returncode == 1 and told in failed.stderr and failed.stdout == ""


def test_a_program_in_c_is_built_with_pkg_config_and_runs(
    environment: dict[str, str], graph_file: Path, recordings: list[Path], tmp_path: Path
) -> None:
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config")
    program, source = tmp_path / "transcribe", EXAMPLES / "c/transcribe.c"
    asked = ["pkg-config", "--cflags", "--libs", "deepspeech"]
    flags = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True).stdout.split()
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["cc", *strict, source, *flags, "-o", program], check=True)
    check_program([program], environment, graph_file, recordings[0], lines=3)
    (example,) = re.findall(r"```c\n(.*?)```", (ROOT / "docs/c_api.md").read_text(), re.DOTALL)
    check = ["cc", *strict, "-fsyntax-only", *flags, "-x", "c", "-"]
    subprocess.run(check, input=example, text=True, check=True)


def test_a_program_in_go_is_built_and_runs(
    environment: dict[str, str], graph_file: Path, recordings: list[Path], tmp_path: Path
) -> None:
    if not shutil.which("go") or not shutil.which("pkg-config"):
        pytest.skip("no go, or no pkg-config")
    program = tmp_path / "transcribe"
    subprocess.run(["go", "build", "-o", program], cwd=EXAMPLES / "go", env=environment, check=True)
    check_program([program], environment, graph_file, recordings[0])


def test_a_program_in_javascript_runs(environment: dict[str, str], graph_file: Path, recordings: list[Path]) -> None:
    node = shutil.which("node")
    folder = EXAMPLES / "node"
    if node is None or subprocess.run([node, "-e", "require('koffi')"], cwd=folder, capture_output=True).returncode:
        pytest.skip(f"no node, or no koffi; `npm install` in {folder} gets it")
    check_program([node, folder / "transcribe.js"], environment, graph_file, recordings[0])
    without = {**environment, "DEEPSPEECH_LIBRARY": "none.so"}
    failed = subprocess.run([node, folder / "transcribe.js"], env=without, capture_output=True, text=True)
    assert failed.returncode == 1 and failed.stderr.startswith("transcribe: none.so: ")
    assert len(failed.stderr.splitlines()) == 1


def test_installing_puts_library_header_and_pkg_config_file_in_place(library: Library, tmp_path: Path) -> None:
    assert library
    prefix = tmp_path / "with space"
    make: list[str | Path] = ["make", "--silent", "-C", ROOT / "native_client", "install", f"PREFIX={prefix}"]
    subprocess.run(make, check=True, capture_output=True, umask=0o077)
    modes = {str(path.relative_to(prefix)): path.stat().st_mode & 0o777 for path in prefix.rglob("*") if path.is_file()}
    assert modes == {"include/deepspeech.h": 0o644, "lib/libdeepspeech.so": 0o755, "lib/pkgconfig/deepspeech.pc": 0o644}
    told = (prefix / "lib/pkgconfig/deepspeech.pc").read_text()
    assert f"prefix={prefix}\n" in told and f"Version: {version()}\n" in told
