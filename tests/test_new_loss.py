"""A loss that the library has never heard of, written here alone, in every part that takes losses.

It has four methods. What else is asked of a loss has defaults, which must be right for it.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import optimize

from lifenet import LIFERegressor
from lifenet.data.folds import Fold
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.explain._glm import fit_equation
from lifenet.finetune.lbfgs import Wide, value_and_gradient
from lifenet.losses import Logistic, Loss, Multinomial, SquaredError
from lifenet.network import ReluNetwork
from lifenet.neurons.features import GivenColumns
from lifenet.neurons.layer import Layer
from lifenet.neurons.trees import Sample, TreeSettings, grow_trees
from lifenet.output.elastic_net import ElasticNetOutput
from lifenet.output.mixing import calibrate
from lifenet.output.ridge import RidgeOutput
from lifenet.solvers.adam import Adam
from lifenet.solvers.base import Task
from lifenet.solvers.lla import LLA
from lifenet.solvers.lla_printed import PrintedLLA


@dataclass(frozen=True)
class Huber(Loss):
    """Half the square of small errors, a straight line beyond; the curvature is a majoriser's."""

    delta: float = 1.0

    def value(self, target, score):
        size = np.abs(score[..., 0] - target)
        straight = self.delta * (size - 0.5 * self.delta)
        return np.where(size <= self.delta, 0.5 * np.square(size), straight)

    def gradient(self, target, score):
        return np.clip(score - target[..., None], -self.delta, self.delta)

    def curvature(self, target, score):
        return self.delta / np.maximum(np.abs(score - target[..., None]), self.delta)

    def null_score(self, target, weight):
        def slope(constant):
            return weight @ np.clip(constant - target, -self.delta, self.delta)

        low, high = target.min() - 1.0, target.max() + 1.0
        return np.array([optimize.brentq(slope, low, high, xtol=1e-13)])


TRUE = np.array([1.0, -2.0, 0.5, 0.0, 0.0])


def table(n=200, m=5, seed=0):
    """A linear target, one row in ten of which is far off."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, m))
    noise = 0.3 * generator.normal(size=n)
    noise[::10] += 15.0
    return X, X @ TRUE[:m] + 0.7 + noise


def problem_of(X, y, loss=Huber(), weight=None):
    return Problem(ArrayRows.of(X, y, weight), loss)


def columns(m=5):
    return Layer.of(GivenColumns(m), np.ones(m))


def fit(output, fold):
    return output.fit(columns(), fold, np.random.default_rng(0))


def whole(X, y, loss=Huber(), weight=None):
    """All rows, without validation rows."""
    return Fold.whole(problem_of(X, y, loss, weight))


def validated_by_some(X, y, loss):
    """Coefficients are fitted to all rows; some of them choose the penalty."""
    parts = problem_of(X[:120], y[:120], loss), problem_of(X[120:], y[120:], loss)
    return Fold(*parts, problem_of(X, y, loss))


def fold_of(X, y, loss, validated):
    return (validated_by_some if validated else whole)(X, y, loss)


class TestLoss:
    def test_gradient_is_the_slope_of_the_value(self):
        generator = np.random.default_rng(1)
        target, score = 3 * generator.normal(size=50), generator.normal(size=(50, 1))
        up, down = (Huber().value(target, score + step) for step in (1e-6, -1e-6))
        found = Huber().gradient(target, score)
        np.testing.assert_allclose(found[:, 0], (up - down) / 2e-6, atol=1e-8)

    def test_curvature_bounds_the_value_from_above(self):
        generator = np.random.default_rng(2)
        target, score = 3 * generator.normal(size=200), generator.normal(size=(200, 1))
        step, loss = generator.normal(size=(200, 1)), Huber()
        slope, bend = loss.gradient(target, score), loss.curvature(target, score)
        bound = loss.value(target, score) + (slope * step + 0.5 * bend * step**2)[:, 0]
        assert np.all(loss.value(target, score + step) <= bound + 1e-12)

    def test_null_score_is_the_best_constant(self):
        _, y = table()
        weight = np.random.default_rng(3).uniform(0.5, 2, len(y))
        best = Huber().null_score(y, weight)

        def total(constant):
            return weight @ Huber().value(y, np.full((len(y), 1), constant))

        assert total(best[0]) <= min(total(best[0] + step) for step in (-1e-3, 1e-3))


class TestRidge:
    def test_given_penalty_reaches_the_optimum(self):
        X, y = table()
        weight = np.random.default_rng(4).integers(1, 4, len(y)).astype(float)
        fitted = fit(RidgeOutput(penalty=0.1), whole(X, y, weight=weight))[:, 0]
        slopes = weight * Huber().gradient(y, (X @ fitted[:-1] + fitted[-1])[:, None])[:, 0]
        slopes /= weight.sum()
        # With a majoriser's curvature the steps shrink by a factor each, and end near the optimum.
        np.testing.assert_allclose(X.T @ slopes + 0.1 * fitted[:-1], 0.0, atol=1e-5)
        assert slopes.sum() == pytest.approx(0.0, abs=1e-5)

    @pytest.mark.parametrize("validated", [True, False])
    def test_rows_far_off_hardly_move_it(self, validated):
        X, y = table()
        errors = []
        for loss in (Huber(), SquaredError()):
            fitted = fit(RidgeOutput(), fold_of(X, y, loss, validated))
            errors.append(np.linalg.norm(fitted[:-1, 0] - TRUE))
        assert errors[0] < 0.2
        assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("validated", [True, False])
@pytest.mark.parametrize(
    "output",
    [RidgeOutput(), *(ElasticNetOutput(1.0, *by) for by in ((), ("bic",), ("aic",)))],
    ids=["ridge", "folds", "bic", "aic"],
)
def test_the_choice_of_the_penalty_does_not_depend_on_the_unit_of_the_target(output, validated):
    """As it would, if the dispersion were taken for one."""
    X, y = table()
    found = [
        fit(output, fold_of(X, scale * y, Huber(scale), validated)) / scale for scale in (1.0, 30.0)
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4, atol=1e-5)


class TestElasticNet:
    def test_given_penalty_meets_the_optimality_conditions(self):
        X, y = table()
        fitted = fit(ElasticNetOutput(1.0, 0.2), whole(X, y))[:, 0]
        slopes = Huber().gradient(y, (X @ fitted[:-1] + fitted[-1])[:, None])[:, 0] / len(y)
        smooth, b = X.T @ slopes, fitted[:-1]
        np.testing.assert_allclose(smooth[b != 0], -0.2 * np.sign(b[b != 0]), atol=1e-6)
        assert np.all(np.abs(smooth[b == 0]) <= 0.2 + 1e-6)
        assert (b == 0).any()
        assert (b != 0).any()

    def test_bic_leaves_out_what_does_not_matter(self):
        X, y = table(n=400)
        fitted = fit(ElasticNetOutput(1.0, "bic"), whole(X, y))[:-1, 0]
        assert np.all(fitted[:3] != 0)
        assert np.abs(fitted[3:]).max() < 0.05


def test_calibration_finds_the_line_of_most_rows():
    X, y = table()
    score = X @ TRUE
    slope, constant = calibrate(Huber(), score[None] / 2, y, np.ones(len(y)))
    assert slope[0] == pytest.approx(2.0, abs=0.1)
    assert constant[0] == pytest.approx(0.7, abs=0.3)


@pytest.mark.parametrize(
    "solver", [LLA(n_neurons=4), PrintedLLA(n_neurons=4), Adam(n_neurons=4, max_epochs=300)]
)
def test_solvers_train_networks_with_it(solver):
    X, _ = table(n=300, m=2)
    y = np.abs(X[:, 0]) - X[:, 1]
    y[::15] += 20.0
    problem = problem_of(X, y)
    seed = np.random.SeedSequence(0)
    (outcome,) = solver.train(problem, [Task(np.arange(len(y)), None, seed)])
    score = outcome.network.score(X)
    assert outcome.loss == pytest.approx(Huber().value(y, score).mean(), rel=1e-6)
    # The rows that are far off cost what they must; the others are fitted.
    assert outcome.loss < 0.75 * problem.null_loss()
    kept = np.setdiff1d(np.arange(len(y)), np.arange(0, len(y), 15))
    assert np.median(np.abs(score[kept, 0] - y[kept])) < 0.5 * np.median(np.abs(y - np.median(y)))


def test_gradient_of_all_parameters_is_the_slope_of_the_mean_loss():
    X, y = table(n=60, m=2)
    generator = np.random.default_rng(5)
    network = ReluNetwork(
        generator.normal(size=(3, 2)), generator.normal(size=3), generator.normal(size=3), 0.2
    )
    problem, (wide, _) = problem_of(X, y), Wide.of(network)
    expected = optimize.approx_fprime(
        wide.flat, lambda flat: value_and_gradient(problem, wide.like(flat), 0.1)[0], 1e-7
    )
    np.testing.assert_allclose(value_and_gradient(problem, wide, 0.1)[1], expected, atol=1e-5)


def test_trees_are_grown_with_the_loss_that_it_names():
    X, y = table()
    sample, settings = Sample(X, y, np.ones(len(y))), TreeSettings(4, 5, 0.3, 1.0)
    trees = grow_trees(sample, Huber(), settings, 5, np.random.SeedSequence(0))
    assert trees.model.loss == "squared_error"
    assert trees.scores(X, [5])[0].shape == (200, 1)


def test_equations_have_errors_in_the_unit_of_the_target():
    X, y = table()
    found = [fit_equation(X, c * y, np.ones(len(y)), Huber(c)) for c in (1.0, 30.0)]
    assert found[0].freedom == len(y) - 6
    np.testing.assert_allclose(found[0].coefficients[1:], TRUE, atol=0.15)
    np.testing.assert_allclose(found[1].errors, 30 * found[0].errors, rtol=1e-6)
    assert np.all((found[0].errors > 0.02) & (found[0].errors < 0.2))


def test_several_outputs_that_do_not_say_how_they_stand_alone_are_refused():
    @dataclass(frozen=True)
    class Two(Huber):
        n_outputs: int = 2

    X, y = table()
    with pytest.raises(NotImplementedError, match="Two has 2 outputs"):
        problem_of(X, y, Two()).against_rest(1)


@pytest.mark.parametrize("preset", ["paper", "fast", "best", "small"])
def test_every_preset_fits_it(preset):
    """Few rows are far off, which squared error would follow."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(160, 2)), 1)
    truth = X[:, 0] + np.abs(X[:, 1])
    y = truth + 0.05 * rng.normal(size=160)
    y[::16] += 20.0
    models = [
        LIFERegressor(preset=preset, loss=loss, random_state=0).fit(X, y)
        for loss in ("squared_error", Huber(0.1))
    ]
    errors = [np.median(np.abs(model.predict(X) - truth)) for model in models]
    assert errors[1] < 0.5 * errors[0]
    assert errors[1] < 0.3
    if preset == "small":
        assert models[1].network_.n_neurons <= 64


def test_a_loss_of_several_outputs_is_no_loss_of_a_regressor():
    X, y = table()
    with pytest.raises(ValueError, match="has 3 outputs; a regressor needs a loss with one"):
        LIFERegressor(loss=Multinomial(3)).fit(X, y)
    with pytest.raises(ValueError, match="'loss' parameter of LIFERegressor"):
        LIFERegressor(loss="huber").fit(X, y)


def test_a_loss_that_is_not_defined_for_the_target_is_refused():
    X, y = table()
    with pytest.raises(ValueError, match=r"loss=Logistic\(\) is not defined for this target"):
        LIFERegressor(loss=Logistic()).fit(X, (y > 0).astype(float))
