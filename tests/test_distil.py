import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from lifenet._clock import NEVER, Deadline
from lifenet.compress import distil as module
from lifenet.compress import soft_targets as soft_module
from lifenet.compress.distil import Distil, follow_path
from lifenet.compress.frontier import Frontier
from lifenet.compress.pruning import select_neurons
from lifenet.compress.soft_targets import soft_targets, swap_columns
from lifenet.data import budgets
from lifenet.data.evaluation import mean_loss
from lifenet.data.folds import Fold
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.finetune.base import FineTuned
from lifenet.finetune.lbfgs import LBFGS, Wide, value_and_gradient
from lifenet.finetune.minibatch import MiniBatch
from lifenet.kernels.elimination import eliminate_backward
from lifenet.losses import Logistic, Loss, Multinomial, SquaredError
from lifenet.network import CodedNetwork, ColumnCoding, ReluNetwork
from lifenet.solvers.base import Status
from oracles import split_rows

QUICK = Distil(2, largest=8, finetune=LBFGS(10))


def random_network(rng, n_neurons, n_features=3, n_outputs=1):
    return ReluNetwork(
        rng.normal(size=(n_neurons, n_features)),
        0.5 * rng.normal(size=n_neurons),
        rng.normal(size=(n_neurons, n_outputs)),
        rng.normal(size=n_outputs),
    )


def random_problem(rng, network, loss, n=300, noise=0.3, weight=None):
    X = rng.normal(size=(n, network.n_features))
    score = network.score(X)
    if isinstance(loss, SquaredError):
        y = score[:, 0] + noise * rng.normal(size=n)
    elif isinstance(loss, Logistic):
        y = (rng.uniform(size=n) < loss.mean(score)[:, 0]).astype(float)
    else:
        y = np.array([rng.choice(loss.n_outputs, p=p) for p in loss.mean(score)], dtype=float)
    return Problem(ArrayRows.of(X, y, weight), loss)


def split(problem, n_train):
    return Fold(*split_rows(problem, n_train), problem)


def gradient_of(problem, network):
    return value_and_gradient(problem, Wide.of(network)[0], 0.0)[1]


@dataclass(frozen=True)
class Absolute(Loss):
    """A loss of the user's own, which has nothing but what it must have."""

    def value(self, target, score):
        return np.abs(target - score[..., 0])

    def gradient(self, target, score):
        return np.sign(score - target[..., None])

    def curvature(self, target, score):
        return 1.0 / np.maximum(np.abs(score - target[..., None]), 0.1)

    def null_score(self, target, weight):
        return np.array([np.median(target)])


LOSSES = [SquaredError(), Logistic(), Multinomial(3)]
by_name = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


# ---------------------------------------------------------------------- which neurons go


def ridge_loss(covariance, cross, kept, penalty):
    """Penalised squared error of the ridge fit of some variables, up to a constant."""
    scale = np.sqrt(np.diag(covariance))[kept]
    matrix = covariance[np.ix_(kept, kept)] / scale / scale[:, None] + penalty * np.eye(len(kept))
    right = cross[kept] / scale[:, None]
    coefficients = np.linalg.solve(matrix, right)
    return -float(np.sum(right * coefficients)), coefficients / scale[:, None]


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_elimination_is_that_of_refitting_every_candidate(n_outputs, monkeypatch):
    monkeypatch.setattr("lifenet.kernels.elimination._TOGETHER", 3)  # several rounds
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 12)) @ rng.normal(size=(12, 12))
    covariance, cross = rows.T @ rows / 50, rows.T @ rng.normal(size=(50, n_outputs)) / 50
    left = list(range(12))
    while len(left) > 4:
        without = [[one for one in left if one != gone] for gone in left]
        left = min(without, key=lambda kept: ridge_loss(covariance, cross, kept, 1e-3)[0])
    kept, coefficients = eliminate_backward(covariance, cross, 4, 1e-3)
    assert kept.tolist() == left
    np.testing.assert_allclose(coefficients, ridge_loss(covariance, cross, left, 1e-3)[1])


def test_elimination_stays_finite_with_many_more_variables_than_rows():
    rng = np.random.default_rng(0)
    features = np.maximum(rng.normal(size=(5, 900)) + rng.normal(size=(5, 1)), 0.0)
    features -= features.mean(axis=0)
    target = rng.normal(size=(5, 1))
    covariance, cross = features.T @ features / 5, features.T @ target / 5
    kept, beta = eliminate_backward(covariance, cross, 4, 1e-9)
    assert len(set(kept.tolist())) == 4
    assert np.isfinite(beta).all()


def test_of_twins_the_later_goes_and_constants_go_first():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 4))
    rows = np.column_stack([rows, 2.0 * rows[:, 1], np.ones(60)])
    rows -= rows.mean(axis=0)
    cross = rows.T @ (rows[:, :4] @ np.array([1.0, 1.0, 1.0, 0.5]))[:, None]
    assert eliminate_backward(rows.T @ rows, cross, 4, 1e-6)[0].tolist() == [0, 1, 2, 3]


@by_name
def test_output_layer_of_the_kept_neurons_is_a_newton_step(loss):
    """All kept at the network's own scores: nothing moves but by the penalty."""
    rng = np.random.default_rng(2)
    network = random_network(rng, 5, n_outputs=loss.n_outputs)
    problem = random_problem(rng, network, loss, n=500)
    chosen = select_neurons(soft_targets(problem, network, 1.0), network, 5)
    X = problem.rows.X
    score, expected = chosen.score(X), network.score(X)
    assert np.abs(score - expected).max() < 0.05 * expected.std()


# ---------------------------------------------------------------------- soft targets


@by_name
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_loss_on_soft_targets_is_the_mixture_of_losses(loss, share):
    """Cross-entropy is linear in the target; of squared error, the gradient is."""
    rng = np.random.default_rng(3)
    teacher, student = (random_network(rng, 4, n_outputs=loss.n_outputs) for _ in range(2))
    problem = random_problem(rng, teacher, loss, weight=rng.uniform(0.5, 2.0, 300))
    mixed = gradient_of(soft_targets(problem, teacher, share), student)
    plain = gradient_of(problem, student)
    soft = gradient_of(soft_targets(problem, teacher, 1.0), student)
    np.testing.assert_allclose(mixed, share * soft + (1 - share) * plain, atol=1e-12)


@by_name
def test_a_teacher_has_nothing_to_learn_from_itself(loss):
    rng = np.random.default_rng(4)
    teacher = random_network(rng, 4, n_outputs=loss.n_outputs)
    soft = soft_targets(random_problem(rng, teacher, loss), teacher, 1.0)
    np.testing.assert_allclose(gradient_of(soft, teacher), 0.0, atol=1e-12)
    null = soft.loss.null_score(soft.rows.target, soft.rows.weight)
    flat = ReluNetwork(np.zeros((0, 3)), [], np.zeros((0, loss.n_outputs)), null)
    np.testing.assert_allclose(gradient_of(soft, flat), 0.0, atol=1e-12)


@by_name
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_soft_targets_keep_weights_and_are_expectations(loss, share):
    """Rows weigh what they weighed; of classes, targets are shares that sum to one."""
    rng = np.random.default_rng(19)
    teacher = random_network(rng, 4, n_outputs=loss.n_outputs)
    problem = random_problem(rng, teacher, loss, weight=rng.uniform(0.5, 2.0, 300))
    soft = soft_targets(problem, teacher, share)
    np.testing.assert_array_equal(soft.rows.weight, problem.rows.weight)
    assert soft.rows.weight.min() > 0
    assert soft.rows.total_weight == problem.rows.total_weight
    found = soft.loss.responses(soft.rows.target)
    expected = loss.mean(teacher.score(problem.rows.X))
    hard = loss.responses(problem.rows.target)
    np.testing.assert_allclose(found, share * expected + (1 - share) * hard, atol=1e-12)
    if loss.separable:
        assert found.min() >= 0
        assert found.max() <= 1
    if loss.n_outputs > 1:
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)


@by_name
def test_every_row_may_have_a_share_of_its_own(loss):
    rng = np.random.default_rng(12)
    teacher, student = (random_network(rng, 4, n_outputs=loss.n_outputs) for _ in range(2))
    problem = random_problem(rng, teacher, loss)
    first, last = np.arange(100), np.arange(100, 300)
    soft = soft_targets(problem, teacher, np.repeat([0.3, 1.0], [100, 200]))
    gradients = [
        gradient_of(soft_targets(Problem(problem.rows.take(part), loss), teacher, share), student)
        for part, share in ((first, 0.3), (last, 1.0))
    ]
    both = gradient_of(soft, student)
    np.testing.assert_allclose(both, gradients[0] / 3 + 2 * gradients[1] / 3, atol=1e-12)


# ---------------------------------------------------------------------- swapped columns


def test_swapped_rows_have_every_group_from_one_of_two_rows():
    rng = np.random.default_rng(13)
    weight = np.where(np.arange(60) < 40, 1.0, 3.0)
    rows = ArrayRows.of(rng.normal(size=(60, 5)), np.zeros(60), weight)
    groups = [np.array([0, 3]), np.array([1]), np.array([2, 4])]
    more = swap_columns(rows, groups, 2.0)
    inputs, n_swapped = more.inputs, more.n_rows - 60
    assert n_swapped == soft_module._FEWEST_SWAPPED  # twice the rows would be fewer
    np.testing.assert_array_equal(inputs[:, :60], np.vstack([rows.X.T, np.ones(60)]))
    np.testing.assert_array_equal(inputs[-1], 1.0)
    # Values are all different: they tell the row that each input is from.
    source = np.array(
        [[np.flatnonzero(rows.X[:, j] == v)[0] for v in inputs[j, 60:]] for j in range(5)]
    )
    for group in groups:
        assert all((source[code] == source[group[0]]).all() for code in group)
    assert all(len(set(column)) <= 2 for column in source.T)
    swapped = (source != source[0]).any(axis=0).mean()
    assert 0.2 < swapped < 0.8
    # Heavy rows are drawn three times as often; all swapped rows count half as much as the rows.
    assert np.mean(source[0] >= 40) == pytest.approx(0.6, abs=0.04)
    assert more.weight[60:].sum() == pytest.approx(0.5 * weight.sum())
    np.testing.assert_array_equal(more.weight[:60], weight)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 40), st.integers(1, 6), st.floats(0.1, 3.0))
def test_swapped_rows_keep_groups_whole_and_weights_positive(seed, n, n_groups, times):
    """Each group comes whole from one of two rows; swapped rows weigh half of all rows."""
    rng = np.random.default_rng(seed)
    group_of = np.append(np.arange(n_groups), rng.integers(n_groups, size=4))
    groups = [np.flatnonzero(group_of == one) for one in range(n_groups)]
    X = np.tile(np.arange(n, dtype=float)[:, None], len(group_of))  # a value tells its row
    rows = ArrayRows.of(X, rng.normal(size=n), rng.uniform(0.1, 5.0, n))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(soft_module, "_FEWEST_SWAPPED", 2)
        more = swap_columns(rows, groups, times)
    assert more.n_rows == n + max(round(times * n), 2)
    np.testing.assert_array_equal(more.inputs[:-1, :n], X.T)
    np.testing.assert_array_equal(more.target[:n], rows.target)
    np.testing.assert_array_equal(more.inputs[-1], 1.0)
    source = more.inputs[:-1, n:].astype(int)
    for group in groups:
        np.testing.assert_array_equal(source[group], source[group[:1]].repeat(len(group), axis=0))
    assert all(len(set(column)) <= 2 for column in source.T)
    assert set(source.ravel()) <= set(range(n))
    assert more.weight.min() > 0
    np.testing.assert_array_equal(more.weight[:n], rows.weight)
    assert more.weight[n:].sum() == pytest.approx(0.5 * rows.total_weight)
    assert more.total_weight == pytest.approx(1.5 * rows.total_weight)


def test_a_fifth_of_the_groups_is_swapped():
    rng = np.random.default_rng(20)
    rows = ArrayRows.of(np.tile(np.arange(500.0)[:, None], 61), rng.normal(size=500), None)
    more = swap_columns(rows, list(np.arange(61)[:, None]), 2.0)
    source = more.inputs[:-1, 500:]
    middle = np.median(source, axis=0)  # the row that most groups are from
    assert np.mean(source != middle) == pytest.approx(0.2, abs=0.01)


def test_swapped_rows_have_nothing_but_soft_targets(monkeypatch):
    """They have no target of their own, whatever share of it the others keep."""
    rng = np.random.default_rng(21)
    full = random_network(rng, 12)
    shares = []

    def look(problem, teacher, share):
        shares.append(share)
        return soft_targets(problem, teacher, share)

    monkeypatch.setattr(module, "soft_targets", look)
    problem = random_problem(rng, full, SquaredError(), n=100)
    settings = Distil(2, largest=2, finetune=LBFGS(1), soft_share=0.4, augmentation=1.0)
    follow_path(problem, full, settings, split(problem, 70))
    assert [len(share) for share in shares] == [70 + 4_000, 100 + 4_000]
    for n, share in zip((70, 100), shares, strict=True):
        assert set(share[:n]) == {0.4}
        assert set(share[n:]) == {1.0}


def test_swapped_rows_keep_small_networks_from_overfitting():
    """Many inputs, few rows: on these the full network can be matched in many wrong ways."""
    rng = np.random.default_rng(14)
    full = random_network(rng, 60, n_features=30)
    problem = random_problem(rng, full, SquaredError(), n=150)
    fresh = rng.normal(size=(2_000, 30))
    errors = []
    for augmentation in (0.0, 1.0):
        settings = Distil(20, largest=20, finetune=LBFGS(60), augmentation=augmentation)
        frontier = follow_path(problem, full, settings)
        errors.append(np.std(frontier.network_of(20).score(fresh) - full.score(fresh)))
    assert errors[1] < 0.7 * errors[0]


@by_name
def test_swapped_rows_serve_every_loss(loss):
    rng = np.random.default_rng(15)
    full = random_network(rng, 20, n_outputs=loss.n_outputs)
    problem = random_problem(rng, full, loss, n=200)
    swapping = clone(QUICK).set_params(augmentation=1.0, soft_share=0.8)
    frontier = follow_path(problem, full, swapping, split(problem, 150))
    assert frontier.sizes == (20, 8, 4, 2)
    assert frontier == follow_path(problem, full, swapping, split(problem, 150))


@by_name
def test_mini_batches_reach_what_full_ones_reach(loss):
    """Another way to the same: soft targets are matched about as well."""
    rng = np.random.default_rng(16)
    full = random_network(rng, 40, n_outputs=loss.n_outputs)
    problem = random_problem(rng, full, loss, n=500)
    mini = MiniBatch(1_500, max_epochs=10_000, learning_rate=1e-2)
    soft = soft_targets(problem, full, 1.0)
    losses = {}
    for name, finetune in (("full", LBFGS(300)), ("mini", mini), ("none", LBFGS(1))):
        found = follow_path(problem, full, Distil(10, largest=10, finetune=finetune))
        losses[name] = mean_loss(soft, found.network_of(10)) - mean_loss(soft, full)
    assert losses["mini"] < 0.6 * losses["none"]
    assert losses["mini"] < 1.25 * losses["full"]
    by_batches = Distil(10, largest=10, finetune=mini)
    again = follow_path(problem, full, by_batches)
    assert again == follow_path(problem, full, by_batches)


def test_some_rows_validate_the_steps(monkeypatch):
    rng = np.random.default_rng(17)
    network = random_network(rng, 4)
    problem = soft_targets(random_problem(rng, network, SquaredError(), n=90), network, 1.0)
    seen = []

    class Looking(MiniBatch):
        def refine(self, problem, network, **given):
            seen.append((problem, given["validation"]))
            return super().refine(problem, network, **given)

    settings = Distil(finetune=Looking(2))
    settings.refine(problem, network, NEVER)
    ((on, validation),) = seen
    assert validation is on is problem
    monkeypatch.setattr(module, "_VALIDATION_ROWS", 10)
    settings.refine(problem, network, NEVER)
    on, some = seen[-1]
    assert on is problem
    assert some.rows.n_rows == 10
    np.testing.assert_array_equal(some.rows.target[[0, -1]], problem.rows.target[[0, -1]])


# ---------------------------------------------------------------------- the pruning path


def test_eight_planted_neurons_are_found_among_two_hundred_more():
    rng = np.random.default_rng(5)
    truth = random_network(rng, 8, n_features=4)
    idle = random_network(rng, 200, n_features=4)
    idle = idle.with_readout(1e-3 * idle.beta, [0.0])
    order = rng.permutation(208)
    full = ReluNetwork.concatenate([truth, idle]).select(order)
    problem = random_problem(rng, truth, SquaredError(), n=1200, noise=0.2)
    settings = Distil(4, largest=64, finetune=LBFGS(30))
    frontier = follow_path(problem, full, settings, split(problem, 900))
    assert frontier.sizes == (208, 64, 32, 16, 8, 4)
    assert abs(frontier.increase(8)) < 0.01
    assert frontier.increase(4) > 0.3
    assert frontier.smallest(0.01) == 8
    score, expected = frontier.network_of(8).score(problem.rows.X), truth.score(problem.rows.X)
    assert np.sqrt(np.mean(np.square(score - expected))) < 0.05 * expected.std()


def test_parallel_neurons_merge_without_an_increase():
    rng = np.random.default_rng(6)
    truth = random_network(rng, 5)
    twice = ReluNetwork(
        np.vstack([truth.weights, 3.0 * truth.weights]),
        np.concatenate([truth.bias, 3.0 * truth.bias]),
        np.vstack([0.4 * truth.beta, 0.2 * truth.beta]),
        truth.intercept,
    )
    problem = random_problem(rng, truth, SquaredError())
    frontier = follow_path(problem, twice, QUICK)
    assert frontier.sizes == (10, 5, 2)
    assert frontier.increase(5) == pytest.approx(0.0, abs=1e-12)
    X = problem.rows.X
    np.testing.assert_allclose(frontier.network_of(5).score(X), truth.score(X), atol=1e-12)


@by_name
def test_sizes_are_measured_on_validation_rows_and_networks_know_all_rows(loss):
    rng = np.random.default_rng(7)
    network = random_network(rng, 20, n_outputs=loss.n_outputs)
    problem = random_problem(rng, network, loss)
    fold = split(problem, 200)
    frontier = follow_path(problem, network, QUICK, fold)
    assert frontier.sizes == (20, 8, 4, 2)
    assert [one.n_neurons for one in frontier.networks] == [20, 8, 4, 2]
    assert frontier.networks[0] is network
    assert frontier.losses[0] == pytest.approx(mean_loss(fold.validation, network))
    alone = follow_path(fold.train, network, QUICK)  # the same path, of the training rows alone
    soft = soft_targets(problem, network, 1.0)
    for index in (1, 2, 3):
        trained = alone.networks[index]
        assert frontier.losses[index] == pytest.approx(mean_loss(fold.validation, trained))
        assert mean_loss(soft, frontier.networks[index]) <= mean_loss(soft, trained)
    assert not alone.held_out
    assert frontier.held_out
    assert frontier.n_rows == 100


def test_standard_error_is_that_of_paired_differences():
    rng = np.random.default_rng(8)
    network = random_network(rng, 20)
    problem = random_problem(rng, network, SquaredError())
    frontier = follow_path(problem, network, QUICK)
    X, y = problem.rows.X, problem.rows.target
    full, small = (np.square(one.score(X)[:, 0] - y) / 2 for one in (network, frontier.networks[1]))
    expected = (small - full).std() / np.sqrt(300)
    assert frontier.standard_errors[:2] == pytest.approx((0.0, expected))
    relative = expected / (2 * np.sqrt(full.mean() * small.mean()))
    assert frontier.standard_error(8) == pytest.approx(relative)


@by_name
def test_integer_weights_equal_repeated_rows(loss):
    rng = np.random.default_rng(9)
    network = random_network(rng, 16, n_outputs=loss.n_outputs)
    counts = rng.integers(1, 4, 200)
    weighted = random_problem(rng, network, loss, n=200, weight=counts.astype(float))
    X, y = (np.repeat(table, counts, axis=0) for table in (weighted.rows.X, weighted.rows.target))
    repeated = Problem(ArrayRows.of(X, y), loss)
    one = follow_path(weighted, network, QUICK, split(weighted, 150))
    other = follow_path(repeated, network, QUICK, split(repeated, int(counts[:150].sum())))
    assert one.sizes == other.sizes
    np.testing.assert_allclose(one.losses, other.losses, rtol=1e-6)
    np.testing.assert_allclose(one.standard_errors, other.standard_errors, rtol=1e-5)
    assert one.n_rows == other.n_rows
    for mine, theirs in zip(one.networks, other.networks, strict=True):
        np.testing.assert_allclose(mine.score(X), theirs.score(X), rtol=1e-5, atol=1e-5)


def test_the_same_path_twice_is_the_same_and_survives_a_pickle():
    rng = np.random.default_rng(10)
    network = random_network(rng, 20)
    problem = random_problem(rng, network, Logistic())
    first, second = (follow_path(problem, network, QUICK) for _ in range(2))
    assert first == second == pickle.loads(pickle.dumps(first))


def test_the_path_starts_from_the_network_of_the_training_rows():
    rng = np.random.default_rng(11)
    network, own = random_network(rng, 12), random_network(rng, 12)
    problem = random_problem(rng, network, SquaredError())
    fold = split(problem, 200)
    frontier = follow_path(problem, network, QUICK, fold, own)
    assert frontier.losses[0] == pytest.approx(mean_loss(fold.validation, own))
    assert frontier.network_of(12) is network


@pytest.mark.parametrize(("saved", "counted"), [(0.1, 0.1), (1e6, None)], ids=["some", "too much"])
def test_what_the_full_network_saves_counts_up_to_half_of_the_loss(saved, counted):
    rng = np.random.default_rng(22)
    network, own = random_network(rng, 12), random_network(rng, 12)
    problem = random_problem(rng, network, SquaredError())
    fold = split(problem, 200)
    before = mean_loss(fold.validation, own)
    known = np.full(100, saved)
    frontier = follow_path(problem, network, QUICK, fold, own, saved=known)
    assert frontier.losses[0] == pytest.approx(before - (before / 2 if counted is None else saved))


def test_after_the_deadline_there_is_the_full_network():
    rng = np.random.default_rng(12)
    network = random_network(rng, 30)
    problem = random_problem(rng, network, SquaredError())
    frontier = follow_path(problem, network, QUICK, deadline=Deadline.after(-1.0))
    assert frontier.sizes == (30,)
    assert not frontier.complete
    assert "time ran out" in repr(frontier)
    late = follow_path(problem, network, QUICK, deadline=Deadline.after(600.0))
    assert late == follow_path(problem, network, QUICK)


def test_the_network_inside_a_coded_one_is_distilled():
    rng = np.random.default_rng(13)
    coding = ColumnCoding([[-2.0, 0.0, 2.0]] * 3, [[-1.0, 0.5, 1.0]] * 3)
    inner = random_network(rng, 20)
    X = rng.normal(size=(300, 3))
    full = CodedNetwork(coding, inner)
    problem = Problem(ArrayRows.of(coding.encode(X), full.score(X)[:, 0]), SquaredError())
    frontier = follow_path(problem, inner, QUICK)
    outer = frontier.unscaled(lambda network: CodedNetwork(coding, network), spread=10.0)
    assert isinstance(outer.network_of(8), CodedNetwork)
    wrong = outer.network_of(8).score(X) - full.score(X)
    assert outer.error(8) == pytest.approx(10.0 * np.sqrt(np.mean(np.square(wrong))))
    assert outer.error(8) == pytest.approx(10.0 * frontier.error(8))


def test_rows_held_in_single_precision_give_nearly_the_same(monkeypatch):
    rng = np.random.default_rng(14)
    network = random_network(rng, 20)
    problem = random_problem(rng, network, SquaredError())
    double = follow_path(problem, network, QUICK)
    monkeypatch.setattr(budgets, "HELD_DOUBLE", 1000)
    single = follow_path(problem, network, QUICK)
    np.testing.assert_allclose(single.losses, double.losses, rtol=1e-2)
    assert single.losses[1:] != double.losses[1:]


# ---------------------------------------------------------------------- settings and errors


def test_sizes_fall_and_hold_what_is_asked_for():
    path = Distil(4, largest=512).path
    assert path(1500) == [512, 256, 128, 64, 32, 16, 8, 4]
    assert path(520) == [256, 128, 64, 32, 16, 8, 4]
    assert path(3) == []
    assert Distil(4, largest=512, sizes=[50, 3, 900]).path(100) == [64, 50, 32, 16, 8, 4, 3]
    assert Distil(10, largest=20, ratio=1.5).path(100) == [20, 13, 10]


@pytest.mark.parametrize("coded", [False, True])
def test_auto_is_a_single_size_with_many_steps_and_swapped_rows_on_codes(coded):
    found = Distil(64).resolved(coded=coded)
    assert found.path(1500) == [64]
    for several in (Distil(64, largest=256), Distil(64, sizes=[20])):
        again = several.resolved(coded=coded)
        if coded:
            assert again.finetune.n_steps < found.finetune.n_steps
        else:
            assert again.finetune == found.finetune
    assert found.augmentation == (1.0 if coded else 0.0)
    assert type(found.finetune) is (MiniBatch if coded else LBFGS)
    given = Distil(8, largest=9, finetune=LBFGS(3), augmentation=0.5)
    assert given.resolved(coded=coded) == given


@pytest.fixture
def tunings(monkeypatch):
    """Settings of all fine-tuning, of which nothing is done."""
    seen = []

    def look(self, problem, network, **rest):
        seen.append(self)
        return FineTuned(network, Status.COMPLETED, 0, (), (), 0.0)

    for kind in (LBFGS, MiniBatch):
        monkeypatch.setattr(kind, "refine", look)
    return seen


def refined(settings, n_neurons, shortened=1):
    """A network of `n_neurons`, as a path would refine it."""
    rng = np.random.default_rng(18)
    network = random_network(rng, n_neurons)
    problem = random_problem(rng, network, SquaredError())
    assert settings.refine(problem, network, NEVER, shortened) is network


@pytest.mark.parametrize(
    ("max_iter", "size", "shortened", "expected"),
    [
        (100, 4, 1, 100),
        (100, 64, 1, 100),
        (100, 128, 1, 50),
        (100, 2000, 1, 20),
        (100, 4, 4, 25),
        (5, 512, 1, 5),
        (2, 4, 4, 1),
    ],
)
def test_iterations_fall_with_size(max_iter, size, shortened, expected, tunings):
    refined(Distil(finetune=LBFGS(max_iter, decay=0.1)), size, shortened)
    assert tunings == [LBFGS(expected, decay=0.1)]


@pytest.mark.parametrize(
    ("size", "shortened", "expected"), [(4, 1, 800), (128, 1, 400), (4, 4, 200), (4_000, 1, 100)]
)
def test_steps_fall_likewise(size, shortened, expected, tunings):
    refined(Distil(finetune=MiniBatch(800, learning_rate=0.1)), size, shortened)
    assert tunings == [MiniBatch(expected, learning_rate=0.1 / shortened)]


@by_name
def test_mini_batches_may_leave_their_length_to_the_loss(loss):
    rng = np.random.default_rng(23)
    full = random_network(rng, 12, n_outputs=loss.n_outputs)
    problem = random_problem(rng, full, loss)
    epochs = 30 if loss.separable else 150
    found = [
        follow_path(problem, full, Distil(4, largest=8, finetune=one), split(problem, 200))
        for one in (MiniBatch(50, max_epochs="auto"), MiniBatch(50, max_epochs=epochs))
    ]
    assert found[0] == found[1]


class Halving:
    """Fine-tuning of the user's own: halves the coefficients."""

    def check(self):
        pass

    def refine(self, problem, network, **rest):
        half = network.with_readout(0.5 * network.beta, network.intercept)
        return FineTuned(half, Status.COMPLETED, 1, (), (), 0.0)


def test_fine_tuning_may_be_the_users_own():
    rng = np.random.default_rng(24)
    full = random_network(rng, 12)
    problem = random_problem(rng, full, SquaredError())
    found = follow_path(problem, full, Distil(6, largest=6, finetune=Halving())).network_of(6)
    chosen = select_neurons(soft_targets(problem, full, 1.0), full, 6)
    np.testing.assert_allclose(found.beta, 0.5 * chosen.beta)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_neurons": 0},
        {"largest": 0},
        {"ratio": 1.0},
        {"soft_share": 1.5},
        {"augmentation": -1.0},
        {"finetune": "adam"},
        {"sizes": [0]},
        {"sizes": [2.5]},
    ],
    ids=str,
)
def test_settings_out_of_range_are_named(wrong):
    settings = clone(Distil(**wrong))
    with pytest.raises(ValueError, match=next(iter(wrong))):
        settings.check()


def test_settings_of_its_parts_are_checked():
    with pytest.raises(ValueError, match="'learning_rate' parameter of MiniBatch"):
        Distil(finetune=MiniBatch(learning_rate=0.0)).check()


def test_networks_that_do_not_fit_are_refused():
    rng = np.random.default_rng(15)
    network = random_network(rng, 5)
    problem = random_problem(rng, network, SquaredError())
    with pytest.raises(ValueError, match=r"network has \(n_features, n_outputs\) = \(4, 1\)"):
        follow_path(problem, random_network(rng, 5, n_features=4), QUICK)
    with pytest.raises(ValueError, match=r"own has \(n_features, n_outputs\) = \(4, 1\)"):
        follow_path(
            problem, network, QUICK, split(problem, 200), random_network(rng, 5, n_features=4)
        )


@by_name
def test_a_linear_part_is_distilled_as_neurons(loss):
    """A neuron that is always active is linear, so that the full network stays the same."""
    rng = np.random.default_rng(26)
    network = random_network(rng, 12, n_outputs=loss.n_outputs)
    linear = rng.normal(size=(3, loss.n_outputs))
    network = network.with_readout(network.beta, network.intercept, linear)
    problem = random_problem(rng, network, loss)
    fold = split(problem, 200)
    frontier = follow_path(problem, network, QUICK, fold)
    full = frontier.networks[0]
    assert not np.any(full.linear)
    assert full.n_neurons == 12 + loss.n_outputs
    X = problem.rows.X
    np.testing.assert_allclose(full.score(X), network.score(X), atol=1e-9)
    assert frontier.losses[0] == pytest.approx(mean_loss(fold.validation, network))
    assert frontier.sizes[1:] == (8, 4, 2)


# ---------------------------------------------------------------------- the value


def known(**changes):
    given = {
        "sizes": (100, 50, 10),
        "networks": ("all", "half", "few"),
        "losses": (0.5, 0.51, 0.72),
        "standard_errors": (0.0, 0.005, 0.02),
        "loss": SquaredError(),
        "n_rows": 400.0,
    }
    return Frontier(**(given | changes))


def test_errors_and_increases_are_of_the_root_or_of_the_log_loss():
    squared, log_loss = known(spread=2.0), known(loss=Logistic())
    assert squared.error(10) == pytest.approx(2.4)
    assert squared.increase(10) == pytest.approx(0.2)
    assert squared.standard_error(10) == pytest.approx(0.02 / 1.2)
    assert (log_loss.error(10), log_loss.increase(10)) == (0.72, pytest.approx(0.44))
    assert log_loss.standard_error(10) == pytest.approx(0.04)
    assert [squared.smallest(one) for one in (0.0, 0.02, 0.5)] == [100, 50, 10]
    assert squared.network_of(50) == "half"
    exact = known(losses=(0.0, 0.0, 0.1))
    assert [exact.increase(size) for size in exact.sizes] == [0.0, 0.0, np.inf]
    assert exact.standard_error(10) == np.inf
    assert known(losses=(0.1, 0.0, 0.0)).standard_error(10) == np.inf


@pytest.mark.parametrize(
    ("loss", "measure"),
    [
        (SquaredError(), "RMSE"),
        (Logistic(), "log-loss"),
        (Multinomial(3), "log-loss"),
        (Absolute(), "mean loss"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_frontier_calls_errors_as_its_loss_does(loss, measure):
    """Whatever the loss: standard errors follow from its summary by the slope."""
    one = known(loss=loss, standard_errors=(0.0, 1e-7, 1e-7))
    assert one.measure == measure
    assert repr(one).startswith(f"Frontier: {measure} on 400 held-out rows")
    assert one.error(10) == pytest.approx(float(loss.summary(0.72)))
    moved = (loss.summary(0.72 + 1e-7) - loss.summary(0.72)) / loss.summary(0.5)
    assert one.standard_error(10) == pytest.approx(moved, rel=1e-4)


def test_the_path_of_another_loss_is_measured_by_it():
    rng = np.random.default_rng(25)
    network = random_network(rng, 12)
    problem = random_problem(rng, network, SquaredError())
    problem = Problem(problem.rows, Absolute())
    frontier = follow_path(problem, network, QUICK, split(problem, 200))
    assert (frontier.loss, frontier.measure) == (Absolute(), "mean loss")
    validation = split(problem, 200).validation
    expected = np.abs(validation.rows.target - network.score(problem.rows.X[200:])[:, 0]).mean()
    assert frontier.error(12) == pytest.approx(expected)
    assert frontier.unscaled(lambda one: one, spread=10.0).error(12) == frontier.error(12)


def test_the_table_and_the_words_say_the_same():
    frame = known().to_frame()
    assert list(frame) == [
        *("neurons", "error", "increase", "standard_error", "loss", "fidelity"),
    ]
    assert frame["increase"].tolist() == [known().increase(size) for size in (100, 50, 10)]
    words = repr(known())
    assert words.splitlines()[0] == "Frontier: RMSE on 400 held-out rows against neurons"
    assert "10 neurons  1.2  +20.0% ± 1.7%" in words
    assert "training rows" in repr(known(held_out=False))


def test_wrong_questions_name_the_parameter_and_the_sizes():
    with pytest.raises(ValueError, match="n_neurons must be one of 100, 50, 10; it is 49"):
        known().network_of(49)
    with pytest.raises(TypeError, match="tolerance must be a number; it is 'a'"):
        known().smallest("a")
    with pytest.raises(ValueError, match="tolerance must not be negative; it is -1"):
        known().smallest(-1)


def test_the_path_ends_at_the_smallest_size():
    """Whatever the ratio, and however near the full network is."""
    for chosen, n_neurons, expected in (
        (Distil(50, largest=128), 1_000, [128, 64, 50]),
        (Distil(64, largest=256, ratio=3.0), 1_000, [256, 85, 64]),
        (Distil(64), 80, [64]),
        (Distil(64), 64, []),
    ):
        assert chosen.resolved(coded=False).path(n_neurons) == expected


def test_a_first_size_below_the_smallest_is_refused():
    with pytest.raises(ValueError, match="largest must not be below n_neurons=64"):
        Distil(64, largest=32).check()
