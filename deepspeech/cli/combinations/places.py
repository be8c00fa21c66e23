"""The place of a process in a cluster, given by the scheduler that `--cluster` names."""

import os
from collections.abc import Collection, Mapping

from ...errors import FlagError
from ...options import Options, with_values


def placed(options: Options, given: Collection[str], variables: Mapping[str, str] | None = None) -> Options:
    """Return the options with the flags from the scheduler's `variables`, by default the environment.

    `given` are the flags on the command line, which stay as they are. Raise FlagError if the scheduler's variables are
    incomplete, or if the command line also names a place.
    """
    scheduler = options.cluster.scheduler
    if not scheduler:
        return options
    from ...cluster.schedulers.place import FLAGS_OF_PLACES  # not needed without a cluster
    from ...cluster.schedulers.registry import place_of

    for name in FLAGS_OF_PLACES:
        if name in given:
            raise FlagError(f"--cluster={scheduler}: cannot be combined with --{name}, which the scheduler gives")
    least_servers = 0 if options.cluster.all_reduces else 1
    said = place_of(scheduler, os.environ if variables is None else variables, least_servers).flags()
    return with_values(options, {name: value for name, value in said.items() if name not in given})
