"""Every finding says what made it, and says it truly."""

import pytest

from detectors.catalogue import DETECTORS
from detectors.checkpoint import Checkpoint
from detectors.silence import Silence
from detectors.slow_rank import SlowRank
from detectors.stalled import Stalled
from schemas.detection import Detection
from schemas.signals import signal_named
from streams.detector_versions import detector_versions
from streams.stages.detect import peers, progress, saves, silence
from streams.stages.detect.made_by import parameters_of, signed
from streams.stages.detect.signs.catalogue import CATALOGUE

WORTH = signal_named("step_seconds").worth


def found(detector: str, signal: str, subject: str = "job", part: str = "") -> Detection:
    """A finding about a signal."""
    return Detection(
        id="d",
        job="j",
        attempt=1,
        detector=detector,
        signal=signal,
        layer="throughput",
        subject=subject,
        onset_time=0.0,
        time=0.0,
        part=part,
    )


@pytest.mark.parametrize("name", [*sorted(DETECTORS), *(sign.name for sign in CATALOGUE)])
def test_every_detector_and_sign_has_a_version(name: str) -> None:
    """A version is a hash of eight digits, and none shares it with another."""
    versions = detector_versions()
    assert len(versions[name]) == 8
    assert list(versions.values()).count(versions[name]) == 1


@pytest.mark.parametrize(
    ("detector", "signal", "subject", "expected"),
    [
        ("sustained", "loader_share", "job", {"limit": 0.15, "rows": 50.0}),
        ("sustained", "throttle_thermal", "gpu:GPU-1", {"limit": 0.5, "rows": 2.0}),
        (
            "level_shift",
            "step_seconds",
            "job",
            {"warmup": 30.0, "threshold": 8.0, "worth": WORTH},
        ),
        ("level_shift", "temperature_c", "gpu:GPU-1", {"warmup": 8.0, "threshold": 3.5}),
        ("trend", "shm_used_share", "node:n1", {"limit": 1.0, "horizon": 240.0}),
        ("slow_rank", "own_seconds", "rank:5", {"ratio": 1.1, "sigmas": 5.0}),
        ("collective_timeout", "step_seconds", "job", {}),
    ],
)
def test_the_parameters_are_those_of_the_signal(
    detector: str, signal: str, subject: str, expected: dict[str, float]
) -> None:
    """What a detector looks with differs from signal to signal, and so does what is told."""
    told = signed(found(detector, signal, subject), detector_versions())
    assert told.version == detector_versions()[detector]
    assert expected.items() <= told.parameters.items()


def test_a_pace_that_follows_from_a_setting_is_told_as_the_setting() -> None:
    """Where the false alarms that are borne are set, they are what the smallest change follows from."""
    told = signed(found("level_shift", "step_seconds"), {}, borne=1.0).parameters
    assert told["alarms_per_job_week"] == 1.0
    assert "worth" not in told
    assert "worth" in signed(found("level_shift", "loader_seconds"), {}, borne=1.0).parameters


def test_an_early_word_on_a_hang_names_the_limits_of_early_words() -> None:
    """GPUs that spin have limits of their own."""
    early = parameters_of("stalled", "interval_seconds", of_job=True, part="spinning")
    assert (early["short_seconds"], early["short_steps"], early["short_pauses"]) == (20.0, 16.0, 2.0)
    assert early["long_seconds"] == 60.0
    plain = parameters_of("stalled", "interval_seconds", of_job=True)
    assert plain["floor"] == 300.0
    assert "short_seconds" not in plain


def test_an_early_word_on_silence_names_its_limits_too() -> None:
    """What is held before anybody is paged was found by other limits than what is told in the end."""
    early = parameters_of("silence", "source_age_seconds", of_job=False, part="held")
    assert (early["early_seconds"], early["early_factor"]) == (20.0, 5.0)
    assert "early_seconds" not in parameters_of("silence", "source_age_seconds", of_job=False)


@pytest.mark.parametrize(
    ("room", "detector"), [(peers, SlowRank), (progress, Stalled), (saves, Checkpoint), (silence, Silence)]
)
def test_what_is_told_as_a_default_is_used_as_one(room: object, detector: type) -> None:
    """These run with the parameters of the catalogue; whoever changes that has to tell it in `made_by`."""
    used = [one for one in vars(room).values() if isinstance(one, detector)]
    plain = [{k: v for k, v in vars(one).items() if isinstance(v, int | float)} for one in [*used, detector()]]
    assert len(plain) == 2
    assert plain[0] == plain[1]
