"""What the GPUs are bought for: model FLOPs against what the parts can do, and time spent on new training."""

import numpy as np

from detectors.base import Floats, require


def model_flops_utilisation(
    tokens: float, seconds: float, flops_per_token: float, gpus: int, peak_flops: float
) -> float:
    """Give the share of the GPUs' peak that the model's own arithmetic made use of; recomputation does not count.

    Args:
        tokens: trained in the step, by the whole job.
        seconds: from the end of one step to the end of the next, pauses included.
        flops_per_token: of forward and backward; about 6 times the parameters, and attention on top.
        gpus: of the job.
        peak_flops: of one of them per second, in the precision that is trained in.

    Raises:
        ValueError: a number that is not more than 0.
    Source: A. Chowdhery and others, PaLM, Journal of Machine Learning Research 24 (2023), appendix B.

    >>> round(model_flops_utilisation(4.0e6, 10.0, 6 * 70e9, 1024, 989e12), 3)
    0.166
    """
    numbers = {"tokens": tokens, "seconds": seconds, "flops_per_token": flops_per_token, "peak_flops": peak_flops}
    for name, value in {**numbers, "gpus": gpus}.items():
        require(value > 0, name, "more than 0")
    return tokens * flops_per_token / (seconds * gpus * peak_flops)


def effective_share(work: Floats, seconds: float, repeated: bool = False) -> float:
    """Give the share of the ranks' time in which they computed new steps; a GPU that spins in a collective does not.

    Args:
        work: seconds that each rank computed, shape (ranks,), NaN = not known.
        seconds: from the end of one step to the end of the next, pauses included.
        repeated: the step was trained before and lost, so none of it is new.

    Returns:
        0..1, or NaN where no rank says how long it computed.

    >>> effective_share(np.array([1.0, 0.5, np.nan]), 2.0), effective_share(np.array([1.0]), 2.0, repeated=True)
    (0.375, 0.0)
    """
    require(seconds > 0, "seconds", "more than 0")
    known = work[np.isfinite(work)]
    if not known.size:
        return float("nan")
    return 0.0 if repeated else float(np.clip(known.mean() / seconds, 0.0, 1.0))
