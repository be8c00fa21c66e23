"""Build the native decoder; everything else about the package is in pyproject.toml."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pybind11.setup_helpers import ParallelCompile, Pybind11Extension, build_ext
from setuptools import Extension, setup

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "native_client"))

from kenlm_source import KenlmSourceError, kenlm_source  # noqa: E402

KENLM_MAX_ORDER = 6


def library_sources(kenlm: Path) -> list[Path]:
    """KenLM's query library, without its programs and tests."""
    folders = ("lm", "util", "util/double-conversion")
    files = (path for folder in folders for path in sorted((kenlm / folder).glob("*.cc")))
    return [path for path in files if not path.name.endswith(("main.cc", "test.cc"))]


def needs_recompile(object_file: str, source: str) -> bool:
    """Our sources are also recompiled when one of our headers changed; KenLM's never change."""
    if not Path(object_file).exists():
        return True
    inputs = [Path(source)]
    if "native_client" in inputs[0].parts:
        inputs += [path for path in (ROOT / "native_client").rglob("*.*") if path.suffix in (".h", ".inc")]
    return Path(object_file).stat().st_mtime < max(path.stat().st_mtime for path in inputs)


class BuildDecoder(build_ext):
    """Fetches KenLM before the build, so that commands which build nothing need no network."""

    def build_extension(self, extension: Pybind11Extension) -> None:
        """Compile what changed, on all cores."""
        if extension is not decoder:
            super().build_extension(extension)
            return
        try:
            kenlm = kenlm_source(ROOT / "build/kenlm")
        except KenlmSourceError as error:
            sys.exit(f"error: {error}")
        extension.sources += [os.path.relpath(path) for path in library_sources(kenlm)]
        extension.extra_compile_args += ["-isystem", str(kenlm)]
        super().build_extension(extension)


decoder = Pybind11Extension(
    "deepspeech._ctcdecoder",
    sorted(os.path.relpath(path) for path in (ROOT / "native_client").glob("*.cc")),
    depends=sorted(os.path.relpath(path) for path in (ROOT / "native_client").glob("*.h")),
    include_dirs=["native_client"],
    define_macros=[("KENLM_MAX_ORDER", str(KENLM_MAX_ORDER)), ("NDEBUG", None)],
    extra_compile_args=["-O3", "-Wall", "-Wextra"],
    cxx_std=17,
)

acoustic = Pybind11Extension(
    "deepspeech._acoustic",
    sorted(os.path.relpath(path) for path in (ROOT / "native_client/acoustic").glob("*.cc")),
    depends=sorted(os.path.relpath(path) for path in (ROOT / "native_client/acoustic").glob("*.[hi]*")),
    extra_compile_args=["-O3", "-Wall", "-Wextra", "-Wno-psabi"],
    cxx_std=17,
)

# Found by TensorFlow, not by Python: TensorFlow's functions are looked up when it is loaded.
training = Extension(
    "deepspeech._training",
    sorted(os.path.relpath(path) for path in (ROOT / "native_client/training").glob("*.cc")),
    depends=sorted(os.path.relpath(path) for path in (ROOT / "native_client/training").glob("*.[hi]*")),
    extra_compile_args=["-std=c++17", "-O3", "-Wall", "-Wextra", "-Wno-psabi", "-fvisibility=hidden"],
    extra_link_args=["-pthread"],
    language="c++",
)

ParallelCompile("DEEPSPEECH_BUILD_JOBS", default=os.cpu_count() or 1, needs_recompile=needs_recompile).install()
setup(ext_modules=[decoder, acoustic, training], cmdclass={"build_ext": BuildDecoder})
