"""THE table of events: the words for what can happen, and the fields each carries in `data`."""

from msgspec import Struct


class EventKind(Struct, frozen=True):
    """One word for something that happens.

    Attributes:
        name: the word in the field `event`.
        meaning: what happened, for a person.
        fields: names in `data`; sources may leave some out and add others.
        subject: what the field `subject` names.
    """

    name: str
    meaning: str
    fields: tuple[str, ...] = ()
    subject: str = ""


# fmt: off
EVENTS = (
    EventKind(
        "attempt.started",
        "a start of the run",
        ("world_size", "fingerprint", "placement", "config", "recipe", "schedule", "resume_step", "reason", "total_steps"),
    ),
    EventKind("preflight", "the checks before a start", ("passed", "findings")),
    EventKind("attempt.ended", "the run stopped", ("reason", "exit_code")),
    EventKind("phase.begin", "a legitimate phase begins: warmup, compile, eval, checkpoint, restore", ("phase",)),
    EventKind("phase.end", "that phase ends", ("phase",)),
    EventKind("config.changed", "announced change; field -> [old, new]"),
    EventKind("config.drift", "a machine's setting is not that of its peers", ("setting", "expected", "found"), "node"),
    EventKind("checkpoint.begin", "a save begins", ("step", "mode", "rank")),
    EventKind("checkpoint.end", "a save is complete", ("step", "mode", "seconds", "bytes", "pause_seconds")),
    EventKind("checkpoint.failed", "a save did not complete", ("step", "mode", "error")),
    EventKind("data.shards", "shards of the data set that a loader opened", ("step", "shards")),
    EventKind("checkpoint.shards", "size of every shard written", ("step", "sizes")),
    EventKind("xid", "NVIDIA driver error code", ("code", "pci"), "gpu"),
    EventKind("gpu.off_bus", "kernel message without Xid", ("pci",), "gpu"),
    EventKind("gpu.lost", "the driver no longer answers for a GPU", ("error", "pci"), "gpu"),
    EventKind("gpu.recovery_action", "the driver advises something for a GPU", ("action", "advice", "pci"), "gpu"),
    EventKind(
        "nccl.timeout",
        "the collective watchdog gave up",
        (
            "rank",
            "seq",
            "op",
            "ran_ms",
            "limit_ms",
            "group",
            "numel_in",
            "numel_out",
            "last_enqueued",
            "last_completed",
        ),
    ),
    EventKind(
        "nccl.state",
        "where a rank stands in the collectives of a group",
        ("rank", "group", "last_enqueued", "last_started", "last_completed", "op", "seq", "state"),
    ),
    EventKind("nccl.error", "a collective failed", ("status", "vendor_err", "peer", "rank")),
    EventKind("nccl.port_error", "an asynchronous port error", ("hca",)),
    EventKind("oom.kill", "the kernel killed a process for memory", ("pid", "process", "constraint")),
    EventKind("worker.killed", "a loader worker died", ("pid", "signal", "rank")),
    EventKind("worker.evicted", "the scheduler took a worker", (), "node"),
    EventKind("rank.error", "a rank raised an error", ("rank", "error")),
    EventKind("rank.exit", "a rank's process ended", ("rank", "exit_code")),
    EventKind("storage.error", "a storage request failed", ("code", "reason", "rank"), "mount"),
    EventKind("stack.summary", "where the ranks stand", ("groups",)),
    EventKind(
        "benchmark", "a measured capability", ("what", "bytes_per_second", "bus_bytes_per_second", "target", "nodes")
    ),
    EventKind("log.line", "a line that no reader understood better", ("level", "rank")),
    EventKind("scheduler.status", "what the scheduler says of the job", ("state", "tasks")),
    EventKind("node.boot", "a node started", (), "node"),
    EventKind("node.missing", "a node does not answer", (), "node"),
    EventKind("node.left", "a node left the job", (), "node"),
    EventKind("node.cordoned", "no new work for a node", (), "node"),
    EventKind("node.uncordoned", "a node takes work again", (), "node"),
    EventKind("node.joined", "a node joined the pool", ("gpus",), "node"),
    EventKind("node.removed", "a node left the pool", ("gpus", "reason"), "node"),
    EventKind("node.condition", "a health check's verdict", ("code", "detail", "healthy"), "node"),
    EventKind(
        "alert",
        "an alert of another monitoring system begins or ends",
        ("name", "status", "severity", "labels", "fingerprint"),
        "entity",
    ),
    EventKind("action.started", "an action began", ("action", "id"), "node"),
    EventKind("action.done", "an action ended well", ("action", "id"), "node"),
    EventKind("action.failed", "an action failed", ("action", "id", "error"), "node"),
    EventKind("action.refused", "an action was not run", ("action", "id", "reason"), "node"),
    EventKind(
        "control.acknowledged", "the trainer applied a setting", ("request", "step", "setting", "error"), "request"
    ),
    EventKind("request.approved", "a person approved a request", ("by",), "request"),
    EventKind("request.rejected", "a person rejected a request", ("by",), "request"),
    EventKind("incident.acknowledged", "a person took the incident", ("by", "incident"), "incident"),
    EventKind("incident.closed", "a person closed the incident", ("by", "cause", "legitimate", "incident"), "incident"),
    EventKind("exporter.restarted", "a metrics source started anew", ("exporter",)),
    EventKind("source.gap", "a source could not be read", ("source", "from", "to", "reason")),
    EventKind(
        "history.lost",
        "a worker had to go on without part of what was sent",
        ("since", "until", "messages", "reason"),
    ),
    EventKind("history.resumed", "behind such a loss: pauses of the job are measured from here on", ()),
    EventKind("job.fault", "a job tells its cluster of a GPU's fault", ("job", "attempt", "code", "node"), "gpu"),
    EventKind("job.running", "a job tells its cluster which nodes it has", ("job", "attempt", "nodes"), "job"),
    EventKind(
        "job.summary",
        "a job tells its cluster what an attempt came to",
        ("job", "attempt", "kind", "reason", "started", "nodes", "values"),
        "job",
    ),
    EventKind(
        "fleet.repeated",
        "a cluster tells a job that its GPU had this fault in other jobs",
        ("job", "jobs", "code", "node"),
        "gpu",
    ),
    EventKind(
        "job.incident",
        "a job tells its cluster of an incident; the subject is its culprit as kind and name",
        ("job", "incident", "cause", "layer"),
        "entity",
    ),
    EventKind("fleet.linked", "a cluster tells a job that an incident is part of a larger one", ("incident",), "incident"),
    EventKind("fleet.known", "a cluster tells a job that it follows this GPU's fault itself", ("incident", "code"), "gpu"),
    EventKind("cluster.gpus", "a cluster tells the line without a name which GPUs are its own", ("gpus",), "cluster"),
    EventKind("job.placed", "a job that names no cluster tells where it runs", ("job", "gpus"), "job"),
    EventKind("cluster.found", "a job is told to which cluster it belongs", ("cluster",), "cluster"),
    EventKind("agent.dropped", "an agent lost records", ("samples", "events")),
)
# fmt: on

MOVES_THE_CLOCK = (
    *("attempt.", "phase.", "checkpoint.", "config.", "scheduler.", "node.removed", "node.joined", "node.missing"),
    *("job.incident", "job.summary", "job.placed", "cluster."),
)
"""How events begin whose time may move the stream's clock; those read from logs, and those of people, may not."""

ANSWERS = (
    *("request.approved", "request.rejected", "incident.acknowledged", "incident.closed"),
    *("action.done", "action.failed", "action.refused"),
)
"""What people and runners say about an incident or a request; it counts whatever the job does meanwhile."""

BY_NAME = {kind.name: kind for kind in EVENTS}
