"""The status page in a real browser."""

import time
from pathlib import Path
from typing import Any

from benchmarks.processes.ports import free_ports
from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.membership import Applicant, ClusterSettings, Role
from deepspeech.cluster.http.server import Server
from deepspeech.cluster.http.service import Service
from deepspeech.cluster.status_page import status_page
from deepspeech.options import EarlyStoppingOptions, ScheduleOptions
from deepspeech.schedule.coordinator import TrainingCoordinator
from deepspeech.schedule.jobs import Job, JobResult, SetName, Tally
from deepspeech.schedule.snapshot import Snapshot
from deepspeech.schedule.state import Plan

PHONE = {"width": 360, "height": 780}
EPOCHS = 12


def training_service() -> Service:
    """Return a service in the middle of training: losses fall, two workers are busy, a parameter server has joined."""
    coordinator = ClusterCoordinator(ClusterSettings(3, 1, 3, 1, 1000.0), {})
    schedule = ScheduleOptions(epoch=EPOCHS, validation_step=2, early_stopping=EarlyStoppingOptions(enabled=False))
    plans = {SetName.TRAIN: Plan(8, 4, "a"), SetName.DEV: Plan(2, 4, "b")}
    start = time.monotonic() - 60
    coordinator.open(TrainingCoordinator(schedule, plans), start)
    coordinator.join(Applicant(Role.PARAMETER_SERVER, 0, "p"), start + 59)
    workers = [coordinator.join(Applicant(Role.WORKER, task, "p"), start + 57 + task) for task in range(2)]
    for turn in range(70):
        work(coordinator, workers[turn % 2], 30 / (1 + turn / 8), start + 55 + turn / 20)
    return Service(coordinator)


def work(coordinator: ClusterCoordinator, identity: str, loss: float, now: float) -> None:
    job = coordinator.next_job(identity, now)
    assert isinstance(job, Job)
    number = coordinator.begin_step(identity, job.number, now)
    if number is not None:
        coordinator.offer_gradient(identity, job.number, number, now)
    coordinator.submit(identity, job.number, job.batches, Tally(4, 4 * loss), last=True, round_number=number, now=now)
    end = coordinator.close_round(now)
    if end is not None:
        coordinator.end_round(end)
    coordinator.take_reports()


def test_the_page_shows_how_training_stands_and_follows_it(browser: Any, tmp_path: Path) -> None:
    service = training_service()
    with Server(service, "127.0.0.1", 0, None) as server:
        page = browser.new_page(viewport=PHONE)
        problems: list[str] = []
        requested: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requested.append(request.url))
        page.goto(f"http://127.0.0.1:{server.port}/")
        page.wait_for_function("document.getElementById('phase').textContent === 'training'")
        assert page.inner_text("#epoch") == f"8 of {EPOCHS}"
        assert "min" in page.inner_text("#left") or "s" in page.inner_text("#left")
        assert "epoch" in page.inner_text("#set")
        names = page.locator("#members td:first-child").all_inner_texts()
        assert names == ["ps 0", "worker 0", "worker 1", "worker 2"]
        assert "missing" in page.locator("#members tr").last.inner_text()
        assert page.locator("polyline").count() == 2
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert page.evaluate(
            "[...document.querySelectorAll('*')].every(({scrollWidth: s, clientWidth: c}) => !c || s <= c)"
        )
        page.screenshot(path=tmp_path / "page.png", full_page=True)

        before = page.inner_text("#done")
        with service.locked() as coordinator:
            worker = next(member.identity for member in coordinator.members if member.works)
            work(coordinator, worker, 1.0, time.monotonic())
        page.wait_for_function(f"document.getElementById('done').textContent !== '{before}'")
        with service.locked() as coordinator:
            coordinator.fail("worker 1: the loss is not finite")
        page.wait_for_function("document.getElementById('phase').textContent === 'failed'")
        assert "not finite" in page.inner_text("#reason")
        assert problems == []
        assert all(url.startswith(f"http://127.0.0.1:{server.port}/") for url in requested if url[:5] != "data:")


def test_the_page_of_a_single_machine_shows_no_members_and_jobs(browser: Any) -> None:
    training = TrainingCoordinator(ScheduleOptions(epoch=EPOCHS), {SetName.TRAIN: Plan(8, 4, "a")})
    (port,) = free_ports(1)
    with status_page(port) as publish:
        assert publish is not None
        page = browser.new_page(viewport=PHONE)
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_function("document.getElementById('phase').textContent === 'preparing'")
        job = training.next_job()
        assert isinstance(job, Job)
        training.submit(JobResult(job, job.batches, Tally(4, 8.0)))
        publish(Snapshot.of(training), 52.3)
        page.wait_for_function("document.getElementById('phase').textContent === 'training'")
        assert page.inner_text("#set") == "Training, epoch 1: 1 of 8 batches, loss 2.000 so far"
        assert page.inner_text("#throughput") == "52.3"
        assert not page.is_visible("#members")
        assert not page.is_visible("#open")
        assert problems == []


def test_the_page_asks_for_the_token_where_there_is_one(browser: Any) -> None:
    with Server(training_service(), "127.0.0.1", 0, "a secret of enough characters") as server:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.port}/")
        page.wait_for_selector("#token input", state="visible")
        assert page.inner_text("#phase") == "locked" and not page.is_visible("#reason")
        page.fill("#token input", "a secret of other characters")
        page.click("#token button")
        page.wait_for_function("document.getElementById('reason').textContent.includes('not the coordinator')")
        page.fill("#token input", "a secret of enough characters")
        page.click("#token button")
        page.wait_for_function("document.getElementById('phase').textContent === 'training'")
        assert not page.is_visible("#token") and not page.is_visible("#reason")
