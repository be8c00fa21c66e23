"""The parameters that determine a run's result, as they are written to its `params.txt` and read back.

Paths in the work folder, and paths of the data that come with the program, are written as `{work}/…` and `{data}/…`, so
that they depend neither on the place of the run nor on that of the installation.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ...util.augmentation.registry import with_whole_source
from ...util.errors import ParametersError
from ...util.files.packaged_data import DATA
from ...util.storage.copies import named_for_all
from ..rows.flag import Flag, flags_of, items_of
from ..rows.values import NAME_IN_FILE, Value
from ..run import Options
from . import text


def run_parameters(options: Options) -> dict[str, text.Value]:
    """Return the parameters that determine the result of a run, by the names of the flags."""
    places = _places(options.experiment.work)
    written = {
        row.name: _written(float(value) if row.kind is float and isinstance(value, int) else value, places)
        for row, value in items_of(options)
        if row.decides_result
    }
    beginning = options.checkpoints.load_directory if options.checkpoints.begins_elsewhere else None
    return {
        **written,
        "augment": tuple(map(with_whole_source, options.augmentation.written)),
        "load_checkpoint_dir": _written(
            beginning, {}
        ),  # as an absolute path: another work folder has no such checkpoint
    }


def values_of_parameters(read: Mapping[str, text.Value], work: Path | None, source: Path) -> dict[str, Value]:
    """Return the values of flags from the parameters that were read from the file `source`.

    Raise ParametersError for a name that no flag has, a value of another type than the flag's, or a path in a work
    folder if `work` is None.
    """
    rows = {row.name: row for row in flags_of(Options) if row.decides_result}
    places, named = _places(work), named_for_all(source)
    values = {}
    for name, value in read.items():
        if name not in rows:
            raise ParametersError(f"{named}: {name}: there is no such parameter; was it written by another version?")
        values[name] = _read(rows[name], value, places, named)
    return values


def _places(work: Path | None) -> dict[str, Path]:
    return {"{data}": DATA, **({"{work}": work} if work else {})}


def _written(value: Value, places: Mapping[str, Path]) -> text.Value:
    if isinstance(value, tuple):
        return tuple(_written(each, places) for each in value)
    if isinstance(value, str) and NAME_IN_FILE.fullmatch(value):
        file, _, name = value.rpartition(":")
        return f"{Path(file).resolve()}:{name}"
    if not isinstance(value, Path):
        return value
    resolved = value.resolve()
    for place, folder in ((place, folder.resolve()) for place, folder in places.items()):
        if resolved.is_relative_to(folder):
            return f"{place}/{resolved.relative_to(folder).as_posix()}"
    return named_for_all(resolved)


def _read(row: Flag, value: text.Value, places: Mapping[str, Path], source: str) -> Value:
    if row.kind == tuple[Path, ...] and not isinstance(value, tuple):  # in an earlier version, --from was one path
        value = () if value is None else (value,)
    if row.kind == tuple[Path, ...] and isinstance(value, tuple):
        return tuple(_path(row, each, places, source) for each in value)
    if row.kind == tuple[str, ...] and isinstance(value, tuple) and all(isinstance(each, str) for each in value):
        return tuple(map(str, value))
    if row.kind == Path | None:
        return None if value is None else _path(row, value, places, source)
    wanted = {float: (int, float), tuple[Path, ...]: (), tuple[str, ...]: ()}.get(row.kind, row.kind)
    if isinstance(value, wanted) and (row.kind is bool or not isinstance(value, bool)):
        with suppress(OverflowError):  # of a whole number that no float holds
            return float(value) if row.kind is float else value
    raise ParametersError(f"{source}: {row.name}: {value!r} is not a value of this parameter")


def _path(row: Flag, value: text.Value, places: Mapping[str, Path], source: str) -> Path:
    if not isinstance(value, str):
        raise ParametersError(f"{source}: {row.name}: {value!r} is not a path")
    place, _, rest = value.partition("/")
    if place not in ("{work}", "{data}"):
        return Path(value)
    if place not in places:
        raise ParametersError(f"{source}: {row.name}: is in a work folder; name one with --work")
    return places[place] / rest
