"""Steps of a plain loop: `for s, batch in steps(hook, loader): ...`; standard library only, copied beside the hook."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Tuple  # noqa: UP035 - Python 3.8


def steps(hook: Any, batches: Iterable[Any], first: int = 0) -> Iterator[Tuple[Any, Any]]:  # noqa: ANN401, UP006 - a Hook
    """Give the step being measured and its batch; waiting for the batch is measured, the body of the loop too.

    A loop that is left by `break` or an error does not tell of the step it was in.
    """
    iterator, number = iter(batches), first
    try:
        while True:
            with hook.step(number) as step:
                with step.loading():
                    batch = next(iterator)
                yield step, batch
            number += 1
    except StopIteration:
        return
