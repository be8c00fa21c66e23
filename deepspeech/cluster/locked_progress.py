"""The progress of a training run that other threads update."""

from ..schedule.coordinator import TrainingCoordinator
from ..schedule.state import TrainingState
from .http.service import Service


class LockedProgress:
    """The progress of a training run, read while other threads count results.

    A validation counts as finished, and training as over, only when the chief has taken the reports: until then, the
    weights may be the best ones so far, but are not saved as such.
    """

    def __init__(self, service: Service, training: TrainingCoordinator) -> None:
        self._service = service
        self._training = training

    @property
    def state(self) -> TrainingState:
        """The progress of training so far."""
        with self._service.locked() as coordinator:
            return self._training.state_before_report if coordinator.has_reports else self._training.state

    @property
    def training_is_over(self) -> bool:
        """Whether no training or validation is left, only testing."""
        with self._service.locked() as coordinator:
            return self._training.training_is_over and not coordinator.has_reports
