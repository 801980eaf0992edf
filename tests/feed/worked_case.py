"""The worked case: a job of 64 GPUs slows from step 18,046 on because storage retries starve its loader."""

import math
from typing import Any

from schemas.action import ActionEntry, Control, Request, Setting, TaintRecord
from schemas.detection import Vitals
from schemas.incident import Affected, Evidence, Incident, RankedCause, RuledOut, Suspect, Taint
from streams.stages.stage import Sent
from streams.stores.store import Archive

Fields = Any  # the fields of a record
START = 1_740_960_000.0
STEP_SECONDS = 2.4
ONSET = 18_046


def fill(archive: Archive) -> None:
    """File the worked case: 64 GPUs, slow from step 18,046 on, checkpoints that drag from 18,300 on."""
    vitals = [one for step in range(17_000, 18_400) for one in _vitals_at(step)]
    archive.put([Sent("vitals", "wm-64", one) for one in vitals], 0)
    acting = make_incident(revision=1, state="acting", actions=ACTIONS, taint=TAINT)
    incidents = (_earlier(), _change(), make_incident(), acting)
    archive.put([Sent("incidents", one.id, one) for one in incidents], 0)
    archive.put([Sent("requests", "inc-main", CACHE), Sent("requests", "inc-main", DEFER)], 0)
    setting = Setting(value=18_600, request="req-defer")
    control = Control(job="wm-64", attempt=1, version=1, settings={"checkpoint.defer_until_step": setting})
    archive.put([Sent("control", "wm-64", control), Sent("taints", "wm-64", LEDGER)], 0)


def _earlier() -> Incident:
    return make_incident(
        id="inc-earlier",
        state="resolved",
        severity="warning",
        title="Loader of rank 12 lagged for 90 steps",
        cause="slow_decode",
        layer="data",
        gpu_hours_lost=0.7,
        linked="",
        **_between(17_210, 17_300),
    )


def _change() -> Incident:
    return make_incident(
        id="inc-change",
        state="closed",
        severity="info",
        title="Batch size changed from 1024 to 1280",
        cause="config_change",
        layer="none",
        gpu_hours_lost=0.0,
        linked="",
        **_between(17_600, 17_620),
    )


def _between(first: int, last: int) -> dict[str, Fields]:
    return {
        "onset_step": first,
        "onset_time": _time(first),
        "opened_time": _time(first + 10),
        "updated_time": _time(last + 20),
        "end_step": last,
        "end_time": _time(last),
    }


def _time(step: float) -> float:
    slow = max(0.0, step - ONSET)
    return START + (step - 17_000) * STEP_SECONDS + slow * 1.0


def _vitals_at(step: int) -> list[Vitals]:
    """Give the vitals of a step; noise is a fixed wave, so that every run sees the same curves."""
    wave = math.sin(step * step * 0.0173) + 0.6 * math.sin(step * 0.037)
    ill = min(1.0, max(0.0, (step - ONSET) / 120))
    made = [_one(step, "step", 0.0, _of_step(step, wave, ill))]
    if step % 5 == 0:
        made += [_one(step, of, late, values) for of, late, values in _of_machines(wave, ill)]
    return made


def _of_step(step: int, wave: float, ill: float) -> dict[str, float]:
    values = {
        "loss": math.nan if step == 17_500 else 2.31 + 0.012 * wave - (step - 17_000) * 2e-5,
        "grad_norm": 0.31 + 0.012 * math.sin(step * step * 0.013) + 0.008 * math.sin(step * 0.11),
        "learning_rate": 1.2e-4,
        "tokens_per_second": 1_020_000 * (1 - 0.31 * ill) + 6_000 * wave,
        "step_seconds": STEP_SECONDS * (1 + 0.42 * ill) + 0.02 * wave,
        "compute_seconds": 1.9 + 0.01 * wave,
        "wait_seconds": 0.12 + 0.01 * math.sin(step * 2.1),
        "loader_share": 0.03 + 0.22 * ill + 0.004 * wave,
    }
    pause = {"checkpoint_seconds": 41.0 if step >= 18_300 else 3.0 + 0.5 * wave}
    return {**values, **pause} if step % 300 == 0 else values


def _of_machines(wave: float, ill: float) -> list[tuple[str, float, dict[str, float]]]:
    gpu = {
        "gpu_util": 0.97 - 0.25 * ill + 0.01 * wave,
        "sm_clock_mhz": 1755.0,
        "temperature_c": 66 + wave,
        "power_watts": 640 - 130 * ill,
    }
    mount = {
        "storage_retries_per_second": max(0.0, 0.2 + 18 * ill + (1 + 3 * ill) * 0.4 * wave),
        "storage_latency_seconds": 0.008 + 0.05 * ill + 0.001 * wave,
        "storage_read_bytes_per_second": 6.1e9 * (1 - 0.3 * ill),
    }
    node = {"cpu_util": 0.41 + 0.02 * wave, "iowait": 0.01 + 0.09 * ill}
    return [("gpu", 0.4, gpu), ("mount", 0.9, mount), ("node", 1.1, node)]


def _one(step: int, of: str, late: float, values: dict[str, float]) -> Vitals:
    when = _time(step) + late
    return Vitals(job="wm-64", attempt=1, of=of, step=step, time=when, values=dict(values), world_size=64, clock=when)


def make_incident(**fields: Fields) -> Incident:
    """Give the incident of the worked case, with some fields changed."""
    standard: dict[str, Fields] = {
        "id": "inc-main",
        "revision": 0,
        "job": "wm-64",
        "attempt": 1,
        "state": "open",
        "severity": "error",
        "title": "Object storage retries starve the loader",
        "cause": "object_storage_throttling",
        "layer": "storage",
        "confidence": 0.86,
        "onset_step": ONSET,
        "onset_time": _time(ONSET),
        "opened_time": _time(18_098),
        "updated_time": _time(18_390),
        "suspects": SUSPECTS,
        "affected": Affected(ranks=tuple(range(64)), nodes=tuple(f"n{n:02}" for n in range(1, 9))),
        "causes": CAUSES,
        "evidence": EVIDENCE,
        "ruled_out": RULED_OUT,
        "blind": ("No per-object latency: the storage gateway is not scraped.",),
        "gpu_hours_lost": 5.4,
        "detections": ("det-1", "det-2"),
        "linked": "inc-earlier",
    }
    return Incident(**{**standard, **fields})


SUSPECTS = (Suspect(kind="mount", id="/data/wm-videos", score=0.83), Suspect(kind="node", id="n03", score=0.09))
CAUSES = (
    RankedCause(cause="object_storage_throttling", score=0.86, weight=4.1),
    RankedCause(cause="slow_decode", score=0.08, weight=1.2),
    RankedCause(cause="checkpoint_contention", score=0.04, weight=0.6),
)
EVIDENCE = (
    Evidence(status="established", layer="data", weight=1.9, role="cascade",
             text="Loader share rose from 3 % to 25 % of step time between step 18,046 and 18,300."),
    Evidence(status="established", layer="system", weight=2.3, role="initiating",
             text="Storage retries rose from 0.2 to 18 per second on /data/wm-videos at step 18,044."),
    Evidence(status="supported", layer="throughput", weight=0.4, role="cascade",
             text="Throughput fell 31 %, from 1.02M to 0.70M tokens/s."),
    Evidence(status="supported", layer="checkpoint", weight=-0.5, speaks_for=False,
             text="The checkpoint pause of 41 s at 18,300 would also fit a saturated storage path."),
    Evidence(status="unknown", layer="system", weight=0.0,
             text="Whether other jobs on the same bucket slowed at that moment."),
)  # fmt: skip
RULED_OUT = (
    RuledOut(cause="numerical_instability", because="loss stayed within 0.5 % of its level, gradient norm within 6 %."),
    RuledOut(
        cause="slow_gpu", because="own compute of all 64 ranks stayed at 1.90 s, the slowest 0.6 % above the median."
    ),
)
TAINT = Taint(from_step=ONSET, to_step=18_399, marked=True, checkpoints=(18_300,))
ACTIONS = (
    ActionEntry(playbook="loader-stall", action="loader.use_cache", target="wm-64", time=_time(18_150), step=18_150,
                mode="ask", decision="asked", reason="needs_approval", request="req-cache",
                detail="loader share above 15 % for 50 steps"),
    ActionEntry(playbook="slow-checkpoint", action="checkpoint.defer", target="wm-64", time=_time(18_302), step=18_305,
                mode="act", decision="act", reason="ok", outcome="done", verification="verified", request="req-defer",
                detail="pause 41 s, limit 30 s; next checkpoint not before 18,600"),
    ActionEntry(playbook="taint-on-stall", action="taint.mark", target="18046-18399", time=_time(18_390), step=18_390,
                mode="act", decision="act", reason="ok", outcome="done", request="req-taint"),
    ActionEntry(playbook="cordon-suspect", action="node.cordon", target="n03", time=_time(18_200), step=18_200,
                mode="act", decision="refused", reason="not_the_culprit", detail="n03 holds 9 % of the suspicion"),
)  # fmt: skip
CACHE = Request(
    id="req-cache", incident="inc-main", job="wm-64", attempt=1, playbook="loader-stall", action="loader.use_cache",
    target="wm-64", decision="asked", time=_time(18_150), step=18_150,
    summary="Let the loader of wm-64 read from the local NVMe cache until the storage path recovers.",
)  # fmt: skip
DEFER = Request(
    id="req-defer", incident="inc-main", job="wm-64", attempt=1, playbook="slow-checkpoint", action="checkpoint.defer",
    target="wm-64", decision="act", time=_time(18_302), step=18_302,
    summary="Defer the next checkpoint to step 18,600.",
)  # fmt: skip
LEDGER = TaintRecord(
    id="taint-1", job="wm-64", attempt=1, from_step=ONSET, to_step=18_399, reason="data stall", incident="inc-main",
    confidence=0.86, layer="storage", checkpoints=(18_300,), time=_time(18_390),
)  # fmt: skip
