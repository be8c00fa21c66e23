"""How long a live worker may be busy with a job before another worker gets it."""

from coordinators import TEST, cluster, job_of, joined, submit, training

from deepspeech.cluster.coordination.coordinator import ClusterCoordinator


def wait(coordinator: ClusterCoordinator, identity: str, begin: int, end: int) -> None:
    """Let time pass while a worker gives signs of life."""
    for now in range(begin, end, 4):
        coordinator.tick(float(now))
        if identity in coordinator.members:
            coordinator.heartbeat(identity, float(now))


def test_a_first_test_that_takes_minutes_is_not_taken_for_a_hang_because_training_steps_were_quick() -> None:
    coordinator = cluster(1)
    coordinator.open(training(1, test=2))
    worker = joined(coordinator, 0)
    trained = job_of(coordinator, worker)
    submit(coordinator, worker, trained, coordinator.begin_step(worker, trained.number, 0.0), now=0.5)
    end = coordinator.close_round(0.5)
    assert end is not None
    coordinator.end_round(end)
    coordinator.allow_testing()
    first = job_of(coordinator, worker, now=1.0)
    assert first.set_name is TEST
    wait(coordinator, worker, 1, 100)
    submit(coordinator, worker, first, now=100.0)
    job_of(coordinator, worker, now=100.0)
    wait(coordinator, worker, 100, 1080)
    assert worker in coordinator.members
    wait(coordinator, worker, 1080, 1120)
    assert worker not in coordinator.members
