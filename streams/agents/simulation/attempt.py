"""One attempt as it is lived through: start, steps, saves, evaluations, a standstill, the end."""

from typing import Any

from schemas.action import Control
from schemas.telemetry import Inbound
from streams.agents.simulation.checkpoints import Checkpoints, Save
from streams.agents.simulation.cluster import REPORT_SECONDS, Cluster
from streams.agents.simulation.conditions import Conditions, Happening, healthy
from streams.agents.simulation.control import TrainerControl
from streams.agents.simulation.noise import Noise
from streams.agents.simulation.outbox import Outbox
from streams.agents.simulation.sampler import (
    Load,
    Sampler,
    load_between_steps,
    load_of_evaluation,
    load_of_hang,
    load_of_lone_save,
)
from streams.agents.simulation.scenario import Leg

_BESIDE = 0.05
"""Seconds between two things that happen one right after the other."""


class Attempt:
    """The watched part of one attempt, one step at a time.

    Args:
        leg: what is to happen.
        start: Unix seconds at which the launcher starts it.

    Attributes:
        time: Unix seconds up to which everything has happened.
        finished: True once nothing more will happen.
    """

    def __init__(self, leg: Leg, noise: Noise, outbox: Outbox, start: float) -> None:
        self.time = start
        self.finished = False
        self._leg = leg
        self._noise = noise
        self._outbox = outbox
        self._cluster = Cluster(leg.job, leg.influences, noise)
        self._control = TrainerControl(leg.job)
        self._checkpoints = Checkpoints(self._control)
        self._sampler = Sampler(leg.job, start + 1.0)
        self._saves: list[Save] = []
        self._step = leg.steps[0]
        self._training_since = start + leg.idle_seconds
        self._stuck: Conditions | None = None
        self._stuck_until = 0.0

    def offer(self, control: Control) -> None:
        """Hand a control document to the trainer; it takes effect with the next step."""
        self._control.offer(control)

    def open(self) -> list[Inbound]:
        """Start it: the launcher's word, then idle machines until the first step."""
        leg, job = self._leg, self._leg.job
        data: dict[str, Any] = {"world_size": job.world_size, "fingerprint": job.fingerprint}  # Any: numbers and lists
        data |= {"placement": job.placement(), "config": dict(job.config), "resume_step": leg.steps[0] - 1}
        if leg.reason:
            data["reason"] = leg.reason
        self._outbox.event(job, self.time, Happening(node="launcher", event="attempt.started", data=data))
        now = healthy(job, self._noise, step=self._step, elapsed=0.0, cached=0.0)
        self._pass(now, load_between_steps(job.world_size), leg.idle_seconds)
        return self._outbox.take(set())

    def advance(self) -> list[Inbound]:
        """Go on by one step, or by one sample while the job stands still; give what was seen."""
        if self._stuck is not None:
            return self._stand_still(self._stuck)
        acknowledgements = self._control.take_effect(self._step)
        now = self._conditions()
        self._tell(acknowledgements + now.opening, self.time)
        self._run(now)
        self._step += 1
        if now.stuck:
            self._stuck, self._stuck_until = now, self.time + now.stuck_seconds
        else:
            self._between_steps(now)
            if self._step > self._leg.steps[1]:
                self._end(now)
        return self._outbox.take(now.silent)

    def _conditions(self) -> Conditions:
        return self._cluster.conditions(
            self._step,
            elapsed=self.time - self._training_since,
            cached=self._control.cached(self._step),
        )

    def _run(self, now: Conditions) -> None:
        times = self._cluster.run(now)
        self._pass(now, self._cluster.load(now, times), times.seconds)
        self._cluster.report(self._outbox, now, times, self.time)
        self._tell(now.closing, self.time + REPORT_SECONDS)

    def _between_steps(self, now: Conditions) -> None:
        job = now.job
        if job.evaluate_every and now.step % job.evaluate_every == 0:
            self._evaluate(now)
        save = self._checkpoints.after(now, self.time + _BESIDE)
        if save is None:
            return
        data = {"step": save.step, "mode": save.mode}
        self._announce(save.begin, Happening(node=job.nodes[0], event="checkpoint.begin", data=data))
        self._saves.append(save)
        if save.mode == "sync":
            load = load_between_steps if job.announces else load_of_lone_save
            self._pass(now, load(job.world_size), save.seconds + _BESIDE)

    def _evaluate(self, now: Conditions) -> None:
        job, data = now.job, {"phase": "eval"}
        begin = Happening(node=job.nodes[0], event="phase.begin", data=data)
        self._announce(self.time + _BESIDE, begin)
        load = load_between_steps if job.announces else load_of_evaluation
        self._pass(now, load(job.world_size), job.evaluate_seconds)
        loss = now.readings["loss"]
        if loss is not None:
            valid = float(f"{loss * 1.04 * now.noise.factor('valid_loss', 0.001):.7g}")
            self._outbox.line(job, self.time, now.step, {"valid_loss": valid})
        end = Happening(node=job.nodes[0], event="phase.end", data=data)
        self._announce(self.time + REPORT_SECONDS, end)

    def _stand_still(self, now: Conditions) -> list[Inbound]:
        seconds = min(now.job.sample_seconds, self._stuck_until - self.time)
        self._pass(now, load_of_hang(now.job.world_size), seconds)
        if self.time >= self._stuck_until:
            self._end(now)
        return self._outbox.take(now.silent)

    def _end(self, now: Conditions) -> None:
        self.finished = True
        if self._leg.ended:
            code = 0 if self._leg.ended in ("finished", "requeued") else 1
            data = {"reason": self._leg.ended, "exit_code": code}
            self._outbox.event(now.job, self.time + 1.0, Happening(node="launcher", event="attempt.ended", data=data))

    def _announce(self, time: float, happening: Happening) -> None:
        if self._leg.job.announces:
            self._outbox.event(self._leg.job, time, happening)

    def _tell(self, happenings: list[Happening], time: float) -> None:
        for happening in happenings:
            self._outbox.event(self._leg.job, time, happening)

    def _pass(self, now: Conditions, load: Load, seconds: float) -> None:
        """Let time go by: samples are taken, saves that are written meanwhile are complete."""
        begin, self.time = self.time, self.time + seconds
        self._sampler.pass_time(self._outbox, now, load, begin, self.time)
        for save in [save for save in self._saves if save.end <= self.time]:
            self._saves.remove(save)
            happening = Happening(node=now.job.nodes[0], event="checkpoint.end", data=_written(save))
            self._announce(save.end, happening)


def _written(save: Save) -> dict[str, Any]:  # Any: numbers and a word
    """Say how a save went; `pause_seconds` is what it cost the job."""
    seconds = round(save.seconds, 2)
    pause = seconds if save.mode == "sync" else 0.0
    return {"step": save.step, "mode": save.mode, "seconds": seconds, "pause_seconds": pause, "bytes": save.size}
