"""What the environment says, read with errors that name the scheduler and the variable."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import FlagError


@dataclass(frozen=True)
class Environment:
    """The environment's variables, as `--cluster=scheduler` needs them; `advice` says who sets them.

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

        If it is missing or empty, return the default if there is one.
        """
        if default is not None and not self.variables.get(name):
            return default
        text = self.text(name)
        if not (text.isdecimal() and int(text) >= least):
            raise self.error(f"{name}={text}: must be a number from {least} on; {self.advice}")
        return int(text)

    def error(self, reason: str) -> FlagError:
        """Return the error that says what the environment lacks."""
        return FlagError(f"--cluster={self.scheduler}: {reason}")
