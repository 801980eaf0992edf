"""A network of two hidden layers that learns classes by gradient descent with momentum; numpy alone."""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from streams.demo_real.dataset import Rows

Array = NDArray[np.float32]


class Lesson(Struct, frozen=True):
    """What one step of learning came to.

    Attributes:
        loss: mean cross entropy before the step, in nats.
        gradient_norm: over all parameters.
    """

    loss: float
    gradient_norm: float


class Network:
    """Learns.

    Args:
        features: numbers in a row.
        hidden: width of both hidden layers.
        classes: how many there are.
        rate: learning rate.
        momentum: share of the last change that goes on.
        seed: the same seed begins with the same weights.
    """

    def __init__(
        self, features: int, hidden: int, classes: int, *, rate: float = 0.05, momentum: float = 0.9, seed: int = 5
    ) -> None:
        self.rate, self._momentum = rate, momentum
        random = np.random.default_rng(seed)
        sizes = [(features, hidden), (hidden, hidden), (hidden, classes)]
        self.weights: list[Array] = [
            (random.standard_normal(size) * np.sqrt(2 / size[0])).astype(np.float32) for size in sizes
        ]
        self.biases: list[Array] = [np.zeros(size[1], dtype=np.float32) for size in sizes]
        self._changes = [np.zeros_like(parameter) for parameter in self.parameters]

    @property
    def parameters(self) -> list[Array]:
        """All that is learned; the arrays themselves."""
        return [*self.weights, *self.biases]

    def gradients(self, rows: Rows) -> tuple[float, list[Array]]:
        """Give the loss of rows and the gradients, in the order of the parameters."""
        features, classes = rows[:, :-1], rows[:, -1].astype(np.int64)
        layers: list[Array] = [features]
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            layers.append(np.maximum(layers[-1] @ weight + bias, 0))
        logits = layers[-1] @ self.weights[-1] + self.biases[-1]
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        shares = odds / odds.sum(axis=1, keepdims=True)
        every = np.arange(len(rows))
        loss = float(-np.log(np.maximum(shares[every, classes], 1e-30)).mean())
        error = shares
        error[every, classes] -= 1
        error /= len(rows)
        return loss, self._backward(layers, error)

    def learn(self, loss: float, gradients: list[Array]) -> Lesson:
        """Change the parameters by their gradients."""
        for parameter, change, gradient in zip(self.parameters, self._changes, gradients, strict=True):
            change *= self._momentum
            change -= self.rate * gradient
            parameter += change
        return Lesson(loss, float(np.sqrt(sum(float(np.vdot(each, each)) for each in gradients))))

    def _backward(self, layers: list[Array], error: Array) -> list[Array]:
        weights: list[Array] = []
        biases: list[Array] = []
        for index in range(len(self.weights) - 1, -1, -1):
            weights.insert(0, layers[index].T @ error)
            biases.insert(0, error.sum(axis=0))
            if index:
                error = (error @ self.weights[index].T) * (layers[index] > 0)
        return [*weights, *biases]
