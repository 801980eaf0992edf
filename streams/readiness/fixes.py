"""What to switch on for a signal or event that is missing: the line, flag or file, ready to be taken over."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from playbooks.cause import covers
from streams.agents.series.aliases import ALIASES


class Fix(Struct, frozen=True):
    """One thing to do.

    Attributes:
        where: what is to be changed.
        brings: the missing names that it brings.
        text: the lines to take over.
    """

    where: str
    brings: tuple[str, ...]
    text: str


_STEP = """with hook.step(step) as s:
    with s.loading():
        batch = next(loader)
    with s.computing():
        loss = train(batch)
    with s.waiting():
        synchronise()
    s.log(loss=loss, grad_norm=norm, learning_rate=rate, tokens=tokens)"""
_RECIPES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "the training loop (streams/agents/trainer.py)",
        ("step_seconds", "loader_*", "compute_seconds", "wait_*", "own_seconds", "loss", "grad_norm", "tokens*",
         "optimizer_seconds", "h2d_seconds", "host_prep_seconds", "interval_seconds", "slow_rank", "stalled", "spike",
         "nonfinite", "level_shift", "sustained", "learning_rate"),
        _STEP,
    ),
    (
        "the training loop, what the loader and its sampler know",
        ("sampler_cursor", "source_share.*", "length_share.*", "bad_sample_share", "duplicate_samples_total",
         "skipped_samples_total", "packing_waste", "epoch", "sample_id"),
        "s.log(sampler_cursor=sampler.position, epoch=epoch, bad_sample_share=bad / read, packing_waste=padding / tokens)\n"
        's.log(**{f"source_share.{name}": share for name, share in shares.items()})\n'
        's.values["sample_id"] = sample_id  # of this rank, where a step has one',
    ),
    (
        "the training loop, what the model and its optimizer know",
        ("update_norm", "params_norm", "loss_scale", "skipped", "expert_load_ratio", "dropped_token_share",
         "allocator_flushes", "samples_per_second", "batch_size", "sequence_length", "bubble_share"),
        "s.log(update_norm=norm, loss_scale=scaler.get_scale(), skipped=int(overflow), batch_size=size)\n"
        's.log(allocator_flushes=torch.cuda.memory_stats()["num_alloc_retries"] - before)',
    ),
    (
        "the training loop, around the save",
        ("checkpoint", "checkpoint_*", "checkpoint.begin", "checkpoint.end", "checkpoint.failed"),
        "with hook.checkpoint(step):\n    save()",
    ),
    (
        "the training loop, after the save, of whoever knows its files",
        ("checkpoint.shards",),
        'hook.event("checkpoint.shards", step=step, sizes=[file.stat().st_size for file in folder.iterdir()])',
    ),
    (
        "the training loop, at its begin and end",
        ("attempt.*",),
        'hook.start(configuration)\n...\nhook.end()  # or hook.end("failed", exit_code=1)',
    ),
    (
        "whoever takes stack dumps of the ranks",
        ("stack.summary",),
        "trainmaster event stack.summary --job JOB groups='[{\"where\": \"all_reduce\", \"count\": 63}, {\"where\": \"read\", \"count\": 1, \"ranks\": [7]}]'",
    ),
    (
        "whoever runs benchmarks (nccl-tests, fio, a matrix product), with the figure that was promised",
        ("benchmark",),
        "trainmaster event benchmark --job JOB what=all_reduce bus_bytes_per_second=3.1e11 target=3.6e11 nodes='[\"n1\", \"n2\"]'\n"
        "trainmaster event benchmark --job JOB --subject /data what=disk_write bytes_per_second=1.4e9 target=2e9",
    ),
    (
        "the training loop, the storage client",
        ("storage_retries_total", "storage_errors_total", "cache_hit_ratio", "storage_read_*", "storage_latency_seconds", "storage_metadata_latency_seconds", "storage.error"),
        'hook.sample("mount", "/data", storage_retries_total=client.retries, cache_hit_ratio=cache.ratio)\n'
        'hook.event("storage.error", subject="/data", code=503, reason="slow down")',
    ),
    (
        "the agent's rights on the kernel's log",
        ("xid", "gpu.off_bus", "oom.kill"),
        "run the agent with CAP_SYSLOG (systemd: AmbientCapabilities=CAP_SYSLOG) and /dev/kmsg visible",
    ),
    (
        "the agent's command line, for the trainer's log",
        ("nccl.timeout", "nccl.error", "nccl.port_error", "rank.exit", "rank.error", "worker.killed"),
        "trainmaster agent --log '/path/of/the/trainers/*.log'",
    ),
    (
        "the trainer's environment, for collectives",
        ("nccl_*",),
        "NCCL_PROFILER_PLUGIN and NCCL_INSPECTOR_ENABLE=1 (NCCL 2.28 or newer), and the agent with --log on its files;\n"
        "TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 for the state at a time-out",
    ),
    (
        "node_exporter, or the agent on the node",
        ("rdma_*", "link_*", "retransmits_total", "nic_*"),
        "node_exporter --collector.infiniband --collector.netdev --collector.netstat --collector.netclass",
    ),
    (
        "node_exporter, or the agent on the node",
        ("iowait", "cpu_util", "load", "memory_*", "swap_*", "disk_*", "pressure_*", "oom_kills_total"),
        "node_exporter --collector.pressure --collector.diskstats --collector.vmstat --collector.meminfo",
    ),
    (
        "the agent on the node, with the NVIDIA driver visible (containers: NVIDIA_VISIBLE_DEVICES=all)",
        ("nvlink_lanes_up", "temperature_margin_c", "hbm_used_share"),
        "trainmaster agent --dir /run/trainmaster",
    ),
    (
        "the agent on the node",
        ("allowed_*", "page_cache_bytes", "shm_used_share", "cpus*", "space_*", "read_only", "clock_*"),
        "trainmaster agent --dir /run/trainmaster",
    ),
    (
        "the scheduler",
        ("node.*", "worker.evicted", "scheduler.status"),
        "[agent]\nslurm = true        # or kubernetes = true, on one agent of the cluster",
    ),
)  # fmt: skip


def fixes(missing: Iterable[str]) -> Iterator[Fix]:
    """Give what brings the missing names, each once; first the counters of dcgm-exporter as a file."""
    names = sorted(set(missing))
    yield from _counters(names)
    for where, patterns, text in _RECIPES:
        brought = tuple(name for name in names if covers(patterns, name))
        if brought:
            yield Fix(where, brought, text)


def _counters(names: Iterable[str]) -> Iterator[Fix]:
    """Write the lines of a counters file: field, Prometheus type, help."""
    brought: list[str] = []
    lines: list[str] = []
    for name in names:
        fields = [alias for alias in ALIASES if alias.series.startswith("DCGM_") and covers((name,), alias.signal)]
        if name.startswith("throttle_"):
            lines += ["DCGM_FI_DEV_CLOCK_THROTTLE_REASONS, gauge, reasons for low clocks."]
            brought.append(name)
        elif fields:
            brought.append(name)
            lines += [f"{alias.series}, {_type(alias.signal)}, {alias.signal}." for alias in fields]
    if lines:
        where = "dcgm-exporter's counters file (-f), or the agent on the node with the NVIDIA driver visible"
        yield Fix(where, tuple(brought), "\n".join(dict.fromkeys(lines)))


def _type(signal: str) -> str:
    return "counter" if signal.endswith("_total") else "gauge"
