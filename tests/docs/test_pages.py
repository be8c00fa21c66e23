"""The pages: their links lead somewhere, each can be found, and the flags, files and modules that they name exist."""

import ast
import os
import re
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from deepspeech.cli import server, transcribe
from deepspeech.options import Options, flags_of
from deepspeech.serving.endpointing import EndpointRules
from deepspeech.serving.server.options import Limits

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = {"flag", "noflag"}
"""What stands for any flag."""

OURS = re.compile(r"`((?:--|deepspeech|python -m|bin/)[^`\n]*)`")
"""Flags, and commands of ours, in the text."""
FILE = re.compile(r"`((?:benchmarks|deploy|docs|examples|native_client|tests|util)/[\w./-]*)`")
BUILT = {"native_client/generate_scorer", "native_client/generate_trie"}
MODULE = re.compile(r"python -m ((?:benchmarks|deepspeech)(?:\.\w+)*)")
FLAG = re.compile(r"(?<![\w-])--([a-z][a-z0-9_]*[a-z0-9])(?![\w-])")


def text_of(page: Path) -> str:
    """Return the page without what stands in fences."""
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that a page's headlines have where it is shown."""
    headlines: list[str] = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", each) for each in headlines)
    return {re.sub(r"[^\w\- ]", "", each.strip().lower()).replace(" ", "-") for each in plain}


def links_of(page: Path) -> list[tuple[Path, str]]:
    """Return the files that a page links to, each with the anchor in it, which may be empty."""
    targets: list[str] = re.findall(r"\]\(([^)\s]+)\)", text_of(page))
    split = (target.partition("#") for target in targets if "://" not in target)
    return [((page.parent / name).resolve() if name else page, anchor) for name, _, anchor in split]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_what_is_there(page: Path) -> None:
    for target, anchor in links_of(page):
        assert target.exists(), target
        assert not anchor or anchor in anchors_of(target), f"{target.name}#{anchor}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [README]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            waiting.extend(target for target, _ in links_of(page))
    assert reached >= set(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_and_modules_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in set(FILE.findall(text)) - BUILT:
        assert (ROOT / name).exists(), name
    for name in MODULE.findall(text):
        assert name == "benchmarks.NAME" or find_spec(name) is not None, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_scripts_that_a_page_starts_by_name_can_be_executed(page: Path) -> None:
    for name in re.findall(r"^ *(?:[A-Z_]+=\S+ +)*(bin/[\w./-]+)", page.read_text(encoding="utf-8"), re.MULTILINE):
        assert os.access(ROOT / name, os.X_OK), name


def python_names_on(text: str) -> set[tuple[str, str]]:
    """Return what a page takes from modules: pairs of a module and a name in it."""
    named = {(module, name) for name, module in re.findall(r"`(\w+)`\s+of\s+`(deepspeech[\w.]+)`", text)}
    for module, names in re.findall(r"^ *from (deepspeech[\w.]*) import (.*)$", text, re.MULTILINE):
        named |= {(module, name) for name in names.split(", ")}
    for dotted in re.findall(r"`(deepspeech(?:\.\w+)+(?<!\.h)(?<!\.py))(?:\(.*?\))?`", text):
        module, _, name = dotted.rpartition(".")
        named.add((module, name))
    return named


def has_name(module: str, name: str) -> bool:
    """Tell whether a module defines or imports a name, or is a package with a module of this name; do not run it."""
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None, module
    defined: set[str] = set()
    for node in ast.walk(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.alias):
            defined.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
    return name in defined or (
        spec.submodule_search_locations is not None and find_spec(f"{module}.{name}") is not None
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_names_on_a_page_exist(page: Path) -> None:
    for module, name in python_names_on(page.read_text(encoding="utf-8")):
        assert has_name(module, name), f"{module}.{name}"


@pytest.fixture(scope="module")
def known() -> set[str]:
    """Return the flags of all programs: those that follow from dataclasses, and what else is given to a parser."""
    rows = [row for row in flags_of(Options) if row.on_command_line]
    names = {row.name for row in rows} | {each.name for each in fields(Limits)}
    names |= {f"endpoint_{each.name}" for each in fields(EndpointRules)}
    names |= {f"no{row.name}" for row in rows if row.kind is bool}
    for folder in ("deepspeech", "bin", "benchmarks", "tests"):
        for source in (ROOT / folder).rglob("*.py"):
            names |= set(re.findall(r"\"--([a-z][a-z0-9_]*)\"", source.read_text(encoding="utf-8")))
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_flag_that_a_page_names_exists(page: Path, known: set[str]) -> None:
    code = " ".join(OURS.findall(text_of(page)))
    assert set(FLAG.findall(code)) <= known | EXAMPLES


@pytest.mark.parametrize(
    ("command", "pages"),
    [(transcribe, ["inference", "utterances"]), (server, ["server", "server_page"])],
    ids=["deepspeech", "deepspeech-server"],
)
def test_every_flag_of_what_uses_a_model_is_on_its_pages(
    command: ModuleType, pages: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.main(["--help"])
    flags = set(FLAG.findall(capsys.readouterr().out)) - {"help", "version"}
    texts = [(ROOT / f"docs/{name}.md").read_text(encoding="utf-8") for name in pages]
    named = {flag for text in texts for flag in FLAG.findall(text)}
    assert len(flags) > 15
    assert flags <= named
