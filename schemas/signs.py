"""THE table of signs: patterns in events and values that no single detector sees, by name."""

from msgspec import Struct


class SignKind(Struct, frozen=True):
    """One pattern that the detect stage looks for and that a cause may ask for.

    Attributes:
        name: the word in a detection's field `detector` and in a clue.
        meaning: what it says, for a person.
        signal: the signal under which its detections run.
        parts: the kinds it tells apart in the field `part`; "" where it does not.
    """

    name: str
    meaning: str
    signal: str
    parts: tuple[str, ...] = ("",)


SIGNS = (
    SignKind(
        "collective_timeout",
        "collectives timed out: all ranks in the same one, ranks silent, behind, gone or in another one, or after the end",
        "interval_seconds",
        ("early", "same", "silent", "behind", "mismatch", "left", "after_end"),
    ),
    SignKind("unfinished_save", "a save began and never ended", "checkpoint_seconds"),
    SignKind("overdue_save", "no save has been completed for far longer than usual", "checkpoint_age_steps"),
    SignKind("slowing_saves", "saves take longer than the first ones did", "checkpoint_seconds"),
    SignKind("save_drag", "saves that are written beside the training slow it down, each time", "checkpoint_seconds"),
    SignKind("save_interval", "another distance between saves would surely cost less", "checkpoint_share"),
    SignKind("incomplete_save", "shards of a save are empty or short", "checkpoint_bytes"),
    SignKind(
        "stacks",
        "a few ranks stand elsewhere than all others",
        "interval_seconds",
        ("loader", "checkpoint", "collective", "other"),
    ),
    SignKind(
        "rank_error", "the first rank that raised an error", "interval_seconds", ("device", "memory", "save", "other")
    ),
    SignKind(
        "crash",
        "the attempt failed, once or again and again, with one node in common or always first, or because a node left",
        "interval_seconds",
        ("device", "memory", "save", "other", "exit", "", "common", "first", "leaving", "loop"),
    ),
    SignKind(
        "recurring_stall",
        "single steps are long again and again, by one part of the work",
        "step_seconds",
        ("loader", "optimizer", "host_prep", "h2d", "compute"),
    ),
    SignKind(
        "uneven_work",
        "the work of the ranks is uneven, and the slowest is never the same for long",
        "uneven_work_share",
        ("loader", "optimizer", "host_prep", "h2d", "compute", ""),
    ),
    SignKind(
        "storage_failure",
        "ranks failed after the storage had refused or failed their requests, those of all nodes or of one",
        "interval_seconds",
        ("refused", "failed", "client"),
    ),
    SignKind(
        "storage_silence",
        "the job stands since a storage server does not answer its nodes any more",
        "interval_seconds",
    ),
    SignKind(
        "shared_position",
        "ranks that are slow on several nodes have their experts or another coordinate in common, or are everywhere",
        "own_seconds",
        ("expert", "position", "spread"),
    ),
    SignKind("late_steps", "steps were done all along and told late", "interval_seconds"),
    SignKind("rate_restart", "the learning rate does not go on after a restart as it was before", "learning_rate"),
    SignKind("off_schedule", "the learning rate has left the schedule that was announced", "learning_rate"),
    SignKind("level_restart", "the loss has another level since a restart with another configuration", "loss"),
    SignKind("order_repeated", "samples of this epoch are trained again", "duplicate_samples_total"),
    SignKind("epoch_length", "an epoch is shorter or longer than those before", "epoch", ("short", "long")),
    SignKind("same_samples", "replicas train the same samples at the same time", "sample_id"),
    SignKind(
        "position_restart",
        "the sampler does not go on after a restart where it was",
        "sampler_cursor",
        ("back", "ahead"),
    ),
    SignKind(
        "pace_restart",
        "the job is slower since it was restarted in another configuration, though a step does as much as before",
        "tokens_per_second",
        ("", "placement"),
    ),
    SignKind("old_save", "the run resumed from an older save than the last complete one", "checkpoint_age_steps"),
    SignKind("recovery", "whether a resumed run is the run that failed", "recovery_error", ("equal", "apart")),
    SignKind("diverged", "the loss has risen by much and has stayed there", "loss"),
    SignKind("climbing_loss", "the loss goes up a little with every step", "loss"),
    SignKind(
        "rate_jump",
        "the learning rate was raised at once, in the middle of a run, and the loss has been higher since",
        "learning_rate",
    ),
    SignKind("rate_gone", "the learning rate is zero long before the last planned step", "learning_rate"),
    SignKind("loss_vanished", "the loss has gone to zero", "loss"),
    SignKind(
        "clock_skew", "a node says a minute or more apart from the others when a step ended", "clock_offset_seconds"
    ),
    SignKind("zero_reading", "a profiling metric reads zero while the GPU is busy", "sm_active"),
    SignKind("error_flood", "a GPU corrects memory errors without a pause", "ecc_sbe_volatile_total"),
    SignKind("gauge_xid", "an exporter's gauge has changed to a terminal Xid", "xid_last"),
    SignKind("returned_gpu", "a GPU that was taken out of the pool is back under another node's name", "xid_last"),
    SignKind(
        "node_lost",
        "a node of the job was reported missing, or lost by its peers and silent since, and the attempt ended",
        "source_age_seconds",
    ),
    SignKind("mass_missing", "many nodes went missing at once", "source_age_seconds"),
    SignKind("partial_gang", "the scheduler runs only a part of the job, and no step is trained", "interval_seconds"),
    SignKind("mass_eviction", "the scheduler took many workers of a job at once, and not all", "interval_seconds"),
    SignKind(
        "no_successor", "the job ended at its time limit and nothing runs or is queued after it", "interval_seconds"
    ),
    SignKind(
        "missed_target",
        "benchmarks stay below the target they carry",
        "nccl_bus_bytes_per_second",
        ("network", "links", "storage", "gpu"),
    ),
    SignKind("repeat_offender", "the same GPU had the same fault in several jobs", "xid_last"),
    SignKind(
        "common_node",
        "the runs that are worse than the others have one node in common",
        "loss",
        ("loss", "links", "pace"),
    ),
    SignKind(
        "shared_fault",
        "several jobs have the same culprit, or the same trouble of what they share, at the same time",
        "interval_seconds",
        ("storage", "network", "node"),
    ),
    SignKind("offending_node", "a node was blamed for several incidents within four weeks", "interval_seconds"),
)
"""Every sign; its memory and its code stand in `streams/stages/detect/signs/`."""

BY_NAME = {kind.name: kind for kind in SIGNS}
