"""A ResNet18 on MNIST, and LIFE(Adam), XGBoost and Adam on its 512 features (section 3.2.3).

Digit 1 against the rest. As the text has it, the images trained on are rotated by 20 degrees, all
of them by as much, and the test images are not. Of the direction it says nothing: ours is
counter-clockwise, scipy's. The ResNet18 is trained to the end, with a learning rate that falls to
zero. Each head's settings have the least log-loss on validation images that are rotated, too: no
image of the other kind has a part in training or choosing.
"""

from __future__ import annotations

import copy
import hashlib
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F
from scipy import ndimage
from sklearn.metrics import log_loss, roc_auc_score
from torch import nn
from xgboost import XGBClassifier

from benchmarks.paper.models import readable
from lifenet import Adam, AdamClassifier, LIFEClassifier, NeuronProjection, RidgeOutput
from lifenet.datasets import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    Arrays = npt.NDArray[Any]

TABLE, DATA = "MNIST_ResNet18", "MNIST"
DEGREES = 20.0
_SIDE, _DIGIT = 28, 1
# Mean and standard deviation of the pixels of MNIST, between 0 and 1.
_MEAN, _SPREAD = 0.1307, 0.3081
# Maps of at most this side are convolved by a matrix product.
_TINY = 2
_READ_ROWS = 500


@dataclass(frozen=True)
class Plan:
    """How much is drawn, how wide the network is, and what is tried on the validation part.

    Attributes
    ----------
    sizes : images of the training, validation and test part
    width : channels of the first stage; the features are eight times as many
    n_epochs : passes over the training part; the learning rate falls to zero over them
    life, xgboost, adam : the settings of each head that are tried
    """

    sizes: tuple[int, int, int] = (8000, 2000, 2000)
    width: int = 64
    batch_size: int = 128
    learning_rate: float = 1e-3
    n_epochs: int = 10
    life: tuple[Mapping[str, Any], ...] = tuple(
        {"sampler": sampler, "readout": RidgeOutput(penalty)}
        for sampler in (
            NeuronProjection(levels=(20,), max_networks=100),
            NeuronProjection(levels=(10, 10), max_networks=60),
        )
        for penalty in ("auto", 1e-3, 1e-2, 0.1, 1.0, 10.0)
    )
    xgboost: tuple[Mapping[str, Any], ...] = tuple(
        {"max_depth": depth, "reg_lambda": penalty}
        for depth in (1, 2, 4, 8)
        for penalty in (0.1, 1, 10, 100)
    )
    adam: tuple[Mapping[str, Any], ...] = tuple(
        {"n_neurons": width, "weight_decay": decay}
        for width in (5, 20, 80)
        for decay in (1e-3, 0.1, 1.0, 10.0, 100.0)
    )


FULL = Plan()
SMALL = Plan(
    sizes=(400, 150, 150),
    width=8,
    batch_size=32,
    n_epochs=1,
    life=({"sampler": NeuronProjection(levels=(3,), max_networks=3)},),
    xgboost=({"max_depth": 2}, {"max_depth": 4}),
    adam=({"n_neurons": 5},),
)


@dataclass(frozen=True)
class Part:
    """Images, (n, 28, 28) with pixels between 0 and 1, or features; and which are the digit."""

    X: Arrays
    y: Arrays


@dataclass(frozen=True)
class Parts:
    """What one replication works on, and the hash of the images' numbers among all."""

    train: Part
    validation: Part
    test: Part
    split: str


@dataclass(frozen=True)
class Fit:
    """A model's probabilities of the digit on the test part, and what they took."""

    probability: Arrays
    seconds: float
    cpu: float
    neurons: int | None
    params: dict[str, Any] = field(default_factory=dict)


def replicate(seed: int, *, small: bool = False, threads: int = 1) -> list[dict[str, Any]]:
    """Draw, train and evaluate all four models: a row each, with the figures of the test part.

    `seconds` are those of the fit with the chosen settings; a head's are without the network's.
    """
    plan = SMALL if small else FULL
    data = load("mnist")
    parts = draw_parts(data.X, data.y, plan.sizes, seed)
    with _torch_threads(threads):
        network, fit = train(parts, plan, seed)
        read = featured(network, parts)
    fits = {"ResNet18": fit}
    for name, tried in heads(plan, seed, threads).items():
        fits[f"ResNet18_{name}"] = fit_best(tried, read)
    return [_row(model, seed, parts, fit) for model, fit in fits.items()]


def draw_parts(X: Arrays, y: Arrays, sizes: tuple[int, int, int], seed: int) -> Parts:
    """Draw disjoint parts of all images, (n, 784), by the seed; all but the test part rotated."""
    if sum(sizes) > len(y):
        raise ValueError(f"{sum(sizes)} images are to be drawn, and there are {len(y)}.")
    index = np.random.default_rng(seed).permutation(len(y))[: sum(sizes)]
    train, validation, test = (
        Part(
            np.asarray(X[one], dtype=np.float32).reshape(-1, _SIDE, _SIDE) / 255,
            np.asarray(y[one] == _DIGIT, dtype=np.int64),
        )
        for one in np.split(index, np.cumsum(sizes)[:-1])
    )
    split = hashlib.sha256(index.astype("<i8").tobytes()).hexdigest()[:16]
    train, validation = (Part(rotate(one.X), one.y) for one in (train, validation))
    return Parts(train, validation, test, split)


def rotate(images: Arrays, degrees: float = DEGREES) -> Arrays:
    """Images turned counter-clockwise about their centres, linear between pixels."""
    return ndimage.rotate(images, degrees, axes=(1, 2), reshape=False, order=1)


class Convolution(nn.Conv2d):
    """A 3x3 convolution, padded by one and without bias.

    Maps of 2x2 and smaller are unfolded and multiplied: there the gradient of the weights takes
    torch's own kernel about ten times as long as the same numbers take a matrix product.
    """

    def __init__(self, n_in: int, n_out: int, stride: int = 1) -> None:
        super().__init__(n_in, n_out, 3, stride, padding=1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side = (x.shape[-1] - 1) // self.stride[0] + 1
        if side > _TINY:
            return super().forward(x)
        columns = F.unfold(x, 3, padding=1, stride=self.stride).transpose(1, 2)
        flat = columns.reshape(-1, columns.shape[2]) @ self.weight.flatten(1).T
        return flat.view(len(x), side, side, -1).permute(0, 3, 1, 2)


class BasicBlock(nn.Module):
    """Two convolutions and the way around them, which a 1x1 convolution widens where it must."""

    def __init__(self, n_in: int, n_out: int, stride: int) -> None:
        super().__init__()
        self.residual = nn.Sequential(
            Convolution(n_in, n_out, stride),
            nn.BatchNorm2d(n_out),
            nn.ReLU(),
            Convolution(n_out, n_out),
            nn.BatchNorm2d(n_out),
        )
        same = n_in == n_out and stride == 1
        self.shortcut = nn.Sequential() if same else _widening(n_in, n_out, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.residual(x) + self.shortcut(x))


def _widening(n_in: int, n_out: int, stride: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out))


class ResNet18(nn.Module):
    """He et al. (2016) for images of one channel and two classes: (n, 1, 28, 28) -> log-odds, (n,).

    Their stem (7x7 with stride 2, then the maximum of 3x3 with stride 2) leaves maps of 7x7, and
    the four stages 7x7, 4x4, 2x2 and 1x1: an epoch of 8,000 images took 37 seconds of one core. A
    stem of 3x3 without the maximum took 98 with stride 2, and about 400 with stride 1.
    """

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        stem = nn.Conv2d(1, width, 7, stride=2, padding=3, bias=False)
        layers = [stem, nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1)]
        n_in = width
        for stage in range(4):
            n_out = width * 2**stage
            layers += [BasicBlock(n_in, n_out, 1 if stage == 0 else 2), BasicBlock(n_out, n_out, 1)]
            n_in = n_out
        self.trunk = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(n_in, 1)
        for one in self.modules():
            if isinstance(one, nn.Conv2d):
                nn.init.kaiming_normal_(one.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.trunk(x))[:, 0]


def to_tensor(images: Arrays) -> torch.Tensor:
    """Images as the network takes them, (n, 1, 28, 28), their channels last in memory."""
    pixels = ((images - _MEAN) / _SPREAD).astype(np.float32)
    return torch.from_numpy(pixels[:, None]).to(memory_format=torch.channels_last)


def features(network: ResNet18, images: Arrays) -> Arrays:
    """The pooled maps of the last convolution, (n, 8 * width)."""
    network.eval()
    with torch.inference_mode():
        blocks = [network.trunk(block) for block in to_tensor(images).split(_READ_ROWS)]
    return torch.cat(blocks).numpy().astype(float)


def featured(network: ResNet18, parts: Parts) -> Parts:
    """The parts with features in place of images."""
    train, validation, test = (
        Part(features(network, one.X), one.y) for one in (parts.train, parts.validation, parts.test)
    )
    return Parts(train, validation, test, parts.split)


def probabilities(network: ResNet18, images: Arrays) -> Arrays:
    """Probabilities of the digit, (n,): the logistic regression at the end, on the features."""
    head = copy.deepcopy(network.head).double()
    with torch.inference_mode():
        score = head(torch.from_numpy(features(network, images)))
    return torch.sigmoid(score[:, 0]).numpy()


def train(parts: Parts, plan: Plan, seed: int) -> tuple[ResNet18, Fit]:
    """Train by Adam to the end."""
    begun, cpu = time.perf_counter(), time.process_time()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = ResNet18(plan.width).to(memory_format=torch.channels_last)
    losses = _descend(network, parts.train, plan, seed)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    params = {
        "optimiser": "Adam",
        "learning_rate": plan.learning_rate,
        "batch_size": plan.batch_size,
        "epochs": plan.n_epochs,
        # Whether it has converged: mean losses of the batches of each pass.
        "losses": [round(one, 6) for one in losses],
        "validation": _log_loss(parts.validation.y, probabilities(network, parts.validation.X)),
    }
    return network, Fit(probabilities(network, parts.test.X), seconds, cpu, None, params)


def _descend(network: ResNet18, part: Part, plan: Plan, seed: int) -> list[float]:
    """Take Adam's steps, with a rate that falls to zero as a cosine; the mean loss of each pass."""
    X, y = to_tensor(part.X), torch.from_numpy(part.y.astype(np.float32))
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(network.parameters(), plan.learning_rate)
    n_batches = len(y) // plan.batch_size
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, plan.n_epochs * n_batches)
    network.train()
    found = []
    for _ in range(plan.n_epochs):
        order = torch.randperm(len(y), generator=generator)
        total = 0.0
        for batch in order[: n_batches * plan.batch_size].split(plan.batch_size):
            optimiser.zero_grad()
            loss = F.binary_cross_entropy_with_logits(network(X[batch]), y[batch])
            loss.backward()
            optimiser.step()
            rate.step()
            total += loss.item()
        found.append(total / n_batches)
    return found


def heads(plan: Plan, seed: int, threads: int) -> dict[str, list[tuple[Mapping[str, Any], Any]]]:
    """What is put on the features: for each name the settings, and a classifier with each."""
    boosted: dict[str, Any] = {
        "n_estimators": 500, "learning_rate": 0.1, "subsample": 0.8, "colsample_bytree": 0.5,
        "early_stopping_rounds": 20, "n_jobs": threads, "random_state": seed,
    }  # fmt: skip
    return {
        "LIFE": [
            (one, LIFEClassifier(solver=Adam(10), random_state=seed, **one)) for one in plan.life
        ],
        "XGBoost": [(one, XGBClassifier(**boosted, **one)) for one in plan.xgboost],
        "Adam": [(one, AdamClassifier(random_state=seed, **one)) for one in plan.adam],
    }


def fit_best(tried: list[tuple[Mapping[str, Any], Any]], parts: Parts) -> Fit:
    """Fit all that is tried to the training part, and keep the best of the validation part."""
    watched = {"eval_set": [(parts.validation.X, parts.validation.y)], "verbose": False}
    fits = []
    for setting, model in tried:
        boosted = isinstance(model, XGBClassifier)  # ends its training by the validation part
        begun, cpu = time.perf_counter(), time.process_time()
        model.fit(parts.train.X, parts.train.y, **(watched if boosted else {}))
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
        loss = _log_loss(parts.validation.y, model.predict_proba(parts.validation.X)[:, 1])
        params = {**readable(dict(setting)), "tried": len(tried), "validation": loss}
        if boosted:
            params["rounds"] = model.best_iteration + 1
        neurons = None if boosted else model.network_.n_neurons
        fits.append(Fit(model.predict_proba(parts.test.X)[:, 1], seconds, cpu, neurons, params))
    return min(fits, key=lambda fit: fit.params["validation"])


def _log_loss(y: Arrays, probability: Arrays) -> float:
    return float(log_loss(y, np.asarray(probability, dtype=float), labels=[0, 1]))


def _row(model: str, seed: int, parts: Parts, fit: Fit) -> dict[str, Any]:
    y = parts.test.y
    return {
        "table": TABLE,
        "data": DATA,
        "model": model,
        "seed": seed,
        "error": _log_loss(y, fit.probability),
        "second": float(roc_auc_score(y, fit.probability)),
        "seconds": round(fit.seconds, 4),
        "cpu": round(fit.cpu, 4),
        "neurons": fit.neurons,
        "n_train": len(parts.train.y),
        "n_test": len(y),
        "split": parts.split,
        "params": fit.params,
    }


@contextmanager
def _torch_threads(n: int) -> Iterator[None]:
    """So many threads of torch, and afterwards as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
