"""One event for what two sources tell: an Xid comes from the driver and from the kernel's log."""

from collections.abc import Iterator, Sequence

from streams.agents.finding import Finding, Happening

SAME_SECONDS = 10.0

_OF_A_GPU = ("xid", "gpu.off_bus", "gpu.lost")


class Once:
    """Lets the first of the same events through, and those of the same source a while later."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str, object], float] = {}

    def first(self, findings: Sequence[Finding], now: float) -> Iterator[Finding]:
        """Give the findings without Xid errors that were told a moment ago of the same GPU.

        Args:
            findings: of one look.
            now: seconds of any clock.
        """
        self._told = {key: told for key, told in self._told.items() if now - told < SAME_SECONDS}
        for finding in findings:
            if (
                isinstance(finding, Happening)
                and finding.event in ("xid", "gpu.off_bus", "gpu.lost")
                and finding.subject
            ):
                key = (finding.event, finding.subject, finding.data.get("code"))
                if key in self._told:
                    continue
                self._told[key] = now
            yield finding
