"""Show and compare weights, and copy them between files.

    deepspeech-weights show FILE [--histogram]
    deepspeech-weights export FILE OUTPUT.weights.h5
    deepspeech-weights import FILE FOLDER
    deepspeech-weights compare FILE OTHER

FILE is an HDF5 file of weights (.h5, also one of Keras), an exported graph (.pb, .pbmm) or its folder, a checkpoint, by
its name without extension, or a folder of checkpoints.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ...checkpoints.weights.comparison import differences
from ...checkpoints.weights.figures import BARS, PLAIN_BARS, lines_of
from ...checkpoints.weights.model_weights import (
    ModelWeights,
    graph_in,
    is_graph,
    is_hdf5,
    weights_of_graph,
    weights_of_hdf5,
)
from ...errors import CheckpointError, FlagError
from ...options.checkpoints import AUTOMATIC
from ...util.monitoring.log_lines import log_progress
from ..arguments import ArgumentParser, add_version_flag, output_path, run_command
from ..tensorflow_import import import_tensorflow

PROGRAM = "deepspeech-weights"

KINDS = "HDF5 (.h5, .hdf5), exported graphs (.pb, .pbmm) and checkpoints, by their names without extension or folders"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0, or 1 after an error; `compare`: 1 if weights differ, 2 after errors."""
    given = sys.argv[1:] if arguments is None else arguments
    log_progress()
    return run_command(lambda: _main(given), PROGRAM, failure=2 if [*given[:1]] == ["compare"] else 1)


def _main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    code: int = options.run(options)
    return code


class _CommandParser(ArgumentParser):
    """The parser of a subcommand, with the parameters that argparse passes; Python 3.14 passes further ones."""

    def __init__(self, prog: str, description: str, **_further: object) -> None:
        super().__init__(description, prog)


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(__doc__, PROGRAM)
    add_version_flag(parser)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_CommandParser)
    checkpoint = "checkpoint of a folder: best, last or its name (default: as for tests)"

    def add(name: str, run: object, description: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, description=description, help=description)
        command.add_argument("file", type=Path, metavar="FILE", help="file or folder with the weights")
        command.add_argument("--checkpoint", default=AUTOMATIC, help=checkpoint)
        command.set_defaults(run=run)
        return command

    show = add("show", _show, "print layers, shapes, numbers of parameters and statistics")
    show.add_argument("--histogram", action="store_true", help="draw the values of each weight, too")
    export = add("export", _export, "write the weights as HDF5")
    export.add_argument("output", type=output_path, metavar="OUTPUT", help="the file to write, such as mine.weights.h5")
    begin = add("import", _import, "write the weights as a checkpoint that training continues from")
    begin.add_argument("folder", type=output_path, metavar="FOLDER", help="folder of the checkpoint; must hold none")
    compare = add("compare", _compare, "print which weights differ, and by how much")
    compare.add_argument("other", type=Path, metavar="OTHER", help="file or folder with the other weights")
    compare.epilog = "The exit code is 0 if no weight differs, 1 if any does, and 2 after an error."
    return parser


def _show(options: argparse.Namespace) -> int:
    for line in lines_of(_read(options.file, options.checkpoint), bars=_bars() if options.histogram else ""):
        print(line)
    return 0


def _bars() -> str:
    """Return bars that can be written in the encoding of stdout."""
    try:
        BARS.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return PLAIN_BARS
    return BARS


def _export(options: argparse.Namespace) -> int:
    if not options.output.name.endswith((".h5", ".hdf5")):
        raise FlagError(f"{options.output}: the name of the file to write must end in .weights.h5 or .h5")
    from ...checkpoints.weights.hdf5 import write_hdf5

    source = _read(options.file, options.checkpoint)
    write_hdf5(options.output, source.layers, source.description)
    print(f"{options.output}: {len(source.values)} weights of {source.origin}")
    return 0


def _import(options: argparse.Namespace) -> int:
    source = _read(options.file, options.checkpoint)
    import_tensorflow()
    from ...checkpoints.weights.of_checkpoint import write_checkpoint

    print(f"{write_checkpoint(options.folder, source)}: {len(source.values)} weights of {source.origin}")
    return 0


def _compare(options: argparse.Namespace) -> int:
    one, other = (_read(path, options.checkpoint) for path in (options.file, options.other))
    lines = list(differences(one, other))
    for line in lines:
        print(line)
    return 1 if lines else 0


def _read(path: Path, checkpoint: str) -> ModelWeights:
    """Return the weights of a file of any kind; TensorFlow is imported only for a checkpoint."""
    path = graph_in(path)
    if is_graph(path):
        return weights_of_graph(path, str(path))
    if path.is_file() and path.suffix != ".index":
        if not is_hdf5(path):
            raise CheckpointError(f"{path}: weights are read from {KINDS}")
        return weights_of_hdf5(path, str(path))
    if not (path.is_dir() or path.with_name(path.name.removesuffix(".index") + ".index").exists()):
        raise CheckpointError(f"{path}: there is no such file, checkpoint or folder")
    import_tensorflow()
    from ...checkpoints.weights.of_checkpoint import weights_of_checkpoint_file

    return weights_of_checkpoint_file(path, checkpoint)
