"""How operators and their tools monitor a node: probes, metrics and traces."""

from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

from .checkpoints import CHECKPOINTS
from .cluster import ClusterOptions, HostCheck
from .rows.checks import Check, up_to
from .rows.flag import flag


class EndpointCheck(Check):
    """An address over HTTP, or none."""

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with an address without a host, or with another scheme."""
        try:
            parts = urlsplit(value)
            usable = not value or (parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0)
        except ValueError:
            usable = False
        return "" if usable else f"--{name}={value}: must be an address such as http://localhost:4318"


@dataclass(frozen=True)
class ProbeOptions:
    """Where this process answers /healthz, /readyz and /metrics."""

    title: ClassVar[str] = CHECKPOINTS
    port: int = flag(
        0,
        "port of /healthz, /readyz and /metrics of this process, in any role; 0: none",
        name="probe_port",
        check=up_to(65535, "a port, at most 65535"),
        decides_result=False,
    )
    host: str = flag(
        "localhost",
        "address for --probe_port; beyond this machine, /metrics needs the cluster's secret",
        name="probe_host",
        check=HostCheck(),
        decides_result=False,
    )


@dataclass(frozen=True)
class TracingOptions:
    """Where requested traces of a cluster's steps are sent."""

    title: ClassVar[str] = ClusterOptions.title
    endpoint: str = flag(
        "",
        "collector of OpenTelemetry traces over HTTP, http://HOST:4318, for requested steps",
        name="trace_endpoint",
        check=EndpointCheck(),
        decides_result=False,
    )
