"""The brief's own four log lines, and the readings of a loss that are no number, from bytes to incidents."""

import json
from collections.abc import Iterator

import pytest

from schemas.codec import Plain
from tests.acceptance.replaying import replayed
from tests.stages.build import START

BRIEF = (
    {"step": 17_980, "tokens_per_second": 1.02e6, "loader_share": 0.03, "checkpoint_seconds": 0.0, "loss": 2.31},
    {"step": 18_120, "tokens_per_second": 0.74e6, "loader_share": 0.18, "checkpoint_seconds": 0.0, "loss": 2.30},
    {"step": 18_200, "tokens_per_second": 0.71e6, "loader_share": 0.22, "checkpoint_seconds": 0.0, "loss": 2.33},
    {"step": 18_300, "tokens_per_second": 0.69e6, "loader_share": 0.25, "checkpoint_seconds": 41.0, "loss": 2.34},
)


def log_line(number: int, step: int, every: int, values: str) -> bytes:
    """A frame of a job-level log line, its values as the trainer spells them."""
    head = {"kind": "steps", "job": "log", "attempt": 1, "node": "log", "seq": number, "time": START + 1.1 * step}
    plain = json.dumps({**head, "step": step, "every": every, "ranks": [], "values": {}})
    return f'{plain[:-1]}, "job_values": {values}}}'.encode()


def trained_then(spelled: str, name: str = "loss") -> Iterator[bytes]:
    """Thirty good steps, and ten whose loss is spelled in some way; "" leaves it out."""
    for step in range(40):
        told = "2.31" if step < 30 else spelled
        loss = f'"{name}": {told}, ' if told else ""
        yield log_line(step, step, 1, f'{{{loss}"tokens_per_second": 1020000.0}}')


@pytest.mark.parametrize("every", [1, 20, 140])
def test_the_four_lines_of_the_brief_are_too_few_for_a_verdict(every: int) -> None:
    """From four lines nobody learns what is normal: they are read, nobody is accused, and no cause is made up."""
    lines = [
        log_line(
            number,
            int(values["step"]),
            every,
            json.dumps({name: value for name, value in values.items() if name != "step"}),
        )
        for number, values in enumerate(BRIEF)
    ]
    whole = replayed(lines)
    assert (whole["records"], whole["rejected"], whole["late"]) == (4, 0, 0)
    assert {one["cause"] for one in whole["incidents"]} <= {"unknown"}
    assert all(one["ranks"] == one["nodes"] == [] for one in whole["incidents"])


def test_the_lines_of_the_brief_after_a_learned_hour() -> None:
    """The same lines after a hundred like the first one are an incident with a starving loader, from 17,980 on."""
    good = {name: value for name, value in BRIEF[0].items() if name != "step"}
    lines = [log_line(number, 17_980 - 20 * (100 - number), 20, json.dumps(good)) for number in range(100)]
    for values, until in zip(BRIEF[1:], (18_200, 18_300, 19_000), strict=True):
        told = {name: value for name, value in values.items() if name not in ("step", "checkpoint_seconds")}
        for step in range(int(values["step"]), until, 20):
            lines.append(log_line(len(lines), step, 20, json.dumps(told)))
    whole = replayed(lines)
    [incident] = whole["incidents"]
    assert incident["cause"] == "loader_starved"
    assert 17_960 <= incident["onset_step"] <= 18_140


def found(lines: Iterator[bytes]) -> tuple[list[Plain], list[Plain], int]:
    """Findings of unusable readings, incidents, and the number of refused lines."""
    whole = replayed(lines)
    broken = [one for one in whole["detections"] if one["detector"] == "nonfinite"]
    return broken, whole["incidents"], whole["rejected"]


@pytest.mark.parametrize(
    ("spelled", "part"),
    [
        pytest.param("1e999", "inf", id="a number that is too large"),
        pytest.param("-Infinity", "-inf", id="bare and minus infinite"),
        pytest.param('"-inf"', "-inf", id="a quoted minus inf"),
    ],
)
def test_more_spellings_of_an_infinite_loss(spelled: str, part: str) -> None:
    """However a trainer spells it, the finding says which infinity it is, from its first step on."""
    broken, _, rejected = found(trained_then(spelled))
    assert [(one["signal"], one["part"], one["onset_step"]) for one in broken] == [("loss", part, 30)]
    assert rejected == 0


def test_a_spelling_that_nobody_knows_is_refused() -> None:
    """A NaN with a sign is no number in any language: the line is refused and its neighbours live."""
    broken, incidents, rejected = found(trained_then("-NaN"))
    assert (broken, incidents, rejected) == ([], [], 10)


@pytest.mark.parametrize("spelled", ["NaN", '"nan"', "Infinity"])
def test_a_broken_loss_is_critical(spelled: str) -> None:
    """A loss that is no number is a critical incident of the model, from its first step on."""
    _, [incident], _ = found(trained_then(spelled))
    assert (incident["severity"], incident["layer"], incident["onset_step"]) == ("critical", "model", 30)


@pytest.mark.parametrize("spelled", ["0.0", "0", "-0.0", "2.31", "1e-300"])
def test_a_number_is_a_number(spelled: str) -> None:
    """Zero and tiny losses are readings like others."""
    broken, _, rejected = found(trained_then(spelled))
    assert (broken, rejected) == ([], 0)


def test_what_was_never_reported_is_not_missed() -> None:
    """A job without a gradient norm has none to lose."""
    broken, _, _ = found(trained_then("null", name="grad_norm_of_another_kind"))
    assert broken == []
