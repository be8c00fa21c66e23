"""What `pip install .` puts on a user's machine, used from a folder that has names of ours."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from program import Trained

from deepspeech.commands import PACKAGES_OF_TRAINING

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the content of the wheel, unpacked; the native decoder's object files are those of the repository."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "setup.py", "--quiet", "bdist_wheel", "--dist-dir", str(folder / "wheel")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (folder / "wheel").glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(folder / "site")
    return folder / "site"


def test_everything_lies_within_the_package(installed: Path) -> None:
    top_level = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert top_level == {"deepspeech"}
    assert (installed / "deepspeech/alphabet.txt").is_file()
    for library in ("_ctcdecoder", "_acoustic", "_training", "_standard_error"):
        assert list(installed.glob(f"deepspeech/{library}*.so"))
    assert (installed / "deepspeech/util/corpus.py").is_file()
    assert (installed / "deepspeech/data/demo/grammar.txt").is_file()
    for name in ("index.html", "style.css", "main.js", "worklet.js"):
        assert (installed / f"deepspeech/serving/server/page/static/{name}").is_file()
    for name in ("demo", "digits", "yesno"):
        assert (installed / f"deepspeech/data/lm/{name}.arpa").is_file()


def test_the_licenses_of_all_that_is_compiled_come_with_it(installed: Path) -> None:
    (ours,) = installed.glob("deepspeech-*.dist-info/licenses/LICENSE")
    assert "Apache License" in ours.read_text(encoding="utf-8")
    kenlm = installed / "deepspeech/licenses/kenlm"
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in (kenlm / "COPYING").read_text(encoding="utf-8")
    assert "double-conversion" in (kenlm / "LICENSE").read_text(encoding="utf-8")
    assert "Redistribution" in (kenlm / "util/double-conversion/LICENSE").read_text(encoding="utf-8")


def test_programs_that_use_it_can_be_type_checked(installed: Path) -> None:
    for name in ("py.typed", "_ctcdecoder.pyi", "_acoustic.pyi"):
        assert (installed / "deepspeech" / name).is_file()


def test_serving_needs_few_packages_and_no_library_but_the_systems(installed: Path) -> None:
    (metadata,) = installed.glob("deepspeech-*.dist-info/METADATA")
    lines = metadata.read_text(encoding="utf-8").splitlines()
    required = [
        line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist: ") and "extra ==" not in line
    ]
    packages = {requirement.partition("<")[0].partition(">")[0] for requirement in required}
    assert packages == {"kaldi-native-fbank", "numpy", "pyxdg", "soundfile", "soxr"}
    assert {*re.findall(r"Python :: 3\.(\d+)", "\n".join(lines))} == {"10", "11", "12", "13", "14"}
    for library in installed.glob("deepspeech/_*.so"):
        shown = subprocess.run(
            ["readelf", "--dynamic", str(library)], capture_output=True, text=True, check=True
        ).stdout
        needed = {name.partition(".so")[0] for name in re.findall(r"NEEDED.*\[(.*)\]", shown)}
        assert needed <= {"libstdc++", "libm", "libgcc_s", "libc", "libpthread", "ld-linux-x86-64", "ld-linux-aarch64"}


def test_it_imports_corpora_where_there_is_no_checkout(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample/LDC93S1.wav").write_bytes(b"RIFF")
    (tmp_path / "sample/LDC93S1.txt").write_text("0 800 She had.\n")
    program = """
from pathlib import Path
from deepspeech.util.importing import import_corpus
from deepspeech.util.importing.demo import make_corpus
import_corpus("ldc93s1", Path("one"), Path("sample"), print)
make_corpus(Path("demo"), print, sizes={"train": 2, "dev": 1, "test": 1})
"""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-c", program]
    finished = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.splitlines() == [
        "one/ldc93s1.csv: 1 utterance",
        "demo: 2 train, 1 dev and 1 test utterances",
    ]


def test_it_runs_beside_a_users_own_util_and_data(installed: Path, trained: Trained, tmp_path: Path) -> None:
    (tmp_path / "util.py").write_text("raise AssertionError('a user module was imported')\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/alphabet.txt").write_text("x\n")
    corpus = trained.program.corpus
    environment = {**os.environ, "PYTHONPATH": str(installed)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "deepspeech", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    where = subprocess.run(
        [sys.executable, "-c", "import deepspeech.util.text as text; print(text.__file__)"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert where.stdout.startswith(str(installed)), where.stderr
    common = ["--n_hidden=16", "--checkpoint_dir=checkpoints"]  # with the packaged alphabet, not data/alphabet.txt
    finished = run(f"--train_files={corpus.train}", "--epoch=1", f"--test_files={corpus.test}", *common)
    assert finished.returncode == 0, finished.stderr
    assert "Test: loss" in finished.stderr
    assert "slower" not in finished.stderr
    wav = next((corpus.train.parent / "wav").glob("*.wav"))
    assert run(f"--one_shot_infer={wav}", *common).returncode == 0


def test_speech_is_transcribed_and_a_graphs_weights_are_shown_without_what_training_needs(
    installed: Path, graph_file: Path, recordings: list[Path], tmp_path: Path
) -> None:
    program = """
import sys
from importlib.abc import MetaPathFinder
missing = sys.argv[1].split(",")
class Missing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from deepspeech import commands
assert commands.__file__.startswith(sys.argv[2]), commands.__file__
command = getattr(commands, sys.argv[3])
del sys.argv[1:4]
sys.exit(command())
"""
    environment = {**os.environ, "PYTHONPATH": str(installed)}

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        without = ",".join([*PACKAGES_OF_TRAINING, "sentencepiece"])
        command = [sys.executable, "-c", program, without, str(installed), *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    (tmp_path / "in").mkdir()
    for path in recordings[:2]:
        shutil.copy(path, tmp_path / "in")
    transcribed = run("transcribe", "--model", graph_file, "--audio", tmp_path / "in", "--json")
    assert transcribed.returncode == 0, transcribed.stderr
    assert len(transcribed.stdout.splitlines()) == 2
    shown = run("weights", "show", graph_file)
    assert shown.stdout.startswith(f"{graph_file}: network deepspeech"), shown.stderr
    assert run("weights", "compare", graph_file, graph_file).returncode == 0
    for name in ("train", "evaluate", "calibrate"):
        helped = run(name, "--help")
        assert (helped.returncode, helped.stderr) == (0, "") and "_files" in helped.stdout
    (tmp_path / "test.csv").write_text(f"wav_filename,wav_filesize,transcript\n{recordings[0]},1,a\n")
    for command in (
        ["train", "--test_files", "test.csv"],
        ["evaluate", "--model", graph_file, "--test_files", "test.csv"],
        ["calibrate", "--model", graph_file, "--dev_files", "missing.csv"],
        ["weights", "export", graph_file, "weights.h5"],
    ):
        refused = run(*command)
        assert refused.returncode == 1
        (line,) = refused.stderr.splitlines()
        assert "pip install '.[train]'" in line


@pytest.mark.parametrize(
    "start",
    [
        "from deepspeech.cli.train import main; sys.exit(main(['--test_files=test.csv', '--checkpoint_dir=made']))",
        "import deepspeech.commands; sys.exit(deepspeech.commands.evaluate())",
        "import deepspeech.commands; sys.exit(deepspeech.commands.align())",
    ],
)
def test_source_without_native_code_says_what_to_do(installed: Path, tmp_path: Path, start: str) -> None:
    shutil.copytree(installed / "deepspeech", tmp_path / "deepspeech", ignore=shutil.ignore_patterns("*.so"))
    program = (
        "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'Editable' not in getattr(f, '__name__', '')];"
        + start
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", program]  # without the finder of an editable install, which knows the native code
    finished = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert finished.returncode == 1
    assert "source without its native code; run `make`" in finished.stderr
    assert len(finished.stderr.splitlines()) == 1
