"""Imports go one way, so that a room can be read without those that build on it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "deepspeech"

BASE = {"util", "errors", "options"}
ALLOWED: dict[str, set[str]] = {
    "util": set(),
    "errors": {"util"},
    "options": {"util", "errors"},
    "decoder": BASE,
    "schedule": BASE,
    "network": BASE,
    "serving": {
        *("util", "errors", "decoder", "options.export"),
        *("network.description", "network.deepspeech", "network.serialization"),
    },
    "checkpoints": BASE | {"network", "schedule", "serving.frozen"},
    "experiments": BASE,
    "training": BASE | {"decoder", "network", "schedule", "checkpoints"},
    "export": BASE | {"network", "schedule", "checkpoints", "serving.frozen"},
    "cluster": BASE | {"decoder", "network", "schedule", "checkpoints", "training"},
    "cluster.coordination": BASE | {"schedule"},
}
"""What each room may import beside itself; `cli` and the entry points at the root may import everything."""

ENTRY_POINTS = {
    *("__init__", "__main__", "commands"),
    *("align", "calibrate", "cut_words", "evaluate"),
    *("compare_params", "compare_reports", "import_corpus", "write_shards"),
}

FREE_OF_TENSORFLOW = (
    *("cli", "decoder", "errors", "experiments", "options", "schedule", "serving", "util", "cluster.coordination"),
    *("cluster.addresses", "cluster.http", "cluster.schedulers"),
    *("network.description", "network.deepspeech", "network.registry", "network.frozen.supported"),
    *("network.serialization", "checkpoints.flag_check", "export.folder", "export.formats", "checkpoints.identity"),
    *(
        f"checkpoints.weights.{name}"
        for name in ("comparison", "figures", "finite", "fitting", "hdf5", "model_weights")
    ),
)
FREE_OF_INPUT_AND_OUTPUT = ("schedule", "cluster.coordination")
INPUT_AND_OUTPUT = {
    "asyncio",
    "http",
    "io",
    "os",
    "pathlib",
    "random",
    "shutil",
    "socket",
    "subprocess",
    "sys",
    "threading",
}
INPUT_AND_OUTPUT |= {"tempfile", "time", "urllib"}


def sources() -> list[Path]:
    return sorted([*PACKAGE.glob("*.py"), *PACKAGE.glob("[a-z]*/**/*.py"), *(ROOT / "util").rglob("*.py")])


def module_of(source: Path) -> str:
    """Return the module's name below the package: `training.towers`."""
    relative = source.relative_to(ROOT if (ROOT / "util") in source.parents else PACKAGE)
    return ".".join(relative.with_suffix("").parts).removesuffix(".__init__")


def imports(source: Path, *, all_levels: bool = True) -> Iterator[str]:
    """Yield what a file imports: modules of the package as `.training.towers`, others as `numpy.typing`."""
    package = [*module_of(source).split("."), ""] if source.name == "__init__.py" else module_of(source).split(".")
    if source == PACKAGE / "__init__.py":
        package = ["__init__"]
    tree = ast.parse(source.read_text(encoding="utf-8"))
    nodes = ast.walk(tree) if all_levels else ast.iter_child_nodes(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level]
            if node.module:
                yield "." + ".".join([*base, node.module])
            else:
                yield from ("." + ".".join([*base, alias.name]) for alias in node.names)


def is_in(module: str, rooms: set[str]) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


def test_every_room_has_a_rule() -> None:
    rooms = {module_of(source).partition(".")[0] for source in sources()} - {""}
    assert rooms - ENTRY_POINTS - {"cli"} == {room for room in ALLOWED if "." not in room}


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_imports_only_those_before_it(room: str) -> None:
    allowed = ALLOWED[room] | {room}
    wrong = [
        f"{module_of(source)} imports {target[1:]}"
        for source in sources()
        if is_in(module_of(source), {room})
        for target in imports(source)
        if target.startswith(".") and not is_in(target[1:], allowed)
        if not target.startswith("._") and target != ".__version__"
    ]
    assert not wrong


def test_what_needs_no_tensorflow_does_not_import_it() -> None:
    wrong = [
        module_of(source)
        for source in sources()
        if is_in(module_of(source), set(FREE_OF_TENSORFLOW))
        if any(target.partition(".")[0] == "tensorflow" for target in imports(source, all_levels=False))
    ]
    assert not wrong


def test_a_model_is_used_without_loading_the_trainer() -> None:
    rooms = [f"deepspeech.{room}" for room in ("training", "options.training", "util.importing", "util.augmentation")]
    code = (
        "import sys; from deepspeech import Model; import deepspeech.cli.transcribe; assert Model;"
        f"print([name for name in sys.modules if name.startswith({(*rooms, 'deepspeech.util.checks')!r})])"
    )
    process = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert process.stdout == "[]\n"


def test_the_state_machines_do_no_input_or_output() -> None:
    wrong = [
        f"{module_of(source)} imports {target}"
        for source in sources()
        if is_in(module_of(source), set(FREE_OF_INPUT_AND_OUTPUT))
        for target in imports(source)
        if target.partition(".")[0] in INPUT_AND_OUTPUT
    ]
    assert not wrong


def test_util_does_not_know_the_package() -> None:
    outside = [
        f"{module_of(source)} imports {target}"
        for source in sources()
        if is_in(module_of(source), {"util"})
        for target in imports(source)
        if target.startswith("deepspeech") or (target.startswith(".") and not target.startswith(".util"))
    ]
    assert not outside
