"""Run the benchmarks: `python -m bench [--data DIR] [NAME ...]`."""

import argparse
from collections.abc import Callable
from pathlib import Path

from bench import (
    agent_cost,
    alarm_rate,
    blame,
    calm,
    change_points,
    creeps,
    delay_bound,
    detector_speed,
    flood,
    hook_cost,
    hook_share,
    injected_losses,
    injected_slow_rank,
    line_speed,
    log_speed,
    quiet_days,
    reliability,
    step_times,
    streaming_anomalies,
    verdicts,
)
from bench.table import Table, machine, show

ALONE: dict[str, Callable[[], Table]] = {
    "line_speed": line_speed.run,
    "agent_cost": agent_cost.run,
    "hook_cost": hook_cost.run,
    "hook_share": hook_share.run,
    "log_speed": log_speed.run,
    "detector_speed": detector_speed.run,
    "verdicts": verdicts.run,
    "quiet_days": quiet_days.run,
    "reliability": reliability.run,
    "flood": flood.run,
    "delay_bound": delay_bound.run,
}
ON_DATA: dict[str, Callable[[Path], Table]] = {
    "calm": calm.run,
    "alarm_rate": alarm_rate.run,
    "creeps": creeps.run,
    "step_times": step_times.run,
    "change_points": change_points.run,
    "streaming_anomalies": streaming_anomalies.run,
    "blame": blame.run,
    "injected_losses": injected_losses.run,
    "injected_slow_rank": injected_slow_rank.run,
}


def main() -> None:
    """Run those that are named, or all that can be run."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with recorded data; without it only what needs none")
    parser.add_argument("names", nargs="*", help="benchmarks; all of them when none is named")
    options = parser.parse_args()
    unknown = set(options.names) - set(ALONE) - set(ON_DATA)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join([*ALONE, *ON_DATA])}")
    print(machine())
    for name, run in ALONE.items():
        if name in options.names or not options.names:
            show(run())
    for name, run_on in ON_DATA.items():
        if name in options.names or not options.names:
            if options.data is None:
                print(f"\n{name}: not run, it needs --data")
            else:
                show(run_on(options.data))


if __name__ == "__main__":
    main()
