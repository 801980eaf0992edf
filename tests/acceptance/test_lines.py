"""Input as it comes: the brief's four lines, numbers that are none, records that cannot be read."""

import json

import pytest

from tests.acceptance.replaying import replayed

BRIEF = (
    (17_980, 1.02e6, 0.03, 0.0, 2.31),
    (18_120, 0.74e6, 0.18, 0.0, 2.30),
    (18_200, 0.71e6, 0.22, 0.0, 2.33),
    (18_300, 0.69e6, 0.25, 41.0, 2.34),
)


def line(step: int, **job_values: object) -> bytes:
    """A frame as it is made of one line of a log."""
    frame = {"kind": "steps", "job": "wm-64", "attempt": 1, "node": "collector", "seq": step, "step": step}
    return json.dumps({**frame, "time": 1_740_960_000.0 + step, "job_values": job_values}).encode() + b"\n"


def losses(*tokens: str) -> list[bytes]:
    """Sixty calm steps, then some whose loss is written with these JSON tokens; "" leaves it out."""
    lines = [line(step, loss=2.5, step_seconds=1.0) for step in range(60)]
    for number, token in enumerate(tokens):
        raw = line(60 + number, loss=7777.0, step_seconds=1.0)
        lines.append(
            raw.replace(b'"loss": 7777.0', f'"loss": {token}'.encode())
            if token
            else line(60 + number, step_seconds=1.0)
        )
    return lines


def test_the_briefs_four_lines_alone_get_an_honest_answer() -> None:
    """Four lines are too little to know what is normal: no crash, and no invented cause."""
    lines = [
        line(step, tokens_per_second=tokens, loader_share=share, checkpoint_seconds=pause, loss=loss)
        for step, tokens, share, pause, loss in BRIEF
    ]
    whole = replayed(lines)
    assert (whole["records"], whole["rejected"]) == (4, 0)
    assert [one for one in whole["incidents"] if one["cause"] != "unknown"] == []


@pytest.mark.parametrize(
    ("tokens", "kind"),
    [
        pytest.param(["NaN"], "nan", id="bare NaN"),
        pytest.param(['"NaN"'], "nan", id="NaN as a word"),
        pytest.param(['"nan"'], "nan", id="nan as trainers write it"),
        pytest.param(["Infinity"], "inf", id="bare Infinity"),
        pytest.param(['"inf"'], "inf", id="inf as trainers write it"),
        pytest.param(['"-Infinity"'], "-inf", id="minus infinity"),
        pytest.param(["null"] * 5, "absent", id="null"),
        pytest.param([""] * 5, "absent", id="no such field"),
    ],
)
def test_numbers_that_are_none_are_told_apart(tokens: list[str], kind: str) -> None:
    """NaN, infinity and absence are different findings, none is lost, and each is critical."""
    whole = replayed(losses(*tokens))
    assert whole["rejected"] == 0
    [found] = [one for one in whole["detections"] if one["signal"] == "loss"]
    assert (found["detector"], found["part"]) == ("nonfinite", kind)
    [incident] = whole["incidents"]
    assert (incident["cause"], incident["severity"]) == ("numeric_blow_up", "critical")


def test_a_bad_line_among_good_ones_is_rejected_alone() -> None:
    """What cannot be read is counted with reason and line, and its neighbours are processed."""
    good = [line(step, loss=2.5, step_seconds=1.0) for step in range(3)]
    bad = [b"{not json\n", line(7).replace(b'"step": 7', b'"step": "7"'), line(8).replace(b'"kind"', b'"v": 9, "kind"')]
    whole = replayed([good[0], *bad, good[1], b"x" * (2 << 20) + b"\n", good[2]])
    assert (whole["records"], whole["rejected"]) == (7, 4)
    assert [(one["line"], one["reason"], one["path"]) for one in whole["faults"]] == [
        (2, "malformed", ""),
        (3, "schema", "$.step"),
        (4, "version", "$.v"),
        (6, "oversized", ""),
    ]
