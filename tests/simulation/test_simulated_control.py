"""The simulated trainer obeys control documents, so that a pipeline can close the loop."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from schemas.action import Control, Setting
from schemas.codec import encode
from schemas.telemetry import Event, StepFrame
from streams.agents.simulated import seeded
from streams.agents.simulation.simulation import Simulation
from tests.simulation.lived import Lived

Value = str | int | float | bool
BASELINE = 1.02e6


def _document(simulation: Simulation, version: int, values: Mapping[str, Value], attempt: int = 1) -> Control:
    settings = {name: Setting(value=value, request=f"r-{name}") for name, value in values.items()}
    return Control(job=simulation.job, attempt=attempt, version=version, settings=settings)


def _live_with(name: str, documents: Mapping[int, Control], seed: int = 5) -> Lived:
    """Run a scenario; hand over each document as soon as the frames of its step have been sent."""
    simulation, records = seeded(name, seed), []
    while not simulation.finished:
        sent = simulation.advance()
        records += sent
        for step in {record.step for record in sent if isinstance(record, StepFrame) and record.ranks}:
            if step in documents:
                simulation.control(documents[step])
    return Lived(records)


def _acknowledged(run: Lived) -> list[tuple[str, str, int, bool]]:
    return [
        (event.subject, event.data["setting"], event.data["step"], "error" in event.data)
        for event in run.events("control.acknowledged")
    ]


def test_a_cached_loader_heals_the_worked_case() -> None:
    """Switched when the rule of 50 steps holds, the loader is healthy within five steps and tokens/s are back."""
    simulation, shares, switched, records = seeded("brief64", 5), [0.0], 0, []
    while not simulation.finished:
        sent = simulation.advance()
        records += sent
        frames = [record for record in sent if isinstance(record, StepFrame) and record.ranks]
        if frames:
            parts = [np.array(frame.values["loader_seconds"]) / frame.values["step_seconds"][0] for frame in frames]
            shares.append(float(np.mean(np.concatenate(parts))))
        if not switched and len(shares) > 50 and min(shares[-50:]) > 0.15:
            switched = frames[0].step
            simulation.control(_document(simulation, 1, {"loader.path": "cache"}))
    run = Lived(records)
    assert _acknowledged(run) == [("r-loader.path", "loader.path", switched + 1, False)]
    assert 18_308 <= switched <= 18_325
    assert run.loader_share(switched + 5, 18_760).max() < 0.06
    assert (1_048_576 / np.median(run.step_seconds(switched + 5, switched + 105))) > 0.97 * BASELINE
    later = next(event for event in run.events("checkpoint.end") if event.data["step"] == 18_600)
    assert 6.0 < later.data["seconds"] < 8.0
    assert run.sampled("cache_hit_ratio", "n02", switched + 10, 18_700).min() == pytest.approx(0.98)
    reads = "storage_read_bytes_per_second"
    assert (
        run.sampled(reads, "n02", switched + 10, 18_700).max() < 0.1 * run.sampled(reads, "n02", 17_700, 17_900).max()
    )


def test_a_loader_given_back_starves_again() -> None:
    """A document without the setting returns the loader to its own path within a few steps."""
    simulation = seeded("storage", 5)
    run = _live_with(
        "storage", {1_450: _document(simulation, 1, {"loader.path": "cache"}), 1_550: _document(simulation, 2, {})}
    )
    assert run.loader_share(1_430, 1_450).min() > 0.12
    assert run.loader_share(1_456, 1_550).max() < 0.06
    assert run.loader_share(1_556, 1_650).min() > 0.12
    assert len(_acknowledged(run)) == 1


def test_an_asynchronous_save_leaves_the_critical_path() -> None:
    """In mode async the save takes as long as before, is announced as such, and no gap opens between the steps."""
    simulation = seeded("checkpoint_shared", 5)
    run = _live_with("checkpoint_shared", {1_350: _document(simulation, 1, {"checkpoint.mode": "async"})})
    saves = {event.data["step"]: event for event in run.events("checkpoint.end")}
    assert (saves[1_400].data["mode"], saves[1_400].data["pause_seconds"]) == ("async", 0.0)
    assert saves[1_400].data["seconds"] > 40.0
    assert saves[1_300].data["mode"] == "sync"
    gap = run.time_of(1_401) - run.time_of(1_400) - run.step_seconds(1_401, 1_401)[0]
    assert gap == pytest.approx(0.0, abs=0.01)
    begins = {event.data["step"]: event.time for event in run.events("checkpoint.begin")}
    assert saves[1_400].time - begins[1_400] == pytest.approx(saves[1_400].data["seconds"], abs=0.02)


def test_a_deferred_save_comes_at_the_step_asked_for() -> None:
    """Saves that are due before the step wait for it, are then made once, and the schedule goes on."""
    simulation = seeded("checkpoint_shared", 5)
    document = _document(simulation, 1, {"checkpoint.defer_until_step": 1_450})
    run = _live_with("checkpoint_shared", {1_260: document})
    assert [event.data["step"] for event in run.events("checkpoint.begin")] == [
        1_000,
        1_100,
        1_200,
        1_450,
        1_500,
        1_600,
        1_700,
    ]


def test_a_save_on_request_comes_once() -> None:
    """A request saves at the next step; the same request in a later document does not save again, another one does."""
    simulation = seeded("quiet", 5)
    once = {"checkpoint.now": Setting(value="r-1", request="r-1")}
    documents = {
        1_100: Control(job=simulation.job, attempt=1, version=1, settings=once),
        1_200: Control(job=simulation.job, attempt=1, version=2, settings=once),
        1_300: Control(
            job=simulation.job, attempt=1, version=3, settings={"checkpoint.now": Setting(value="r-2", request="r-2")}
        ),
    }
    run = _live_with("quiet", documents)
    assert [event.data["step"] for event in run.events("checkpoint.begin")] == [1_101, 1_301]
    assert [row[0] for row in _acknowledged(run)] == ["r-1", "r-2"]


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param({"loader.path": "/somewhere"}, id="a path it does not know"),
        pytest.param({"checkpoint.mode": "never"}, id="a mode it does not know"),
        pytest.param({"checkpoint.defer_until_step": "soon"}, id="a step that is none"),
        pytest.param({"optimizer.name": "other"}, id="a setting it does not know"),
    ],
)
def test_what_a_trainer_cannot_do_is_acknowledged_as_such(
    setting: dict[str, Value], lived: Callable[[str], Lived]
) -> None:
    """The acknowledgement carries an error, and the run is the same as without the document."""
    simulation = seeded("storage", 5)
    run = _live_with("storage", {1_450: _document(simulation, 1, setting)})
    assert [row[2:] for row in _acknowledged(run)] == [(1_451, True)]
    assert (run.step_seconds(1_000, 1_700) == lived("storage").step_seconds(1_000, 1_700)).all()


@pytest.mark.parametrize(
    "stale",
    [
        pytest.param({"attempt": 2, "version": 9}, id="another attempt"),
        pytest.param({"attempt": 1, "version": 1}, id="the version it has"),
    ],
)
def test_a_document_that_is_not_for_it_changes_nothing(stale: dict[str, int]) -> None:
    """A document of another attempt, or no newer than the last, is neither applied nor acknowledged."""
    simulation = seeded("storage", 5)
    first = _document(simulation, 1, {"checkpoint.mode": "async"})
    later = _document(simulation, stale["version"], {"loader.path": "cache"}, stale["attempt"])
    run = _live_with("storage", {1_350: first, 1_450: later})
    assert [row[1] for row in _acknowledged(run)] == ["checkpoint.mode"]
    assert run.loader_share(1_500, 1_600).min() > 0.12


def test_an_empty_document_changes_no_byte(lived: Callable[[str], Lived]) -> None:
    """A document without settings leaves every record as it was."""
    run = _live_with("quiet", {1_100: _document(seeded("quiet", 5), 1, {})})
    assert b"".join(map(encode, run.records)) == b"".join(map(encode, lived("quiet").records))


def test_a_new_attempt_has_its_own_way() -> None:
    """Settings die with the attempt: the second one acknowledges nothing and saves in the critical path."""
    simulation = seeded("restart_smaller", 5)
    run = _live_with("restart_smaller", {1_100: _document(simulation, 1, {"checkpoint.mode": "async"})})
    modes = {event.data["step"]: event.data["mode"] for event in run.events("checkpoint.begin")}
    assert modes == {1_050: "sync", 1_200: "async", 1_350: "async", 1_500: "sync", 1_650: "sync"}
    assert all(isinstance(record, Event) for record in run.events("control.acknowledged"))
    assert {event.attempt for event in run.events("control.acknowledged")} == {1}
