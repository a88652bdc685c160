"""The steps of a training in Keras: a QKeras model fitted to frames and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.progress import Progress
from hlsgen.model.ports import Floats
from hlsgen.training.fit import (
    Fitted,
    changed_shape,
    check_finite,
    fitted,
    goal_of,
    half_cosine,
    no_loss,
    no_optimiser,
    steps_of_an_epoch,
    targets_of,
)
from hlsgen.training.frames import TrainingFrames
from hlsgen.training.keras.network import Network
from hlsgen.training.keras.packages import keras, quiet, tf
from hlsgen.training.recipe import Recipe

Loss = Callable[[Any, Any], Any]
SGD = "return tf_keras.optimizers.SGD(0.01), say: one of tf_keras, which QKeras is written for"


def fit(
    network: Network,
    frames: TrainingFrames,
    recipe: Recipe,
    wanted: Sequence[Floats],
    name: str,
    progress: Progress,
) -> Fitted:
    """Trains the network in float32, in place: the optimiser of the recipe, else Adam, its rate falling to 0
    along half a cosine.

    wanted: what the network in floating point gives for the frames, which they are fitted to without labels.
    Raises DesignError: a loss that is no finite number, or the user's code fails.
    """
    with quiet(), seeded(recipe.seed):
        return fitted(_Steps(network, frames, recipe, wanted), frames, recipe, name, progress)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """TensorFlow's and NumPy's random numbers are those of a seed; afterwards those of before."""
    from tensorflow.python.eager import context

    of = context.context()
    # no generator is there before the first seed
    kept, drawn = (of._seed, getattr(of, "_rng", None)), np.random.get_state()
    tf.random.set_seed(seed)
    np.random.seed(seed % (1 << 32))
    try:
        yield
    finally:
        of._seed, of._rng = kept
        np.random.set_state(drawn)


class _Steps:
    def __init__(
        self, network: Network, frames: TrainingFrames, recipe: Recipe, wanted: Sequence[Floats]
    ) -> None:
        self.recipe, self.count = recipe, frames.count
        self.model = network.model
        self.parameters = self.model.trainable_variables
        self.inputs = [one.astype(np.float32) for one in frames.x]
        self.targets = targets_of(frames, wanted)
        self.loss_of = _loss(recipe, frames, wanted)
        self.optimiser, self.rate = _optimiser(recipe, self.parameters)
        self.total, self.done = recipe.epochs * steps_of_an_epoch(frames, recipe), 0
        self.numbers = np.random.default_rng(recipe.seed)
        # the user's loss runs outside, as Python
        self.runs = tf.function(lambda given: self.model(given, training=True), reduce_retracing=True)
        self.optimiser.build(self.parameters)
        self.applies = tf.function(
            lambda found: self.optimiser.apply_gradients(zip(found, self.parameters, strict=True))
        )

    def order(self) -> NDArray[np.int64]:
        return self.numbers.permutation(self.count)

    def step(self, at: NDArray[np.int64], epoch: int) -> float:
        given = [tf.constant(one[at]) for one in self.inputs]
        if self.recipe.augment is not None:
            given = _augmented(self.recipe, given)
        goal = [tf.constant(one[at]) for one in self.targets]
        with tf.GradientTape() as tape:
            loss = self.loss_of(self.runs(given), goal)
        number = _number(loss)
        check_finite(number, epoch, self.recipe)
        found = tape.gradient(loss, self.parameters)
        if all(one is None for one in found):
            raise no_loss("computed without the outputs")
        if self.rate is not None:
            self.optimiser.learning_rate = self.rate * half_cosine(self.done, self.total)
        self.applies(
            [
                tf.zeros_like(of) if one is None else one
                for one, of in zip(found, self.parameters, strict=True)
            ]
        )
        self.done += 1
        return number


def _optimiser(recipe: Recipe, parameters: Sequence[Any]) -> tuple[Any, float | None]:
    """The optimiser, and its learning rate at first; None: it has a schedule of its own."""
    if recipe.optimiser is None:
        return keras.optimizers.Adam(recipe.learning_rate), recipe.learning_rate
    found = recipe.optimiser(parameters)
    if not isinstance(found, keras.optimizers.Optimizer | keras.optimizers.legacy.Optimizer):
        raise no_optimiser(recipe, found, SGD)
    rate = getattr(found, "_learning_rate", None)
    if isinstance(rate, keras.optimizers.schedules.LearningRateSchedule):
        return found, None
    return found, float(np.asarray(found.learning_rate))


def _augmented(recipe: Recipe, given: list[Any]) -> list[Any]:
    """The frames of a batch, changed by the recipe: a tensor, or a list of them for several inputs."""
    assert recipe.augment is not None
    found = recipe.augment(given[0] if len(given) == 1 else given)
    fresh = list(found) if isinstance(found, list | tuple) else [found]
    if [tuple(getattr(one, "shape", ())) for one in fresh] != [tuple(one.shape) for one in given]:
        raise changed_shape(recipe)
    return [tf.cast(one, tf.float32) for one in fresh]


def _loss(recipe: Recipe, frames: TrainingFrames, wanted: Sequence[Floats]) -> Loss:
    """The recipe's loss; else cross-entropy of classes, mean square error of what else is wanted.

    Raises DesignError: labels that go with neither.
    """
    if recipe.loss is not None:
        own = recipe.loss
        return lambda outputs, goal: own(outputs, goal[0] if len(goal) == 1 else goal)
    if goal_of(frames, wanted) == "classes":
        return lambda outputs, goal: tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(
                tf.reshape(goal[0], [-1]), tf.reshape(_list(outputs)[0], [len(goal[0]), -1])
            )
        )
    return lambda outputs, goal: tf.add_n(
        [
            tf.reduce_mean(tf.math.squared_difference(got, one))
            for got, one in zip(_list(outputs), goal, strict=True)
        ]
    )


def _list(outputs: Any) -> list[Any]:
    return outputs if isinstance(outputs, list) else [outputs]


def _number(loss: Any) -> float:
    """The loss. Raises DesignError: it is no single number that gradients lead back from."""
    if not tf.is_tensor(loss):
        raise no_loss(f"{loss!r:.40}")
    if tuple(loss.shape) not in ((), (1,)) or not loss.dtype.is_floating:
        raise no_loss(f"a tensor of shape {tuple(loss.shape)}")
    return float(tf.reshape(loss, []))
