"""Reads environment variables, with errors that name the scheduler and the variable."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import FlagError


@dataclass(frozen=True)
class Environment:
    """The environment variables that `--cluster=scheduler` reads; `advice` tells the user who sets them.

    There must be `least_servers` parameter servers: 1, or 0 where the workers hold the weights.
    """

    scheduler: str
    variables: Mapping[str, str]
    advice: str
    least_servers: int = 1

    def text(self, name: str) -> str:
        """Return a variable; raise FlagError if it is missing or empty."""
        if not self.variables.get(name):
            raise self.error(f"{name} is not in the environment; {self.advice}")
        return self.variables[name]

    def number(self, name: str, least: int = 0, default: int | None = None) -> int:
        """Return a variable's number; raise FlagError unless it is `least` or more.

        If the variable is missing or empty, return the default, if there is one.
        """
        if default is not None and not self.variables.get(name):
            return default
        text = self.text(name)
        if not (text.isdecimal() and int(text) >= least):
            raise self.error(f"{name}={text}: must be a number from {least} on; {self.advice}")
        return int(text)

    def server_count(self, default: int) -> int:
        """Return PS_REPLICAS, the number of parameter servers; raise FlagError if they are too few."""
        count = self.number("PS_REPLICAS", default=default)
        if count < self.least_servers:
            raise self.error("PS_REPLICAS names no parameter server; set it to 1 or more, or give --sync=allreduce")
        return count

    def error(self, reason: str) -> FlagError:
        """Return an error for what is missing or wrong in the environment."""
        return FlagError(f"--cluster={self.scheduler}: {reason}")
