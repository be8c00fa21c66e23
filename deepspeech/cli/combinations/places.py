"""The place in a cluster of a process that `--cluster` lets its scheduler place."""

import os
from collections.abc import Collection, Mapping

from ...errors import FlagError
from ...options import Options, with_values


def placed(options: Options, given: Collection[str], variables: Mapping[str, str] | None = None) -> Options:
    """Return the options with the flags that the scheduler's variables say, by default those of the environment.

    `given` are the flags that the command line names, which stay as they are. Raise FlagError if the scheduler says too
    little, or if the command line names a place, too.
    """
    scheduler = options.cluster.scheduler
    if not scheduler:
        return options
    from ...cluster.schedulers.place import FLAGS_OF_PLACES  # the test of a model takes no place
    from ...cluster.schedulers.registry import place_of

    for name in FLAGS_OF_PLACES:
        if name in given:
            raise FlagError(f"--cluster={scheduler}: cannot be combined with --{name}, which it says itself")
    least_servers = 0 if options.cluster.all_reduces else 1
    said = place_of(scheduler, os.environ if variables is None else variables, least_servers).flags()
    return with_values(options, {name: value for name, value in said.items() if name not in given})
