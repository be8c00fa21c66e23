"""What a node tells operators and their tools: probes, figures and traces."""

from dataclasses import dataclass
from typing import ClassVar

from .checkpoints import CHECKPOINTS
from .rows.checks import up_to
from .rows.flag import flag


@dataclass(frozen=True)
class ProbeOptions:
    """Where this process answers /healthz, /readyz and /metrics."""

    title: ClassVar[str] = CHECKPOINTS
    port: int = flag(
        0,
        "port of /healthz, /readyz and /metrics of this process, of whatever role; 0: none",
        name="probe_port",
        check=up_to(65535, "a port, at most 65535"),
        decides_result=False,
    )
    host: str = flag(
        "localhost",
        "address for --probe_port; beyond this machine, /metrics needs the cluster's secret",
        name="probe_host",
        decides_result=False,
    )
