"""What an incident claims can be computed again, and a claim that was changed is found out."""

import pytest
from msgspec import structs

from schemas.codec import encode
from schemas.incident import Incident
from streams.costs import NOBODY, costs
from streams.evidence import recompute, verify
from streams.replay import replay
from tests.acceptance.replaying import shipped_line
from tests.stages.build import Job


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    """A job in which one rank works 30 % longer."""
    job = Job()
    story = [job.started(), *job.run(80), *job.run(120, slow={5: 1.3})]
    return [encode(record) + b"\n" for record in story]


@pytest.fixture(scope="module")
def told(lines: list[bytes]) -> Incident:
    """The incident that it led to, in its last revision."""
    said = replay(shipped_line(), lines).said
    return [sent.record for sent in said if isinstance(sent.record, Incident)][-1]


def test_the_same_telemetry_makes_the_same_claims(lines: list[bytes], told: Incident) -> None:
    """Every claim and the verdict come out the same, with their numbers and limits."""
    outcome = verify(told, recompute(shipped_line(), lines, told.id))
    assert outcome.holds
    assert len(outcome.claims) == len(told.evidence) + 1
    found = [one for one in told.evidence if one.detector == "slow_rank"]
    assert found
    assert found[0].numbers["ratio"] == pytest.approx(1.3, abs=0.03)
    assert found[0].limit is not None
    assert told.basis is not None
    assert (told.basis.topic, told.basis.key) == ("telemetry", "toy")
    assert 0 < told.basis.records <= len(lines)
    assert (outcome.because, outcome.records) == ((), told.basis.records)


def test_the_records_it_names_are_enough(lines: list[bytes], told: Incident) -> None:
    """The offset in the log of the key says how far one has to read for the same verdict."""
    assert told.basis is not None
    [*_, again] = recompute(shipped_line(), lines[: told.basis.records], told.id)
    assert (again.cause, again.ranks, again.onset_step) == (told.cause, told.ranks, told.onset_step)


def test_what_has_changed_since_is_said(lines: list[bytes], told: Incident) -> None:
    """Other causes or other parameters may be why a claim differs."""
    assert told.basis is not None
    other = structs.replace(told, basis=structs.replace(told.basis, catalogue="x", detectors="y"))
    because = verify(other, recompute(shipped_line(), lines, told.id)).because
    assert [one.partition(" are not")[0] for one in because] == [
        "the causes or their priors",
        "the detectors or their parameters",
    ]


def test_a_claim_that_was_changed_is_found_out(lines: list[bytes], told: Incident) -> None:
    """A number that the telemetry does not give differs; a claim out of nothing is gone."""
    place = next(at for at, one in enumerate(told.evidence) if one.detector == "slow_rank")
    evidence = list(told.evidence)
    evidence[place] = structs.replace(evidence[place], after=9.0)
    evidence.append(structs.replace(evidence[place], source="nowhere"))
    outcome = verify(structs.replace(told, evidence=tuple(evidence)), recompute(shipped_line(), lines, told.id))
    assert not outcome.holds
    standings = [one.standing for one in outcome.claims]
    assert standings[place] == "differs"
    assert "gone" in standings


def test_telemetry_that_does_not_reach_back_is_said(lines: list[bytes], told: Incident) -> None:
    """Without the records of the onset there is no such incident."""
    outcome = verify(told, recompute(shipped_line(), lines[-60:], told.id))
    assert not outcome.found
    assert not outcome.holds


def test_costs_add_up(told: Incident) -> None:
    """Hours are added up over causes, jobs and nodes; two culprits share them, and what was planned costs nothing."""
    incidents = [
        structs.replace(told, id="a", cause="slow_gpu", gpu_hours_lost=3.0, nodes=("n1", "n2")),
        structs.replace(told, id="b", cause="hang", gpu_hours_lost=1.0, nodes=()),
        structs.replace(told, id="c", cause="hang", gpu_hours_lost=9.0, layer="none"),
    ]
    assert [(one.name, one.gpu_hours, one.share) for one in costs(incidents, "cause")] == [
        ("slow_gpu", 3.0, 0.75),
        ("hang", 1.0, 0.25),
    ]
    assert {one.name: one.gpu_hours for one in costs(incidents, "node")} == {"n1": 1.5, "n2": 1.5, NOBODY: 1.0}
    assert sum(one.gpu_hours for one in costs(incidents, "incident")) == 4.0
    assert costs([], "job") == ()
