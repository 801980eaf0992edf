"""The worked case: a video world model on 64 GPUs that slows down from step 18,000 on, because its storage stutters."""

from streams.agents.simulation.job import Job, nodes_named
from streams.agents.simulation.scenario import Expectation, Leg, Scenario
from streams.agents.simulation.storage_faults import SharedCheckpointPath, StorageStutter

ONSET = 18_000
_LOADER_SHARES = ((0, 0.03), (10, 0.03), (120, 0.18), (200, 0.22), (300, 0.25), (800, 0.27))
_RELIEFS = ((28, 36), (68, 76), (108, 116), (148, 156), (186, 194), (222, 230), (256, 264))
"""Waves of 26 to 36 steps, 8 of relief between; the last relief ends at 18,264, before the save at 18,300."""
_LOSS = (
    (17_560, 2.316),
    (17_980, 2.31),
    (18_120, 2.30),
    (18_160, 2.312),
    (18_200, 2.33),
    (18_300, 2.34),
    (18_500, 2.33),
    (18_760, 2.315),
)


def brief64() -> Scenario:
    """Build it: 8 nodes of 8 GPUs, saves every 300 steps of about 6 s, watched from step 17,560 to 18,760."""
    job = Job(
        name="wm-64",
        nodes=nodes_named(8),
        loss=_LOSS,
        learning_rate=1.2e-4,
        checkpoint_every=300,
        config=(
            ("model", "video-world-model"),
            ("loader.path", "/data"),
            ("checkpoint.path", "/data"),
            ("checkpoint.every", 300),
        ),
    )
    stutter = StorageStutter(onset=ONSET, shares=_LOADER_SHARES, reliefs=_RELIEFS)
    saves = SharedCheckpointPath(onset=ONSET + 1, seconds=41.0, growth=6.0, own_share=1.0)
    return Scenario(
        name="brief64",
        summary="64 GPUs: object-store retries, then loaders that starve in waves, then a save of 41 s; loss unmoved.",
        legs=(Leg(job=job, steps=(17_560, 18_760), influences=(stutter, saves), ended="finished"),),
        expect=Expectation(layers=("storage", "data"), onset=(ONSET, ONSET + 110)),
    )
