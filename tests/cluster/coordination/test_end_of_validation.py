"""A validation's outcome is known when its last result is counted, but is used only when the chief takes its report."""

from coordinators import DEV, job_of, opened, step, submit, training

from deepspeech.cluster.http.service import Service
from deepspeech.cluster.locked_progress import LockedProgress
from deepspeech.schedule.jobs import Job


def test_the_last_validation_is_open_for_a_checkpoint_and_the_test_until_its_report_is_taken() -> None:
    coordinator, (one, two) = opened(batches=1, dev=2, test=1)
    assert coordinator.training is not None
    progress = LockedProgress(Service(coordinator), coordinator.training)
    step(coordinator, one, job_of(coordinator, one))
    end = coordinator.close_round(0.0)
    assert end is not None
    coordinator.end_round(end)
    coordinator.take_reports()
    for identity in (one, two):
        submit(coordinator, identity, job_of(coordinator, identity))

    assert not progress.training_is_over
    again = training(batches=1, dev=2, test=1, state=progress.state).next_job()
    assert isinstance(again, Job)
    assert (again.set_name, again.batches) == (DEV, (1,))

    assert [report.set_name for report in coordinator.take_reports()] == [DEV]
    assert progress.training_is_over
    assert (progress.state.open_epoch, progress.state.dev_losses) == (None, (1.0,))
