"""THE table of signals: every quantity by name, with unit, layer, bad direction and what is worth an alarm."""

from typing import Literal

from msgspec import Struct

from schemas.detection import Layer

Bad = Literal["up", "down", "both", "none"]
Over = Literal["mean", "median", "max", "min", "sum"]
Kind = Literal["gauge", "counter", "flag", "schedule", "id"]


class Signal(Struct, frozen=True):
    """One named quantity.

    Attributes:
        name: the only spelling inside; a trailing `.*` makes it a family.
        unit: s, bytes, bytes/s, tokens/s, share (0..1), W, Celsius, MHz, or "" for a plain number.
        layer: which of the four signals of the time line it belongs to (or checkpoint).
        part: the part of the machine or job it speaks of, the layer of a cause.
        bad: the direction that hurts; `both` where either does, `none` where a change is no harm by itself.
        worth: smallest relative change worth an alarm, 0.05 is 5 %.
        floor: smallest absolute change worth an alarm, in the unit.
        over: how the values of ranks or entities become one value of the job.
        kind: gauge, counter (grows, may restart at 0), flag (0 or 1), schedule (planned by the trainer), id.
        meaning: for a person.
        aliases: other spellings seen at sources; normalised by the agents, units included.
    """

    name: str
    unit: str
    layer: Layer
    part: str
    bad: Bad
    worth: float
    floor: float
    over: Over
    kind: Kind
    meaning: str
    aliases: tuple[str, ...] = ()


def _signal(
    name: str,
    unit: str,
    layer: Layer,
    part: str,
    bad: Bad,
    meaning: str,
    *,
    worth: float = 0.1,
    floor: float = 0.0,
    over: Over = "mean",
    kind: Kind = "gauge",
    aliases: tuple[str, ...] = (),
) -> Signal:
    return Signal(name, unit, layer, part, bad, worth, floor, over, kind, meaning, aliases)


# fmt: off
_LOSS = (
    _signal("loss", "", "loss", "model", "both", "training loss", worth=0.1, floor=0.05, aliases=("lm loss", "train/loss")),
    _signal("valid_loss", "", "loss", "model", "up", "validation loss", worth=0.05, floor=0.02, aliases=("eval_loss",)),
    _signal("valid_loss.*", "", "loss", "model", "up", "validation loss on one of several sets", worth=0.05, floor=0.02),
    _signal("grad_norm", "", "loss", "model", "both", "gradient norm before clipping", worth=1.0, aliases=("grad norm",)),
    _signal("update_norm", "", "loss", "model", "up", "norm of the parameter update", worth=1.0),
    _signal("params_norm", "", "loss", "model", "both", "norm of the parameters", worth=0.2, aliases=("params norm",)),
    _signal("recovery_error", "share", "loss", "model", "none", "loss of a resumed run against the same steps before"),
    _signal("learning_rate", "", "loss", "config", "none", "learning rate", kind="schedule", aliases=("lr",)),
    _signal("loss_scale", "", "loss", "model", "down", "loss scale of mixed precision", worth=0.9),
    _signal("skipped", "", "loss", "model", "up", "1 where the optimiser step was skipped", kind="flag"),
)
_THROUGHPUT = (
    _signal("tokens", "", "throughput", "config", "none", "tokens trained in the step", kind="schedule"),
    _signal("tokens_per_second", "tokens/s", "throughput", "job", "down", "tokens trained per second", worth=0.04),
    _signal("tokens_per_second_per_gpu", "tokens/s", "throughput", "job", "down", "tokens trained per second and GPU", worth=0.04),
    _signal("tokens_per_second_mean", "tokens/s", "throughput", "job", "none", "mean since the start; hides change", kind="schedule"),
    _signal("steps_per_second_mean", "1/s", "throughput", "job", "none", "smoothed by the trainer; hides change", kind="schedule"),
    _signal("step_seconds_mean", "s", "throughput", "job", "none", "smoothed by a progress bar; hides change", kind="schedule"),
    _signal("tokens_seen", "", "throughput", "config", "none", "tokens trained since the start", kind="schedule"),
    _signal("samples_per_second", "1/s", "throughput", "job", "down", "current samples per second", worth=0.04),
    _signal("samples_per_second_mean", "1/s", "throughput", "job", "none", "mean since the start; hides change", kind="schedule"),
    _signal("step_seconds", "s", "throughput", "job", "up", "length of a step, the slowest rank's", worth=0.04, over="max"),
    _signal("seconds_per_sample", "s", "throughput", "job", "up", "step time over batch size", worth=0.04),
    _signal("own_seconds", "s", "throughput", "gpu", "up", "a rank's own work: its step without the waiting", worth=0.1),
    _signal("uneven_work_share", "share", "throughput", "config", "none", "how much longer the slowest rank works than its peers' median"),
    _signal("compute_seconds", "s", "throughput", "gpu", "up", "a rank's own forward and backward", worth=0.05),
    _signal("wait_seconds", "s", "throughput", "network", "up", "waiting in collectives", worth=0.2, floor=0.02),
    _signal("wait_least_seconds", "s", "throughput", "network", "up", "waiting of the rank that waits least: what collectives take by themselves", worth=0.2, floor=0.02, over="min"),
    _signal("loader_seconds", "s", "data", "data", "up", "waiting for the next batch", worth=0.5, floor=0.02),
    _signal("loader_share", "share", "data", "data", "up", "loader_seconds over step_seconds", worth=0.5, floor=0.02),
    _signal("loader_share_median", "share", "data", "data", "up", "loader share of the middle rank: rises where all starve", worth=0.5, floor=0.02),
    _signal("optimizer_seconds", "s", "throughput", "gpu", "up", "optimiser step", worth=0.2, floor=0.02),
    _signal("h2d_seconds", "s", "throughput", "interconnect", "up", "copying input to the GPU", worth=0.5, floor=0.02),
    _signal("host_prep_seconds", "s", "throughput", "host", "up", "host work before launch", worth=0.5, floor=0.005),
    _signal("interval_seconds", "s", "throughput", "job", "up", "from the end of one step to the next", worth=0.1, over="max"),
    _signal("mfu", "share", "throughput", "job", "down", "model FLOPs utilisation", worth=0.04),
    _signal("effective_share", "share", "throughput", "job", "none", "share of the ranks' time in which they computed new steps"),
    _signal("tflops", "TFLOP/s", "throughput", "job", "down", "model TFLOP/s per GPU", worth=0.04, aliases=("TFLOPs",)),
    _signal("bubble_share", "share", "throughput", "config", "up", "pipeline bubble", worth=0.2, floor=0.02),
    _signal("batch_size", "", "throughput", "config", "none", "samples per step", kind="schedule"),
    _signal("sequence_length", "", "throughput", "config", "none", "tokens per sample", kind="schedule"),
    _signal("expert_load_ratio", "", "throughput", "model", "up", "tokens of the busiest expert over the mean", worth=0.3, floor=0.3),
    _signal("dropped_token_share", "share", "throughput", "model", "up", "tokens that no expert had room for", worth=1.0, floor=0.02),
    _signal("allocator_flushes", "", "throughput", "config", "up", "GPU allocator cache flushes per step", floor=1.0),
)
_CHECKPOINT = (
    _signal("checkpoint_seconds", "s", "checkpoint", "checkpoint", "up", "pause for a checkpoint", worth=0.5, floor=5.0, over="max"),
    _signal("checkpoint_share", "share", "checkpoint", "checkpoint", "up", "pause over the time since the last one", floor=0.02),
    _signal("checkpoint_age_steps", "", "checkpoint", "checkpoint", "none", "steps since the last complete checkpoint"),
    _signal("checkpoint_bytes", "bytes", "checkpoint", "checkpoint", "both", "size of a checkpoint", worth=0.2, over="sum"),
)
_DATA = (
    _signal("source_share.*", "share", "data", "data", "both", "share of a source in the batch", worth=0.2, floor=0.05),
    _signal("length_share.*", "share", "data", "data", "both", "share of a length bucket", worth=0.2, floor=0.05),
    _signal("bad_sample_share", "share", "data", "data", "up", "share of unreadable samples", worth=1.0, floor=0.01),
    _signal("sampler_cursor", "", "data", "data", "none", "position of the sampler", kind="schedule", over="max"),
    _signal("epoch", "", "data", "data", "none", "number of the epoch", kind="schedule", over="max"),
    _signal("sample_id", "", "data", "data", "none", "id of the sample trained", kind="id"),
    _signal("duplicate_samples_total", "", "data", "data", "up", "samples trained twice", floor=1.0, kind="counter", over="max"),
    _signal("skipped_samples_total", "", "data", "data", "up", "samples left out", floor=1.0, kind="counter", over="max"),
    _signal("packing_waste", "share", "data", "data", "up", "padding share of packed sequences", worth=0.5, floor=0.03),
)
_GPU = (
    _signal("gpu_util", "share", "system", "gpu", "none", "some kernel was running", aliases=("DCGM_FI_DEV_GPU_UTIL",)),
    _signal("sm_active", "share", "system", "gpu", "none", "share of active SMs", aliases=("DCGM_FI_PROF_SM_ACTIVE",)),
    _signal("tensor_active", "share", "system", "gpu", "none", "tensor cores active", aliases=("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",)),
    _signal("hbm_used_bytes", "bytes", "system", "gpu", "none", "GPU memory in use", aliases=("DCGM_FI_DEV_FB_USED",)),
    _signal("hbm_peak_bytes", "bytes", "system", "gpu", "none", "highest use of GPU memory that the trainer saw", over="max"),
    _signal("hbm_total_bytes", "bytes", "system", "gpu", "none", "GPU memory present"),
    _signal("hbm_used_share", "share", "system", "gpu", "none", "GPU memory in use, of what is present", over="max"),
    _signal("hbm_active", "share", "system", "gpu", "none", "GPU memory interface active", aliases=("DCGM_FI_PROF_DRAM_ACTIVE",)),
    _signal("sm_clock_mhz", "MHz", "system", "gpu", "down", "SM clock", worth=0.08, over="min", aliases=("DCGM_FI_DEV_SM_CLOCK",)),
    _signal("sm_clock_limit_mhz", "MHz", "system", "gpu", "none", "highest SM clock of the part", over="min"),
    _signal("clocks_held_*_seconds_total", "s", "system", "gpu", "none", "time for which clocks were held down, by reason", kind="counter", over="max"),
    _signal("temperature_margin_c", "Celsius", "system", "gpu", "none", "degrees left until the GPU slows down", over="min"),
    _signal("temperature_c", "Celsius", "system", "gpu", "none", "GPU temperature", over="max", aliases=("DCGM_FI_DEV_GPU_TEMP",)),
    _signal("memory_temperature_c", "Celsius", "system", "gpu", "none", "GPU memory temperature", over="max"),
    _signal("power_watts", "W", "system", "gpu", "none", "power draw", aliases=("DCGM_FI_DEV_POWER_USAGE",)),
    _signal("busy_power_watts", "W", "system", "gpu", "none", "power draw of the GPUs that are busy"),
    _signal("busy_temperature_c", "Celsius", "system", "gpu", "none", "temperature of the GPUs that are busy"),
    _signal("busy_sm_active", "share", "system", "gpu", "none", "share of active SMs of the GPUs that are busy"),
    _signal("power_limit_watts", "W", "system", "gpu", "down", "enforced power limit", worth=0.05, over="min"),
    _signal("throttle_sw_power_cap", "", "system", "gpu", "none", "clocks at the power cap; normal under load", kind="flag", over="max"),
    _signal("throttle_*", "", "system", "gpu", "up", "clocks held down for a reason", kind="flag", floor=0.5, over="max"),
    _signal("ecc_sbe_*_total", "", "system", "gpu", "up", "memory errors that were corrected", kind="counter", floor=10.0, over="sum"),
    _signal("ecc_dram_corrected_*_total", "", "system", "gpu", "up", "the same, of GPU memory", kind="counter", floor=10.0, over="sum"),
    _signal("ecc_sram_corrected_*_total", "", "system", "gpu", "up", "the same, of caches", kind="counter", floor=10.0, over="sum"),
    _signal("ecc_*_total", "", "system", "gpu", "up", "memory errors", kind="counter", floor=1.0, over="sum"),
    _signal("remapped_rows_*", "", "system", "gpu", "up", "remapped memory rows", kind="counter", floor=1.0, over="sum"),
    _signal("xid_last", "", "system", "gpu", "none", "last Xid the exporter saw; sticks", kind="id", over="max"),
    _signal("nvlink_errors_total", "", "system", "interconnect", "up", "NVLink errors", kind="counter", floor=5.0, over="sum"),
    _signal("nvlink_lanes_up", "", "system", "interconnect", "down", "NVLink lanes at full width", floor=1.0, over="min"),
    _signal("pcie_replays_total", "", "system", "interconnect", "up", "PCIe replays", kind="counter", floor=10.0, over="sum"),
    _signal("pcie_generation", "", "system", "interconnect", "down", "PCIe generation; falls when idle", floor=1.0, over="min"),
    _signal("pcie_width", "", "system", "interconnect", "down", "PCIe lanes in use", floor=1.0, over="min"),
)
_HOST = (
    _signal("cpu_util", "share", "system", "host", "up", "busy share of all CPUs", worth=0.3, floor=0.15),
    _signal("allowed_cpu_util", "share", "system", "host", "up", "busy share of the CPUs the job may use", worth=0.3, floor=0.15),
    _signal("allowed_cpus", "", "system", "host", "down", "CPUs the job may use", floor=1.0, over="min"),
    _signal("cpus", "", "system", "host", "none", "CPUs present", over="min"),
    _signal("cpus_saturated", "", "system", "host", "up", "CPUs busy all the time, of those the job may use", worth=1.0, floor=2.0),
    _signal("pressure_cpu", "share", "system", "host", "up", "share of time in which work waited for a CPU", worth=1.0, floor=0.2),
    _signal("pressure_memory", "share", "system", "host", "up", "share of time in which work waited for memory", worth=1.0, floor=0.1),
    _signal("pressure_io", "share", "system", "host", "up", "share of time in which work waited for I/O", worth=1.0, floor=0.2),
    _signal("pressure_memory_full", "share", "system", "host", "up", "share of time in which all work waited for memory", worth=1.0, floor=0.05),
    _signal("pressure_io_full", "share", "system", "host", "up", "share of time in which all work waited for I/O", worth=1.0, floor=0.1),
    _signal("iowait", "share", "system", "host", "up", "CPUs idle with I/O outstanding", worth=1.0, floor=0.05),
    _signal("load", "", "system", "host", "up", "load average over one minute", worth=0.5, floor=4.0),
    _signal("memory_available_bytes", "bytes", "system", "host", "down", "memory that can be had", worth=0.3, over="min"),
    _signal("page_cache_bytes", "bytes", "system", "host", "down", "files kept in memory", worth=0.3, over="min"),
    _signal("swap_used_bytes", "bytes", "system", "host", "up", "swap in use", worth=1.0, floor=1e9, over="max"),
    _signal("shm_used_share", "share", "system", "host", "up", "shared memory in use", worth=0.5, floor=0.3, over="max"),
    _signal("oom_kills_total", "", "system", "host", "up", "processes killed for memory", kind="counter", floor=1.0, over="sum"),
    _signal("disk_util", "share", "system", "host", "up", "share of time the disk was busy", worth=0.5, floor=0.2, over="max"),
    _signal("disk_latency_seconds", "s", "system", "host", "up", "time of one disk request", worth=1.0, floor=0.005, over="max"),
    _signal("disk_read_bytes_per_second", "bytes/s", "system", "host", "none", "disk reads", over="sum"),
)
_STORAGE = (
    _signal("space_free_bytes", "bytes", "system", "storage", "none", "space left on a mount", over="min"),
    _signal("space_used_share", "share", "system", "storage", "up", "share of a mount in use", worth=0.5, floor=0.2, over="max"),
    _signal("read_only", "", "system", "storage", "up", "1 where a mount takes no writes", kind="flag", floor=0.5, over="max"),
    _signal("storage_write_bytes_per_second", "bytes/s", "system", "storage", "none", "bytes written to the data path", over="sum"),
    _signal("storage_write_latency_seconds", "s", "system", "storage", "up", "time of one write", worth=1.0, floor=0.01, over="median"),
    _signal("storage_read_bytes_per_second", "bytes/s", "system", "storage", "none", "bytes read from the data path", over="sum"),
    _signal("storage_latency_seconds", "s", "system", "storage", "up", "time of one read", worth=0.5, floor=0.002, over="median"),
    _signal("storage_retries_total", "", "system", "storage", "up", "reads tried again", kind="counter", floor=1.0, over="sum"),
    _signal("storage_errors_total", "", "system", "storage", "up", "reads failed", kind="counter", floor=1.0, over="sum"),
    _signal("storage_metadata_latency_seconds", "s", "system", "storage", "up", "time of one open, stat or list", worth=1.0, floor=0.005, over="median"),
    _signal("cache_hit_ratio", "share", "system", "storage", "down", "reads answered by the cache", worth=0.1, floor=0.1),
)
_COMMUNICATION = (
    _signal("nic_errors_total", "", "system", "network", "up", "NIC errors", kind="counter", floor=5.0, over="sum"),
    _signal("retransmits_total", "", "system", "network", "up", "packets sent again", kind="counter", floor=50.0, over="sum"),
    _signal("link_downs_total", "", "system", "network", "up", "links that went down", kind="counter", floor=1.0, over="sum"),
    _signal("link_up", "", "system", "network", "down", "1 where the link is up", kind="flag", floor=0.5, over="min"),
    _signal("link_bytes_per_second", "bytes/s", "system", "network", "down", "speed of the link", worth=0.1, over="min"),
    _signal("network_receive_bytes_per_second", "bytes/s", "system", "network", "none", "bytes received", over="sum"),
    _signal("network_transmit_bytes_per_second", "bytes/s", "system", "network", "none", "bytes sent", over="sum"),
    _signal("nic_drops_total", "", "system", "network", "none", "packets dropped by a NIC", kind="counter", over="sum"),
    _signal("rdma_transmit_wait_total", "", "system", "network", "none", "ticks with data to send and no credit", kind="counter", over="sum"),
    _signal("rdma_congestion_*_total", "", "system", "network", "none", "congestion notices; normal in bursts", kind="counter", over="sum"),
    _signal("rdma_*", "", "system", "network", "up", "RDMA counters", kind="counter", floor=50.0, over="sum"),
    _signal("nccl_bus_bytes_per_second", "bytes/s", "system", "network", "down", "bus bandwidth of collectives", worth=0.1),
    _signal("nccl_latency_seconds", "s", "system", "network", "up", "time of one collective", worth=0.3),
    _signal("source_age_seconds", "s", "system", "monitoring", "up", "since a source last spoke", over="max"),
    _signal("clock_synchronised", "", "system", "monitoring", "none", "1 where the clock follows a reference", kind="flag", over="min"),
    _signal("clock_offset_seconds", "s", "system", "monitoring", "both", "clock against the reference", floor=2.0, over="max"),
)

# fmt: on

SIGNALS = (*_LOSS, *_THROUGHPUT, *_CHECKPOINT, *_DATA, *_GPU, *_HOST, *_STORAGE, *_COMMUNICATION)

_BY_NAME = {signal.name: signal for signal in SIGNALS}
_FAMILIES = tuple(signal for signal in SIGNALS if "*" in signal.name)


def signal_named(name: str) -> Signal:
    """Find a signal in the table; an unknown one is a gauge of the system layer in which either direction may hurt.

    >>> signal_named("loader_share").layer
    'data'
    >>> signal_named("throttle_hw_thermal").bad, signal_named("throttle_sw_power_cap").bad
    ('up', 'none')
    >>> signal_named("something_new").bad
    'both'
    """
    found = _BY_NAME.get(name)
    if found is not None:
        return found
    for family in _FAMILIES:
        head, _, tail = family.name.partition("*")
        if len(name) > len(head) + len(tail) and name.startswith(head) and name.endswith(tail):
            return family
    return Signal(name, "", "system", "unknown", "both", 0.2, 0.0, "mean", "gauge", "not in the table")
