"""Build the C++ code of the package: the decoder, the kernels of serving and of training, and a stream of C's.

Everything else about the package is in pyproject.toml.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from pybind11.setup_helpers import ParallelCompile, Pybind11Extension, build_ext
from setuptools import Extension, setup

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "native_client"))

from kenlm_source import KenlmSourceError, kenlm_source  # noqa: E402

KENLM_MAX_ORDER = 6


def library_sources(kenlm: Path) -> list[Path]:
    """Return the source files of KenLM's query library, without its programs and tests."""
    folders = ("lm", "util", "util/double-conversion")
    files = (path for folder in folders for path in sorted((kenlm / folder).glob("*.cc")))
    return [path for path in files if not path.name.endswith(("main.cc", "test.cc"))]


def headers() -> list[Path]:
    """Return every file that C++ files of ours include."""
    return sorted(path for path in (ROOT / "native_client").rglob("*.*") if path.suffix in (".h", ".inc"))


def needs_recompile(object_file: str, source: str) -> bool:
    """Return whether an object file is out of date.

    Each of our sources depends on all of our headers; KenLM's sources never change.
    """
    if not Path(object_file).exists():
        return True
    inputs = [Path(source)]
    if "native_client" in inputs[0].parts:
        inputs += headers()
    return Path(object_file).stat().st_mtime < max(path.stat().st_mtime for path in inputs)


def from_here(path: Path) -> str:
    """Return a path from the current folder, or the whole path of a file elsewhere.

    The object file of `../x.cc` would lie beside `build_temp`, that of `/a/x.cc` lies in its folder `a`.
    """
    relative = os.path.relpath(path)
    return str(path.resolve()) if relative.startswith(os.pardir) else relative


def copy_licenses(kenlm: Path, folder: Path) -> None:
    """Copy KenLM's licenses, which ask for it wherever its compiled code goes."""
    for name in ("LICENSE", "COPYING", "util/double-conversion/LICENSE"):
        if (kenlm / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(kenlm / name, folder / name)


class BuildNative(build_ext):
    """Fetches KenLM before the build, so that commands which build nothing need no network."""

    def finalize_options(self) -> None:
        """Keep object files in one place, so that what an editable install has compiled is not compiled again."""
        super().finalize_options()
        self.build_temp = f"build/temp.{self.plat_name}-{sys.implementation.cache_tag}"

    def build_extension(self, extension: Extension) -> None:
        """Compile what changed, on all cores."""
        if extension is decoder:
            self.add_kenlm(extension)
        super().build_extension(extension)

    def add_kenlm(self, extension: Extension) -> None:
        """Compile KenLM's query library without warnings, which are its authors' concern, and add it to `extension`."""
        try:
            kenlm = kenlm_source(ROOT / "build/kenlm")
        except KenlmSourceError as error:
            sys.exit(f"error: {error}")
        extension.extra_objects += self.compiler.compile(
            [from_here(path) for path in library_sources(kenlm)],
            output_dir=self.build_temp,
            macros=extension.define_macros,
            include_dirs=[str(kenlm)],
            extra_postargs=[*extension.extra_compile_args, "-w"],
        )
        extension.extra_compile_args += ["-isystem", str(kenlm)]
        if not self.inplace:
            copy_licenses(kenlm, Path(self.build_lib) / "deepspeech/licenses/kenlm")


def sources(*folders: str) -> dict[str, list[str]]:
    """Return the arguments that tell an extension its C++ files, those of the given folders of native_client/."""
    files = [path for folder in folders for path in sorted((ROOT / "native_client" / folder).glob("*.cc"))]
    return {
        "sources": [os.path.relpath(path) for path in files],
        "depends": [os.path.relpath(path) for path in headers()],
        "include_dirs": ["native_client"],
    }


WARNINGS = ["-Wall", "-Wextra", "-Wno-psabi"]

decoder = Pybind11Extension(
    "deepspeech._ctcdecoder",
    **sources("decoder", "language_model", "shared"),
    define_macros=[("KENLM_MAX_ORDER", str(KENLM_MAX_ORDER)), ("NDEBUG", None)],
    extra_compile_args=["-O3", *WARNINGS],
    cxx_std=17,
)

acoustic = Pybind11Extension(
    "deepspeech._acoustic",
    **sources("acoustic", "acoustic/layers", "acoustic/plan", "acoustic/python", "shared"),
    extra_compile_args=["-O3", *WARNINGS],
    cxx_std=17,
)

# Found by TensorFlow, not by Python: TensorFlow's functions are looked up when it is loaded.
training = Extension(
    "deepspeech._training",
    **sources("training", "shared"),
    extra_compile_args=["-std=c++17", "-O3", *WARNINGS, "-fvisibility=hidden"],
    extra_link_args=["-pthread"],
    language="c++",
)

# Found by its path: util/files/quiet_mpg123.py looks up its function.
standard_error = Extension(
    "deepspeech._standard_error",
    **sources("standard_error"),
    extra_compile_args=["-std=c++17", "-O3", *WARNINGS, "-fvisibility=hidden"],
    language="c++",
)

ParallelCompile("DEEPSPEECH_BUILD_JOBS", default=os.cpu_count() or 1, needs_recompile=needs_recompile).install()
setup(ext_modules=[decoder, acoustic, training, standard_error], cmdclass={"build_ext": BuildNative})
