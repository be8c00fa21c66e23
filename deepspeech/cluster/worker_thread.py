"""The thread for the chief's own jobs, beside the main thread, which leads."""

import logging
import threading
from collections.abc import Callable

from ..errors import ClusterError, DeepSpeechError
from ..training.interruption import Interrupted
from .http.service import Service

logger = logging.getLogger(__name__)


class WorkerThread(threading.Thread):
    """Does the chief's own jobs while the main thread leads; `error` is the error of a failure, if any."""

    def __init__(self, work: Callable[[Callable[[], bool]], None], ended: threading.Event, service: Service) -> None:
        """Run `work` until `ended` is set, and wake the chief when it returns."""
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
            pass  # the chief was told to stop, and handles it itself
        except DeepSpeechError as error:
            self.error = error
        except Exception as error:
            logger.exception("the chief's worker failed")
            self.error = ClusterError(f"worker 0: {error!r}")
        self._service.wake_chief()
