"""The files in a folder after an export that replaces an older one."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from pathlib import Path

import pytest
from running import files_no_larger_than

from deepspeech.errors import ExportError
from deepspeech.export.folder import write_export
from deepspeech.export.formats import FORMATS
from deepspeech.options.export import EXPORT_FORMATS

SHERPA = FORMATS["sherpa"]
OLD = {"model.onnx": b"old", "model-streaming.onnx": b"old", "tokens.txt": b"old"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_export(tmp_path, OLD, "old", remove=False, others=SHERPA.others)
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_format_that_the_flag_accepts_has_a_module() -> None:
    assert {*FORMATS} == {*EXPORT_FORMATS}
    assert all(find_spec(f"deepspeech.export.{each.module}") for each in FORMATS.values())


def test_an_export_that_has_no_space_changes_nothing(folder: Path) -> None:
    before = content(folder)
    new = {"model.onnx": b"new", "tokens.txt": b"new", "model-streaming.onnx": bytes(5000)}
    told = r"cannot be written \(model-streaming\.onnx: File too large\); nothing was changed"
    with files_no_larger_than(4096), pytest.raises(ExportError, match=told):
        write_export(folder, new, "new", remove=False, others=SHERPA.others)
    assert content(folder) == before


def test_an_export_whose_place_is_taken_by_a_folder_changes_nothing(folder: Path) -> None:
    (folder / "tokens.txt").unlink()
    before = content(folder)
    (folder / "tokens.txt").mkdir()
    with pytest.raises(ExportError, match=r"cannot be written \(tokens\.txt: Is a directory\); nothing was changed"):
        write_export(folder, {"model.onnx": b"new", "tokens.txt": b"new"}, "new", remove=False)
    (folder / "tokens.txt").rmdir()
    assert content(folder) == before


def test_what_an_export_that_was_killed_has_left_keeps_nobody_from_replacing_it(folder: Path) -> None:
    for name in (".model.onnx.part-4711", ".model.md.part-12"):
        (folder / name).write_bytes(b"half")
    write_export(folder, {"model.onnx": b"new"}, "new", remove=True)
    assert content(folder) == {"model.onnx": b"new", "model.md": b"new"}
    (folder / ".thesis.tex.part-12").write_bytes(b"half")
    with pytest.raises(ExportError, match=r"it also holds '\.thesis\.tex\.part-12'"):
        write_export(folder, {"model.onnx": b"new"}, "new", remove=True)


def test_an_export_replaces_an_older_one_in_the_current_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    write_export(Path(), {"model.onnx": b"new"}, "new", remove=True)
    assert Path.cwd() == folder
    assert content(Path()) == {"model.onnx": b"new", "model.md": b"new"}


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_what_only_has_the_name_of_an_exported_file_is_not_removed(folder: Path, kind: str) -> None:
    other = folder.parent / f"{folder.name} of somebody"
    other.mkdir()
    (other / "thesis.tex").write_text("mine")
    place = folder / "output_graph.pb"
    if kind == "folder":
        other.rename(place)
    else:
        place.symlink_to(other / "thesis.tex")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(ExportError, match=r"'output_graph\.pb' in it is a link or a folder; remove it yourself"):
        write_export(folder, {"model.onnx": b"new"}, "new", remove=True)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_files_of_the_format_that_the_new_model_lacks_are_removed(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "notes.txt").write_text("mine")
    with caplog.at_level(logging.INFO):
        write_export(folder, {"model.onnx": b"new", "tokens.txt": b"new"}, "new", remove=False, others=SHERPA.others)
    assert content(folder) == {"model.onnx": b"new", "tokens.txt": b"new", "model.md": b"new", "notes.txt": b"mine"}
    assert [record.message for record in caplog.records] == [
        f"{folder / 'model-streaming.onnx'}: removed, as it belongs to an older export, and this model has no such file"
    ]


@pytest.mark.parametrize("remove", [True, False])
def test_a_link_to_the_folder_of_an_export_stays_a_link(tmp_path: Path, remove: bool) -> None:
    link, folder = tmp_path / "model", tmp_path / "disk/model"
    link.symlink_to(folder)
    folder.parent.mkdir()
    for content in (b"first", b"second"):
        write_export(link, {"model.onnx": content}, "card", remove=remove)
        assert (folder / "model.onnx").read_bytes() == content
    assert link.is_symlink()
    assert [path.name for path in folder.parent.iterdir()] == ["model"]
