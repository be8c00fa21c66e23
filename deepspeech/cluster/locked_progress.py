"""The progress of a training run that other threads go on with."""

from ..schedule.coordinator import TrainingCoordinator
from ..schedule.state import TrainingState
from .http.service import Service


class LockedProgress:
    """The progress of a training run, read while other threads count results."""

    def __init__(self, service: Service, training: TrainingCoordinator) -> None:
        self._service = service
        self._training = training

    @property
    def state(self) -> TrainingState:
        """Progress of training so far."""
        with self._service.locked():
            return self._training.state

    @property
    def training_is_over(self) -> bool:
        """Whether no training or validation is left, only testing."""
        with self._service.locked():
            return self._training.training_is_over
