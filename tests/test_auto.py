"""What "auto" means: a table of losses, rows and columns, written out."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from lifenet import (
    LBFGS,
    LLA,
    Adam,
    Bootstrap,
    CrossFit,
    Hierarchy,
    Holdout,
    Leaves,
    MiniBatch,
    NeuronProjection,
    RandomProjection,
    Recipe,
    preset,
)
from lifenet._clock import Deadline
from lifenet.data.evaluation import row_losses
from lifenet.data.folds import Fold
from lifenet.data.interactions import Interactions
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.data.run import Run
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.neurons.hierarchy import Given
from lifenet.recipe.auto import resolve, resolve_resampling
from lifenet.recipe.single import train_single

SQUARED, TWO, THREE = SquaredError(), Logistic(), Multinomial(3)
# As in preset "fast".
FAST = Hierarchy(n_neurons=10, max_iter=6, n_networks=20, max_rows="auto")


def problem_of(loss, n_rows, n_inputs=4):
    """A few rows with the weight of n_rows: what counts is the weight."""
    weight = np.full(10, n_rows / 10)
    return Problem(ArrayRows.of(np.zeros((10, n_inputs)), np.arange(10) % 2.0, weight), loss)


#: Shares of columns and of splits, by whether the loss is separable.
SHARES = {False: (1.0, 0.1), True: (0.8, (0.05, 0.2, 0.8))}


def resolved(part, loss=SQUARED, n_rows=1_000, n_inputs=4, columns=None):
    """A source of neurons without "auto"."""
    fold = Fold.whole(problem_of(loss, n_rows, n_inputs), columns)
    (found,) = resolve(Recipe(neurons=(part,)), fold, Run(0)).neurons
    return found


@pytest.mark.parametrize(
    ("loss", "n_rows", "max_leaf_nodes", "min_samples_leaf"),
    [
        (SQUARED, 100, 16, 10),
        (SQUARED, 399, 16, 10),
        (SQUARED, 400, 16, 20),
        (SQUARED, 4_999, 16, 20),
        (SQUARED, 5_000, 24, 20),
        (SQUARED, 1e6, 24, 20),
        (TWO, 399, 12, 10),
        (TWO, 400, 12, 20),
        (TWO, 1e6, 12, 20),
        (THREE, 399, 12, 10),
        (THREE, 400, 12, 20),
        (THREE, 1e6, 12, 20),
    ],
)
def test_leaves(loss, n_rows, max_leaf_nodes, min_samples_leaf):
    found = resolved(Leaves(n_trees=7), loss, n_rows)
    shares = dict(zip(("max_features", "ramp_share"), SHARES[loss.separable], strict=True))
    expected = Leaves(7, (max_leaf_nodes,), min_samples_leaf=min_samples_leaf, **shares)
    assert found == expected
    shares = {"max_features": 0.3, "ramp_share": 0.0}
    given = Leaves(7, max_leaf_nodes=3, min_samples_leaf=4, **shares)
    assert resolved(given, loss, n_rows) == given
    several = Leaves((7, 5), max_leaf_nodes=(3, 9), min_samples_leaf=4, **shares)
    assert resolved(several, loss, n_rows) == several


@pytest.mark.parametrize(
    ("loss", "n_rows", "n_trees"),
    [
        (SQUARED, 100, (40, 20)),
        (SQUARED, 4_999, (40, 20)),
        (SQUARED, 5_000, (80, 36)),  # more of them
        (SQUARED, 20_000, (80, 36)),
        (SQUARED, 1_280_000, (160, 72)),  # 64 times the rows
        (TWO, 20_000, (50,)),
        (TWO, 1_280_000, (100,)),
    ],
)
def test_trees_grow_with_the_sixth_root_of_the_rows(loss, n_rows, n_trees):
    found = resolved(Leaves(), loss, n_rows)
    assert found.n_trees == n_trees
    larger = 24 if n_rows >= 5_000 else 16
    assert found.max_leaf_nodes == ((12,) if loss.separable else (4, larger))
    assert resolved(Leaves(n_trees=5), loss, n_rows).n_trees == 5


@pytest.mark.parametrize(
    ("loss", "n_rows", "n_trees", "max_leaf_nodes", "min_samples_leaf"),
    [
        (SQUARED, 399, (40, 20), (4, 16), 10),
        (SQUARED, 4_999, (40, 20), (4, 16), 20),
        (SQUARED, 5_000, (80, 36), (4, 24), 20),
        (SQUARED, 1_280_000, (160, 72), (4, 24), 20),
        (TWO, 399, (150,), (8,), 5),
        (TWO, 20_000, (150,), (8,), 5),
        (TWO, 1_280_000, (300,), (8,), 5),
        (THREE, 20_000, (150,), (8,), 5),
    ],
)
def test_leaves_where_only_some_columns_act_together(
    loss, n_rows, n_trees, max_leaf_nodes, min_samples_leaf
):
    fold = Fold.whole(problem_of(loss, n_rows), None)
    groups = Interactions.of(((0, 1), (2, 3)), None)
    recipe = Recipe(neurons=(Leaves(),))
    (found,) = resolve(recipe, replace(fold, interactions=groups), Run(0)).neurons
    shares = dict(zip(("max_features", "ramp_share"), SHARES[loss.separable], strict=True))
    assert found == Leaves(n_trees, max_leaf_nodes, min_samples_leaf=min_samples_leaf, **shares)
    given = Leaves(7, 3, min_samples_leaf=4, max_features=0.3, ramp_share=0.0)
    recipe = Recipe(neurons=(given,))
    assert resolve(recipe, replace(fold, interactions=groups), Run(0)).neurons == (given,)


def test_one_size_of_trees_has_all_of_them():
    found = resolved(Leaves(max_leaf_nodes=8), SQUARED, 1_000)
    assert (found.n_trees, found.max_leaf_nodes) == ((60,), 8)
    found = resolved(Leaves(max_leaf_nodes=(2, 4, 8)), SQUARED, 1_000)
    assert (found.n_trees, found.max_leaf_nodes) == ((20, 20, 20), (2, 4, 8))
    found = resolved(Leaves(n_trees=(9, 3)), SQUARED, 1_000)
    assert (found.n_trees, found.max_leaf_nodes) == ((9, 3), (4, 16))


@pytest.mark.parametrize(
    ("loss", "n_rows", "n_inputs", "n_networks", "levels", "max_rows"),
    [
        (SQUARED, 399, 4, 8, (8,), 2_000),
        (SQUARED, 400, 4, 8, (8,), 2_000),
        (SQUARED, 600, 4, 12, (8, 8), 2_000),  # one for fifty rows
        (SQUARED, 20_000, 4, 20, (8, 8), 5_000),  # a quarter of the rows
        (SQUARED, 1e6, 4, 20, (8, 8), 20_000),
        (SQUARED, 1_000, 19, 20, (8, 8), 2_000),  # 200 unknowns
        (SQUARED, 1_000, 24, 13, (8, 8), 2_000),  # 250: 0.64 of 20
        (SQUARED, 1_000, 39, 5, (8,), 2_000),  # 400: a quarter
        (SQUARED, 1_000, 59, 4, (8,), 2_000),  # 600: a ninth, but four at least
        (SQUARED, 1_000, 149, 4, (8,), 1_333),  # 1,500 unknowns
        (SQUARED, 1_000, 199, 4, (8,), 1_000),
        (SQUARED, 1_000, 399, 4, (8,), 1_000),
        (TWO, 399, 4, 8, (8,), 2_000),
        (TWO, 1_000, 4, 20, (8, 8), 2_000),
        (TWO, 1_000, 39, 5, (8,), 2_000),
        (THREE, 399, 4, 3, (8,), 2_000),  # classes share them
        (THREE, 1_000, 4, 7, (8,), 2_000),
        (THREE, 1_000, 39, 4, (8,), 2_000),
        (THREE, 399, 39, 3, (8,), 2_000),  # never more than a third of eight
    ],
)
def test_base_learners(loss, n_rows, n_inputs, n_networks, levels, max_rows):
    found = resolved(FAST, loss, n_rows, n_inputs)
    assert found.n_networks == n_networks
    assert found.sampler == NeuronProjection(levels=levels, max_networks=n_networks)
    assert found.max_rows == max_rows


def test_inputs_are_the_smooth_codes_where_there_are_codes():
    columns = SimpleNamespace(smooth=np.arange(39))
    found = resolved(FAST, n_inputs=600, columns=columns)
    assert (found.n_networks, found.max_rows) == (5, 2_000)  # as of 39 columns


def test_rows_and_numbers_that_are_given_stay():
    found = resolved(replace(FAST, max_rows=77), n_inputs=399)
    assert found.max_rows == 77
    assert resolved(replace(FAST, max_rows=None), n_inputs=399).max_rows is None
    none = resolved(replace(FAST, n_networks=0))
    assert none.n_networks == 0
    none.check()
    assert resolved(replace(FAST, n_networks=3)).n_networks == 3


@pytest.mark.parametrize(
    ("sampler", "solver", "expected"),
    [
        ("neurons", "lla", NeuronProjection(max_networks=150)),  # 1,500 neurons in all
        ("neurons", LLA(40), NeuronProjection(max_networks=37)),
        ("neurons", LLA(4_000), NeuronProjection(max_networks=1)),
        ("random", "lla", RandomProjection()),
        ("bootstrap", "lla", Bootstrap()),
        (NeuronProjection((3,), cutoff=0.5), LLA(20), NeuronProjection((3,), 0.1, 0.9, 0.5, 75)),
        (NeuronProjection(max_networks=9), "lla", NeuronProjection(max_networks=9)),
        (Bootstrap(7), "lla", Bootstrap(7)),
    ],
    ids=str,
)
def test_samplers(sampler, solver, expected):
    found = resolved(Hierarchy(sampler, solver))
    assert found.sampler == expected
    assert found.n_networks is None


@pytest.mark.parametrize(
    ("hierarchy", "loss", "expected"),
    [
        (Hierarchy(), SQUARED, LLA(10, ridge=1e-5, max_iter=20, tol=5e-3)),
        (Hierarchy(), TWO, LLA(10, ridge=1e-4, max_iter=20, tol=5e-3)),
        (Hierarchy(), THREE, LLA(10, ridge=1e-4, max_iter=20, tol=5e-3)),
        (Hierarchy(n_neurons=6, max_iter=3), SQUARED, LLA(6, ridge=1e-5, max_iter=3, tol=5e-3)),
        (Hierarchy(n_neurons=(5, 9)), TWO, LLA(5, ridge=1e-4, max_iter=20, tol=5e-3)),
        (Hierarchy(solver="adam"), SQUARED, Adam(10)),
        (Hierarchy(solver="adam", n_neurons=12), TWO, Adam(12)),
        (Hierarchy(solver=LLA(3, ridge=0.5)), TWO, LLA(3, ridge=0.5)),
    ],
    ids=str,
)
def test_solvers_without_validation_rows(hierarchy, loss, expected):
    """Of several widths, the first."""
    assert resolved(hierarchy, loss).solver == expected


def wavy(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = (np.sin(3 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n) > 0).astype(float)
    return Problem(ArrayRows.of(X, y), TWO)


@pytest.mark.parametrize("widths", [(1, 8), (8, 1), (8, 9), "auto"], ids=str)
def test_the_width_is_the_narrowest_as_good_as_the_best_on_the_validation_rows(widths):
    train = wavy(200, 0)
    fold, run = Fold(train, wavy(150, 1), train), Run(0)
    hierarchy = Hierarchy(n_neurons=widths, max_iter=4)
    (found,) = resolve(Recipe(neurons=(hierarchy,)), fold, run).neurons
    tried = (10, 20, 40) if widths == "auto" else sorted(widths)
    losses = []
    for width in tried:
        solver = LLA(width, ridge=1e-4, max_iter=4, tol=5e-3)
        losses.append(row_losses(fold.validation, train_single(train, solver, run).network))
    best = min(losses, key=np.mean)
    worse = [np.mean(one - best) / (np.std(one - best) / np.sqrt(150) + 1e-300) for one in losses]
    assert found.solver.n_neurons == next(
        width for width, t in zip(tried, worse, strict=True) if t <= 1
    )
    if widths == (1, 8):  # the wave cannot be told by one neuron
        assert found.solver.n_neurons == 8


def test_without_time_the_first_width_is_taken():
    train = wavy(200, 0)
    fold = Fold(train, wavy(150, 1), train)
    recipe = Recipe(neurons=(Hierarchy(n_neurons=(1, 8)),))
    (found,) = resolve(recipe, fold, Run(0, deadline=Deadline.after(1e-9))).neurons
    assert found.solver.n_neurons == 1


@pytest.mark.parametrize(
    ("loss", "n_steps", "max_epochs", "learning_rate"),
    [(SQUARED, 450, 150, 3e-3), (TWO, 300, 30, 2e-3), (THREE, 300, 30, 2e-3)],
    ids=["squared", "two", "three"],
)
def test_fine_tuning(loss, n_steps, max_epochs, learning_rate):
    fold = Fold.whole(problem_of(loss, 1_000))

    def tuned(settings):
        return resolve(Recipe(neurons=(Leaves(),), finetune=settings), fold, Run(0)).finetune

    given = MiniBatch(9, max_epochs=7, learning_rate=0.1)
    assert tuned(given) == given
    known = {"n_steps": n_steps, "max_epochs": max_epochs, "learning_rate": learning_rate}
    for name, value in known.items():
        assert tuned(replace(given, **{name: "auto"})) == replace(given, **{name: value})
    assert tuned(LBFGS(5)) == LBFGS(5)
    assert tuned(None) is None


@pytest.mark.parametrize(
    ("n_folds", "n_rows", "expected"),
    [
        ("auto", 100, 5),
        ("auto", 2_999, 5),
        ("auto", 3_000, 4),
        ("auto", 1e6, 4),
        ("more", 100, 7),
        ("more", 19_999, 7),
        ("more", 20_000, 5),
        (3, 100, 3),
        (3, 1e6, 3),
    ],
)
@pytest.mark.parametrize("loss", [SQUARED, TWO, THREE], ids=["squared", "two", "three"])
def test_folds(n_folds, n_rows, expected, loss):
    for extra in (False, True):
        settings = CrossFit(n_folds, extra_fold=extra, min_rows=50)
        found = resolve_resampling(settings, problem_of(loss, n_rows))
        assert found == CrossFit(expected, extra_fold=extra, min_rows=50)


def test_a_hold_out_has_nothing_to_resolve():
    settings = Holdout(50)
    assert resolve_resampling(settings, problem_of(SQUARED, 1_000)) is settings


@pytest.mark.parametrize("name", ["paper", "fast", "best", "small"])
@pytest.mark.parametrize("loss", [SQUARED, TWO, THREE], ids=["squared", "two", "three"])
def test_a_resolved_recipe_is_sound_and_leaves_the_rest_unchanged(name, loss):
    recipe, fold = preset(name), Fold.whole(problem_of(loss, 1_000))
    found = resolve(recipe, fold, Run(0))
    found.check()
    assert recipe == preset(name)  # the preset is not changed
    for part in ("codes", "output", "resampling", "stack", "compress"):
        assert getattr(found, part) is getattr(recipe, part)
    for source in found.neurons:
        if isinstance(source, Leaves):
            assert "auto" not in vars(source).values()
        else:
            assert not isinstance(source.sampler, str)
            assert not isinstance(source.solver, str)
            assert source.max_rows != "auto"
    assert found.finetune is None or "auto" not in vars(found.finetune).values()


def test_sources_of_other_classes_pass_unchanged():
    given = Given(())
    assert resolved(given) is given
