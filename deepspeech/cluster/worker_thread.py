"""The chief's own work, on a thread beside the one that leads."""

import logging
import threading
from collections.abc import Callable

from ..errors import ClusterError, DeepSpeechError
from ..training.interruption import Interrupted
from .http.service import Service

logger = logging.getLogger(__name__)


class WorkerThread(threading.Thread):
    """Does the chief's own jobs while its main thread leads; `error` is what it ended with, if it failed."""

    def __init__(self, work: Callable[[Callable[[], bool]], None], ended: threading.Event, service: Service) -> None:
        """Have `work` end when `ended` is set, and the chief woken when it has ended."""
        super().__init__(name="worker", daemon=True)
        self._work = work
        self._ended = ended
        self._service = service
        self.error: Exception | None = None

    def run(self) -> None:
        """Work until training is over or something fails."""
        try:
            self._work(self._ended.is_set)
        except Interrupted:
            pass  # the chief was told to stop, and ends as it was told
        except DeepSpeechError as error:
            self.error = error
        except Exception as error:
            logger.exception("the chief's worker failed")
            self.error = ClusterError(f"worker 0: {error!r}")
        self._service.wake_chief()
