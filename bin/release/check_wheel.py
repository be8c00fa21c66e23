#!/usr/bin/env python3
"""Install a wheel without a compiler and a network, and use it.

    check_wheel.py WHEEL --python PYTHON [--extra server]... [--model output_graph.pb --audio recording.wav]

Downloads the wheels of the dependencies, makes a new virtual environment whose PATH has only its own programs, and
installs all wheels there with `pip install --no-index`. Then it loads the native modules, and transcribes the
recording. Prints the installed packages by size, the time of the import, and the transcript. Ends with exit code 1 if
something fails.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MEGABYTE = 1_000_000
STARTS = 5
"""The number of starts of Python for the median time of an import."""
USES = """
from deepspeech import Model, _acoustic, _ctcdecoder
print("native modules:", *sorted(module.__name__ for module in (_acoustic, _ctcdecoder)))
"""


def main() -> None:
    """Check the wheel of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="a wheel that bin/release/build_wheels.py made")
    parser.add_argument("--python", required=True, help="the Python that it is for")
    parser.add_argument("--extra", action="append", default=[], help="an extra to install, too; may be repeated")
    parser.add_argument("--model", type=Path, help="an exported graph")
    parser.add_argument("--audio", type=Path, help="a recording to transcribe with it")
    arguments = parser.parse_args()
    if (arguments.model is None) != (arguments.audio is None):
        parser.error("--model and --audio are given together")
    try:
        check(arguments)
    except OSError as error:
        sys.exit(f"{Path(__file__).name}: error: {error.filename}: {error.strerror}")
    except subprocess.CalledProcessError as error:  # which has said why
        sys.exit(f"{Path(__file__).name}: error: {' '.join(error.cmd)} ended with exit code {error.returncode}")


def check(arguments: argparse.Namespace) -> None:
    """Install the wheel and use it. Raise OSError for a file or Python that does not exist."""
    wheel = arguments.wheel.resolve(strict=True)
    with tempfile.TemporaryDirectory(prefix="deepspeech-check-") as folder:
        clean = Installed(Path(folder), arguments.python)
        clean.install(wheel, arguments.extra)
        print(clean.run("python", "-c", USES), end="")
        print(sizes(clean.site_packages()))
        print(f"from deepspeech import Model: {clean.seconds_of_import():.2f} s (processor, median of {STARTS} starts)")
        if arguments.model is not None:
            print(clean.run("deepspeech", "--model", arguments.model.resolve(), "--audio", arguments.audio.resolve()))


class Installed:
    """A new virtual environment in `folder`, without access to compilers, the network and other packages."""

    def __init__(self, folder: Path, python: str) -> None:
        self._folder = folder
        self._programs = folder / "environment/bin"
        subprocess.run([python, "-m", "venv", str(folder / "environment")], check=True)

    def install(self, wheel: Path, extras: list[str]) -> None:
        """Install the wheel with its dependencies, which are downloaded beforehand.

        Some are published without a wheel, as python_speech_features is. Theirs is made here, also without a compiler.
        """
        wheels = self._folder / "wheels"
        wanted = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
        pip = (str(self._programs / "python"), "-m", "pip", "wheel", "--quiet", "--use-pep517")
        without_compilers = {**os.environ, "PATH": str(self._programs)}
        subprocess.run([*pip, "--wheel-dir", str(wheels), wanted], check=True, env=without_compilers)
        self.run("python", "-m", "pip", "install", "--quiet", "--no-index", "--find-links", wheels, wanted)

    def run(self, program: str, *arguments: object) -> str:
        """Return the output of a program of the environment; if it fails, exit with its message."""
        command = [str(self._programs / program), *map(str, arguments)]
        finished = subprocess.run(command, cwd=self._folder, env=self._environment(), capture_output=True, text=True)
        if finished.returncode:
            sys.exit(f"{program} ended with exit code {finished.returncode}:\n{finished.stdout}{finished.stderr}")
        return finished.stdout

    def site_packages(self) -> Path:
        """Return the folder that packages are installed into."""
        return Path(self.run("python", "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip())

    def seconds_of_import(self) -> float:
        """Return the median processor time of a start that imports the recognizer, minus that of a start without."""
        return self._seconds("from deepspeech import Model") - self._seconds("pass")

    def _seconds(self, statement: str) -> float:
        def once() -> float:
            began = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.run("python", "-c", statement)
            ended = resource.getrusage(resource.RUSAGE_CHILDREN)
            return ended.ru_utime - began.ru_utime + ended.ru_stime - began.ru_stime

        return statistics.median(once() for _ in range(STARTS))

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ("LANG", "LC_ALL", "TMPDIR")}
        return {**kept, "PATH": str(self._programs), "HOME": str(self._folder), "PIP_CONFIG_FILE": os.devnull}


def sizes(site_packages: Path) -> str:
    """Return a line with the size in megabytes of all installed packages except pip, the largest first.

    Bytecode, which Python makes and may leave out, does not count.
    """
    folders = {
        path.name: sum(file.stat().st_size for file in path.rglob("*") if file.is_file() and file.suffix != ".pyc")
        / MEGABYTE
        for path in site_packages.iterdir()
        if path.is_dir() and path.name.partition("-")[0] not in ("pip", "setuptools", "pkg_resources")
    }
    largest = sorted(folders.items(), key=lambda item: -item[1])[:8]
    return f"installed: {sum(folders.values()):.0f} MB: " + ", ".join(f"{name} {size:.0f}" for name, size in largest)


if __name__ == "__main__":
    main()
