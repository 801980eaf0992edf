"""`python -m tests.fuzz --seconds 3600 --seed 1`: damage everything that is read, and say what fails; exit code 1 then.

`--target logs --seed 4711` makes the one attempt of a seed again and lets its fault through.
"""

import argparse
import contextlib
import resource
import sys
from random import Random

from streams.clock import monotonic_seconds
from tests.fuzz.campaign import Campaign, rounds, targets

MOST_BYTES = 4 << 30
"""Of memory: who asks for more believed what a few damaged bytes say of themselves."""


def main() -> int:
    """Run; give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", default="")
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    if asked.target:
        with targets() as all_targets:
            all_targets[asked.target](Random(f"{asked.target} {asked.seed}"))
        return 0
    campaign, begin = Campaign(), monotonic_seconds()
    with contextlib.suppress(KeyboardInterrupt):  # what was found until then is told
        rounds(campaign, asked.seed, lambda: monotonic_seconds() - begin < asked.seconds)
    report(campaign, asked.seed, monotonic_seconds() - begin)
    return 1 if campaign.failures else 0


def report(campaign: Campaign, first: int, seconds: float) -> None:
    """Say what was tried, and what failed at which seed."""
    say, attempted = sys.stdout.write, sum(campaign.attempts.values())
    lines = sum(campaign.lines.values())
    say(f"{seconds:.0f} s, from seed {first} on, {attempted:,} attempts, {lines:,} lines\n")
    for name, attempts in campaign.attempts.items():
        slowest, seed = campaign.slowest[name]
        say(f"  {name:12} {attempts:10,} attempts {campaign.lines[name]:12,} lines, slowest {slowest:.2f} s ({seed})\n")
    for place, count in campaign.failed.most_common():
        say(f"FAILED {count} times: {place}\n")
    for failure in campaign.failures[:20]:
        say(f"\n--target {failure.target} --seed {failure.seed}\n{failure.fault}\n")


if __name__ == "__main__":
    sys.exit(main())
