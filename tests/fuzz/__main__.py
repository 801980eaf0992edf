"""`python -m tests.fuzz --seconds 3600 --seed 1`: damage everything that is read, and say what fails; exit code 1 then.

`--target logs --seed 4711` makes the one attempt of a seed again and lets its fault through.
"""

import argparse
import sys
from random import Random

from streams.clock import monotonic_seconds
from tests.fuzz.campaign import Campaign, rounds, targets


def main() -> int:
    """Run; give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", default="")
    asked = parser.parse_args()
    if asked.target:
        with targets() as all_targets:
            all_targets[asked.target](Random(f"{asked.target} {asked.seed}"))
        return 0
    campaign, begin = Campaign(), monotonic_seconds()
    last = rounds(campaign, asked.seed, lambda: monotonic_seconds() - begin < asked.seconds)
    report(campaign, asked.seed, last, monotonic_seconds() - begin)
    return 1 if campaign.failures else 0


def report(campaign: Campaign, first: int, last: int, seconds: float) -> None:
    """Say what was tried, and what failed at which seed."""
    say = sys.stdout.write
    say(f"{seconds:.0f} s, seeds {first} to {last - 1}, {sum(campaign.lines.values()):,} lines\n")
    for name, attempts in campaign.attempts.items():
        say(f"  {name:12} {attempts:10,} attempts {campaign.lines[name]:12,} lines\n")
    for place, count in campaign.failed.most_common():
        say(f"FAILED {count} times: {place}\n")
    for failure in campaign.failures[:20]:
        say(f"\n--target {failure.target} --seed {failure.seed}\n{failure.fault}\n")


if __name__ == "__main__":
    sys.exit(main())
