"""Who is to blame: the findings of the leading cause name the culprits, and nobody else does."""

import pytest

from playbooks.diagnosis import Diagnosis, diagnose
from playbooks.load import load_causes
from schemas.detection import Detection
from schemas.telemetry import Event
from tests.playbooks.case import CALM, MOUNT, STORAGE, a_detection, an_event, facts, slow

CAUSES = load_causes()


def suspects(verdict: Diagnosis) -> list[tuple[str, str, float]]:
    """The suspects as tuples."""
    return [(one.kind, one.id, one.score) for one in verdict.suspects]


@pytest.mark.parametrize(
    ("findings", "wanted"),
    [
        pytest.param(STORAGE, [("mount", "/data", 1.0)], id="a mount"),
        pytest.param((slow(3),), [("rank", "3", 1.0)], id="a rank"),
        pytest.param((slow(3), slow(5, "n02")), [("rank", "3", 0.5), ("rank", "5", 0.5)], id="two ranks"),
        pytest.param(tuple(slow(n) for n in range(4)), [("node", "n01", 1.0)], id="a node"),
        pytest.param((an_event("xid", data={"code": 79}, subject="GPU-1"),), [("gpu", "GPU-1", 1.0)], id="a GPU"),
        pytest.param((an_event("xid", data={"code": 79}),), [("node", "n01", 1.0)], id="a GPU that is not named"),
        pytest.param((slow(3, part="h2d", gpus=()),), [("gpu", "GPU-3", 1.0)], id="a GPU by its rank"),
        pytest.param((an_event("oom.kill"),), [("node", "n01", 1.0)], id="the node of an event"),
        pytest.param((a_detection("loss", "nonfinite"),), [], id="nobody"),
        pytest.param((a_detection("interval_seconds", "stalled", ranks=(4,)),), [("rank", "4", 1.0)], id="who stopped"),
    ],
)
def test_who_is_to_blame(findings: tuple[Detection | Event, ...], wanted: list[tuple[str, str, float]]) -> None:
    """The findings of the leading cause name the culprits, of the kind that the cause blames."""
    assert suspects(diagnose(facts(*findings, tracks=CALM), CAUSES)) == wanted


def test_the_most_blamed_comes_first() -> None:
    """Suspects are ranked by the share of the blaming findings that name them; the shares sum to one."""
    retries, latency = (a_detection(name, **MOUNT) for name in ("storage_retries_total", "storage_latency_seconds"))
    scratch = a_detection("storage_errors_total", subject="mount:/scratch")
    verdict = diagnose(facts(STORAGE[0], retries, latency, scratch), CAUSES)
    assert suspects(verdict) == [("mount", "/data", 0.667), ("mount", "/scratch", 0.333)]
