"""Answers the coordinator's messages: one method for each route, which calls the state machine."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response

from ...schedule.coordinator import NoJob
from ...schedule.jobs import Job
from ..coordination.coordinator import ClusterCoordinator
from ..coordination.group import Order
from ..coordination.status import status_of, unready
from . import routes
from .orders import OrderAnswer, OrderBody
from .protocol import (
    AddressAnswer,
    AddressBody,
    AliveBody,
    Body,
    DoneBody,
    JobAnswer,
    JobBody,
    JoinBody,
    JoinedBody,
    LeaveBody,
    MemberBody,
    OfferBody,
    PlaceAnswer,
    PlaceBody,
    ResultBody,
    ReturnBody,
    StepAnswer,
    StepBody,
    TraceBody,
)
from .service import Service
from .views import view_endpoints

Handler = Callable[[Any], Awaitable[Response]]
"""Answers a message, given its body."""


class Handlers:
    """Answers messages and requests for views from a service."""

    def __init__(self, service: Service) -> None:
        """Make the tables of handlers: `messages` by route, which take the body, and `views` by view."""
        self._service = service
        self.messages: dict[routes.Route, Handler] = {
            routes.JOIN: self.join,
            routes.TAKE_PLACE: self.take_place,
            routes.FIND_WORKER: self.find_worker,
            routes.HEARTBEAT: self.heartbeat,
            routes.LEAVE: self.leave,
            routes.NEXT_JOB: self.next_job,
            routes.RETURN_JOBS: self.return_jobs,
            routes.BEGIN_STEP: self.begin_step,
            routes.OFFER_GRADIENT: self.offer_gradient,
            routes.SUBMIT: self.submit,
            routes.NEXT_ORDER: self.next_order,
            routes.TRACE: self.trace,
        }
        self.views = view_endpoints(self.tell)

    async def join(self, body: JoinBody) -> Response:
        """Let a process join."""
        applicant = body.applicant()
        with self._service.locked() as coordinator:
            lost = coordinator.counts.lost_jobs
            identity = coordinator.join(applicant, self._service.clock())
            settings = coordinator.settings
            gave_jobs_back = coordinator.counts.lost_jobs > lost
        if gave_jobs_back:
            self._service.work_returned()
        else:
            self._service.wake_chief()
        lease, between = settings.lease_seconds, settings.seconds_between_signs
        return _json(JoinedBody(member=identity, lease_seconds=lease, seconds_between_signs=between))

    async def take_place(self, body: PlaceBody) -> Response:
        """Assign a place to a worker; delay the answer until one is free or training is over."""

        def ask(coordinator: ClusterCoordinator, now: float) -> int | NoJob | None:
            coordinator.check_failure()
            return NoJob.OVER if coordinator.over else coordinator.members.take_place(body.process, now)

        task = await self._service.poll(ask, body.wait)
        if isinstance(task, int):
            return _json(PlaceAnswer(task=task))
        return Response(status_code=routes.ASK_AGAIN if task is None else routes.TRAINING_OVER)

    async def find_worker(self, body: AddressBody) -> Response:
        """Return a worker's address."""
        with self._service.locked() as coordinator:
            address = coordinator.members.address_of_worker(body.task)
        return Response(status_code=routes.ASK_AGAIN) if address is None else _json(AddressAnswer(address=address))

    async def heartbeat(self, body: MemberBody) -> Response:
        """Record a sign of life."""
        with self._service.locked() as coordinator:
            over = coordinator.heartbeat(body.member, self._service.clock(), must_go=body.must_go)
            member, order = coordinator.members.find(body.member), coordinator.group.order.number
            if member is not None and body.times is not None:
                member.times = body.times.times()
        if body.must_go:
            self._service.wake_chief()
        return _json(AliveBody(over=over, order=order))

    async def leave(self, body: LeaveBody) -> Response:
        """Let a member leave."""
        with self._service.locked() as coordinator:
            coordinator.leave(body.member, self._service.clock(), body.failure)
        if body.failure is None:
            self._service.work_returned()
        else:
            self._service.changed()
        return _json(DoneBody())

    async def next_job(self, body: JobBody) -> Response:
        """Lease a job; delay the answer until there is one."""

        def ask(coordinator: ClusterCoordinator, now: float) -> JobAnswer | NoJob | None:
            job = coordinator.next_job(body.member, now, body.jobs)
            if isinstance(job, Job):
                return JobAnswer.of(job, coordinator.group.order.number)
            return None if job is NoJob.WAIT else job

        job = await self._service.poll(ask, body.wait)
        if isinstance(job, JobAnswer):
            return _json(job)
        if job is NoJob.OVER:
            self._service.work_returned()  # also answer the requests that wait for a job or a place
        return Response(status_code=routes.ASK_AGAIN if job is None else routes.TRAINING_OVER)

    async def return_jobs(self, body: ReturnBody) -> Response:
        """Take jobs back."""
        with self._service.locked() as coordinator:
            coordinator.return_jobs(body.member, body.jobs, self._service.clock())
        self._service.work_returned()
        return _json(DoneBody())

    async def begin_step(self, body: StepBody) -> Response:
        """Let a member into the round; delay the answer until it may enter."""

        def ask(coordinator: ClusterCoordinator, now: float) -> tuple[int, int] | None:
            number = coordinator.begin_step(body.member, body.job, now)
            return None if number is None else (number, coordinator.group.order.number)

        begun = await self._service.poll(ask, body.wait, for_a_round=True)
        if begun is None:
            return Response(status_code=routes.ASK_AGAIN)
        number, weights = begun
        trace = self._service.traces.parent_of(number, self._service.clock())
        return _json(StepAnswer(round=number, trace=trace, weights=weights))

    async def offer_gradient(self, body: OfferBody) -> Response:
        """Let a member send its gradient."""
        with self._service.locked() as coordinator:
            coordinator.offer_gradient(body.member, body.job, body.round, self._service.clock())
        return _json(DoneBody())

    async def submit(self, body: ResultBody) -> Response:
        """Take a result, and wake the waiting requests that it affects."""
        with self._service.locked() as coordinator:
            coordinator.submit(
                body.member,
                body.job,
                tuple(body.batches),
                body.tally.tally(),
                last=body.last,
                round_number=body.round,
                now=self._service.clock(),
            )
            epoch_ended = coordinator.has_reports
        if epoch_ended:
            self._service.changed()
        else:
            self._service.wake_chief()
        return _json(DoneBody())

    async def next_order(self, body: OrderBody) -> Response:
        """Return a worker's next order; delay the answer until there is one."""
        if body.failed is not None:
            with self._service.locked() as coordinator:
                coordinator.heartbeat(body.member, self._service.clock())
                coordinator.group.dissolve(body.failed)
            self._service.wake_chief()

        def ask(coordinator: ClusterCoordinator, now: float) -> Order | None:
            coordinator.heartbeat(body.member, now)
            return coordinator.group.order_after(body.done, body.member)

        order = await self._service.poll(ask, body.wait, for_a_round=True)
        return Response(status_code=routes.ASK_AGAIN) if order is None else _json(OrderAnswer.of(order, body.member))

    async def trace(self, body: TraceBody) -> Response:
        """Trace the next steps."""
        self._service.traces.request(body.steps)
        return _json(DoneBody())

    def tell(self) -> dict[str, Any]:
        """Return the status of training."""
        with self._service.locked() as coordinator:
            return status_of(coordinator, self._service.clock())

    def unready(self) -> str | None:
        """Return the phase if training makes no progress now; None if it does."""
        with self._service.locked() as coordinator:
            return unready(coordinator)


def _json(body: Body) -> Response:
    return Response(body.model_dump_json(), media_type=routes.JSON)
