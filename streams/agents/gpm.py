"""How busy the parts of a GPU are, from two looks of its performance monitor (Hopper and newer)."""

from schemas.telemetry import Reading
from streams.agents.nvml import Handle, Nvml, pynvml

SHORTEST_SECONDS = 0.1
"""Between two looks; the monitor gives nothing sensible over less."""
_METRICS = {
    pynvml.NVML_GPM_METRIC_SM_UTIL: "sm_active",
    pynvml.NVML_GPM_METRIC_ANY_TENSOR_UTIL: "tensor_active",
    pynvml.NVML_GPM_METRIC_DRAM_BW_UTIL: "hbm_active",
}


class Monitor:
    """The monitor of one GPU or MIG instance; gives nothing on parts that have none.

    Args:
        device: the GPU.
        instance: number of the MIG instance; None for the whole GPU.
    """

    def __init__(self, nvml: Nvml, device: Handle, instance: int | None = None) -> None:
        self._nvml, self._device, self._instance = nvml, device, instance
        self._query = pynvml.c_nvmlGpmMetricsGet_t()
        self._samples: list[Handle] = []
        self._looked: float | None = None

    def look(self, now: float) -> dict[str, Reading]:
        """Give the shares since the look before; nothing at the first, or too soon after it.

        Args:
            now: seconds of a clock that never goes back.
        """
        if self._looked is not None and now - self._looked < SHORTEST_SECONDS:
            return {}
        if not self._samples and not self._begin():
            return {}
        older, newer = self._samples
        if self._take(newer) is None:
            return {}
        first, self._looked = self._looked is None, now
        self._samples = [newer, older]
        return {} if first else self._shares(older, newer)

    def _begin(self) -> bool:
        support = self._nvml.ask("nvmlGpmQueryDeviceSupport", self._device)
        if not support or not support.isSupportedDevice:
            return False
        samples = [self._nvml.ask("nvmlGpmSampleAlloc") for _ in range(2)]
        self._samples = samples if None not in samples else []
        return bool(self._samples)

    def _take(self, sample: Handle) -> Handle:
        if self._instance is None:
            return self._nvml.ask("nvmlGpmSampleGet", self._device, sample)
        return self._nvml.ask("nvmlGpmMigSampleGet", self._device, self._instance, sample)

    def _shares(self, older: Handle, newer: Handle) -> dict[str, Reading]:
        query = self._query
        query.version, query.numMetrics = pynvml.NVML_GPM_METRICS_GET_VERSION, len(_METRICS)
        query.sample1, query.sample2 = older, newer
        for place, metric in enumerate(_METRICS):
            query.metrics[place].metricId = metric
        if self._nvml.ask("nvmlGpmMetricsGet", query) is None:
            return {}
        found = ((name, query.metrics[place]) for place, name in enumerate(_METRICS.values()))
        return {name: metric.value / 100 for name, metric in found if metric.nvmlReturn == pynvml.NVML_SUCCESS}
