"""Write the utterances of lists into tar shards, in WebDataset's layout, which training reads one after the other.

    python -m deepspeech.write_shards train.csv [more.csv …] --to shards/train [--shard_mb 500] [--seed 1]

The shards are shards/train-000000.tar and so on; --to may be an address, such as s3://bucket/shards/train. Recordings
are copied as they are, and a row that is a part of a recording becomes a FLAC file. The utterances are shuffled, as
training only mixes those of a few successive shards. At the end, the name for --train_files is printed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ...errors import FlagError, StorageError
from ...options.rows.checks import more_than
from ...util.figures.counted import counted
from ...util.monitoring.log_lines import last_words
from ...util.progress import Progress
from ...util.shards.writing import write_shards
from ...util.storage.addresses import READ_ONLY, address_of, scheme_of
from ...util.storage.file_systems import check_available
from ..arguments import ArgumentParser, check_arguments, list_path, run_tool

PROGRAM = "write_shards: error"
MEGABYTE = 10**6


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the shards and return the exit code."""
    return run_tool(lambda: _write(arguments), PROGRAM)


def _write(arguments: Sequence[str] | None) -> None:
    parser = ArgumentParser(__doc__, "python -m deepspeech.write_shards")
    kinds = "CSV, TSV, JSON lines, or Kaldi's directory"
    parser.add_argument("lists", type=list_path, nargs="+", metavar="LIST", help=kinds)
    parser.add_argument("--to", required=True, metavar="NAME", help="prefix of the shards' paths or addresses")
    parser.add_argument("--shard_mb", type=float, default=500.0, help="MB per shard (default: %(default)g)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the order of utterances (default: %(default)s)")
    options = parser.parse_args(arguments)
    check_arguments(options, {"shard_mb": more_than(0)})
    address = address_of(options.to)
    for each in filter(None, (address, *map(address_of, options.lists))):
        try:
            check_available(each)
        except StorageError as error:
            raise FlagError(f"{each}: {error}") from error
    if address is not None and scheme_of(address) in READ_ONLY:
        raise FlagError(f"--to={address}: can only be read; name an s3://, gs:// or hf:// address, or a local path")
    with Progress(f"Writing {options.to}", None, unit="utterance") as bar:
        try:
            size = round(options.shard_mb * MEGABYTE)
            written = write_shards(options.lists, options.to, size, options.seed, bar.advance)
        except OSError as error:
            raise FlagError(f"--to={options.to}: cannot be written ({error.strerror or error})") from error
    print(f"{written.name}: {counted(written.utterances, 'utterance')}, {written.size / MEGABYTE:.1f} MB")
    if written.surplus:
        left = f"{written.surplus}: is left from an earlier set of this name; remove it, and any after it"
        print(last_words(left, "write_shards", "warning"), file=sys.stderr)
