import pickle
import time

import numpy as np
import pytest
from sklearn.base import clone

from lifenet import simplify as simplify_module
from lifenet.blocks import ArrayRows
from lifenet.coding import CodedNetwork, ColumnCoding
from lifenet.frontier import Frontier
from lifenet.kernels.elimination import eliminate_backward
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.network import ReluNetwork
from lifenet.readouts.design import HeldOut
from lifenet.simplify import Simplify, select_neurons, walk_frontier
from lifenet.solvers.base import Problem, Status
from lifenet.solvers.descent import Descended, Descent
from lifenet.solvers.polish import Wide, mean_loss, value_and_gradient
from lifenet.solvers.teaching import taught_by

QUICK = Simplify(largest=8, smallest=2, max_iter=10)


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
        y = (rng.uniform(size=n) < loss.mean(score[:, 0])).astype(float)
    else:
        y = np.array([rng.choice(loss.n_outputs, p=p) for p in loss.mean(score)], dtype=float)
    return Problem(ArrayRows.of(X, y, weight), loss)


def split(problem, n_learn):
    n = problem.rows.n_rows
    learn, judge = np.arange(n_learn), np.arange(n_learn, n)
    return HeldOut(*(Problem(problem.rows.take(part), problem.loss) for part in (learn, judge)))


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
def test_read_out_of_the_kept_neurons_is_a_newton_step(loss):
    """All kept at the network's own scores: nothing moves but by the penalty."""
    rng = np.random.default_rng(2)
    network = random_network(rng, 5, n_outputs=loss.n_outputs)
    problem = random_problem(rng, network, loss, n=500)
    chosen = select_neurons(taught_by(problem, network, 1.0), network, 5)
    X = problem.rows.X
    score, expected = chosen.score(X), network.score(X)
    assert np.abs(score - expected).max() < 0.05 * expected.std()


# ---------------------------------------------------------------------- what is learnt


@by_name
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_taught_loss_is_the_mixture_of_losses(loss, share):
    """Cross-entropy is linear in the target; of squared error, the gradient is."""
    rng = np.random.default_rng(3)
    teacher, pupil = (random_network(rng, 4, n_outputs=loss.n_outputs) for _ in range(2))
    problem = random_problem(rng, teacher, loss, weight=rng.uniform(0.5, 2.0, 300))
    taught = taught_by(problem, teacher, share)
    _, mixed = value_and_gradient(taught, Wide.of(pupil), 0.0)
    _, plain = value_and_gradient(problem, Wide.of(pupil), 0.0)
    _, soft = value_and_gradient(taught_by(problem, teacher, 1.0), Wide.of(pupil), 0.0)
    np.testing.assert_allclose(mixed, share * soft + (1 - share) * plain, atol=1e-12)


@by_name
def test_a_teacher_has_nothing_to_learn_from_itself(loss):
    rng = np.random.default_rng(4)
    teacher = random_network(rng, 4, n_outputs=loss.n_outputs)
    taught = taught_by(random_problem(rng, teacher, loss), teacher, 1.0)
    _, gradient = value_and_gradient(taught, Wide.of(teacher), 0.0)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-12)
    null = taught.loss.null_score(taught.rows.target, taught.rows.weight)
    flat = ReluNetwork(np.zeros((0, 3)), [], np.zeros((0, loss.n_outputs)), null)
    _, slopes = value_and_gradient(taught, Wide.of(flat), 0.0)
    np.testing.assert_allclose(slopes, 0.0, atol=1e-12)


@by_name
def test_every_row_may_have_a_share_of_its_own(loss):
    rng = np.random.default_rng(12)
    teacher, pupil = (random_network(rng, 4, n_outputs=loss.n_outputs) for _ in range(2))
    problem = random_problem(rng, teacher, loss)
    first, last = np.arange(100), np.arange(100, 300)
    taught = taught_by(problem, teacher, np.repeat([0.3, 1.0], [100, 200]))
    gradients = [
        value_and_gradient(
            taught_by(Problem(problem.rows.take(part), loss), teacher, share), Wide.of(pupil), 0.0
        )[1]
        for part, share in ((first, 0.3), (last, 1.0))
    ]
    _, both = value_and_gradient(taught, Wide.of(pupil), 0.0)
    np.testing.assert_allclose(both, gradients[0] / 3 + 2 * gradients[1] / 3, atol=1e-12)


# ---------------------------------------------------------------------- crossed rows


def test_crossed_rows_have_every_group_from_one_of_two_rows():
    rng = np.random.default_rng(13)
    weight = np.where(np.arange(60) < 40, 1.0, 3.0)
    rows = ArrayRows.of(rng.normal(size=(60, 5)), np.zeros(60), weight)
    groups = [np.array([0, 3]), np.array([1]), np.array([2, 4])]
    more = simplify_module._with_crossed(rows, groups, 2.0)
    inputs, n_crossed = more.inputs, more.n_rows - 60
    assert n_crossed == simplify_module._FEWEST_CROSSED  # twice the rows would be fewer
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
    # Heavy rows are met three times as often; all of them count half as much as the rows.
    assert np.mean(source[0] >= 40) == pytest.approx(0.6, abs=0.04)
    assert more.weight[60:].sum() == pytest.approx(0.5 * weight.sum())
    np.testing.assert_array_equal(more.weight[:60], weight)


def test_crossed_rows_keep_small_networks_from_learning_rows_by_heart():
    """Many inputs, few rows: on these the full network can be matched in many wrong ways."""
    rng = np.random.default_rng(14)
    full = random_network(rng, 60, n_features=30)
    problem = random_problem(rng, full, SquaredError(), n=150)
    fresh = rng.normal(size=(2_000, 30))
    settings = Simplify(largest=20, smallest=20, max_iter=60)
    errors = []
    for crossed in (0.0, 1.0):
        frontier = walk_frontier(
            problem, full, settings=clone(settings).set_params(crossed=crossed)
        )
        errors.append(np.std(frontier.network_of(20).score(fresh) - full.score(fresh)))
    assert errors[1] < 0.7 * errors[0]


@by_name
def test_crossed_rows_serve_every_loss(loss):
    rng = np.random.default_rng(15)
    full = random_network(rng, 20, n_outputs=loss.n_outputs)
    problem = random_problem(rng, full, loss, n=200)
    crossing = clone(QUICK).set_params(crossed=1.0, teaching=0.8)
    frontier = walk_frontier(problem, full, split(problem, 150), crossing)
    assert frontier.sizes == (20, 8, 4, 2)
    assert frontier == walk_frontier(problem, full, split(problem, 150), crossing)


@by_name
def test_mini_batches_reach_what_full_ones_reach(loss):
    """Another way to the same: what both are taught is matched about as well."""
    rng = np.random.default_rng(16)
    full = random_network(rng, 40, n_outputs=loss.n_outputs)
    problem = random_problem(rng, full, loss, n=500)
    by_batches = Simplify(
        largest=10, smallest=10, descent=Descent(1_500, max_epochs=10_000, learning_rate=1e-2)
    )
    taught = taught_by(problem, full, 1.0)
    losses = {}
    for name, settings in (
        ("full", Simplify(largest=10, smallest=10, max_iter=300)),
        ("mini", by_batches),
        ("none", Simplify(largest=10, smallest=10, max_iter=1)),
    ):
        found = walk_frontier(problem, full, settings=settings).network_of(10)
        losses[name] = mean_loss(taught, Wide.of(found)) - mean_loss(taught, Wide.of(full))
    assert losses["mini"] < 0.6 * losses["none"]
    assert losses["mini"] < 1.25 * losses["full"]
    again = walk_frontier(problem, full, settings=by_batches)
    assert again == walk_frontier(problem, full, settings=by_batches)


def test_some_rows_judge_the_steps(monkeypatch):
    rng = np.random.default_rng(17)
    network = random_network(rng, 4)
    problem = taught_by(random_problem(rng, network, SquaredError(), n=90), network, 1.0)
    assert simplify_module._some_of(problem) is problem
    monkeypatch.setattr(simplify_module, "_JUDGING", 10)
    some = simplify_module._some_of(problem)
    assert some.rows.n_rows == 10
    np.testing.assert_array_equal(some.rows.target[[0, -1]], problem.rows.target[[0, -1]])


# ---------------------------------------------------------------------- the walk


def test_eight_planted_neurons_are_found_among_two_hundred_more():
    rng = np.random.default_rng(5)
    truth = random_network(rng, 8, n_features=4)
    idle = random_network(rng, 200, n_features=4)
    idle = idle.with_readout(1e-3 * idle.beta, [0.0])
    order = rng.permutation(208)
    full = ReluNetwork.concatenate([truth, idle]).select(order)
    problem = random_problem(rng, truth, SquaredError(), n=1200, noise=0.2)
    settings = Simplify(largest=64, smallest=4, max_iter=30)
    frontier = walk_frontier(problem, full, split(problem, 900), settings)
    assert frontier.sizes == (208, 64, 32, 16, 8, 4)
    assert abs(frontier.price(8)) < 0.01
    assert frontier.price(4) > 0.3
    assert frontier.smallest(0.01) == 8
    score, expected = frontier.network_of(8).score(problem.rows.X), truth.score(problem.rows.X)
    assert np.sqrt(np.mean(np.square(score - expected))) < 0.05 * expected.std()


def test_parallel_neurons_merge_at_no_price():
    rng = np.random.default_rng(6)
    truth = random_network(rng, 5)
    twice = ReluNetwork(
        np.vstack([truth.weights, 3.0 * truth.weights]),
        np.concatenate([truth.bias, 3.0 * truth.bias]),
        np.vstack([0.4 * truth.beta, 0.2 * truth.beta]),
        truth.intercept,
    )
    problem = random_problem(rng, truth, SquaredError())
    frontier = walk_frontier(problem, twice, settings=QUICK)
    assert frontier.sizes == (10, 5, 2)
    assert frontier.price(5) == pytest.approx(0.0, abs=1e-12)
    X = problem.rows.X
    np.testing.assert_allclose(frontier.network_of(5).score(X), truth.score(X), atol=1e-12)


@by_name
def test_sizes_are_judged_on_rows_apart_and_networks_know_all_rows(loss):
    rng = np.random.default_rng(7)
    network = random_network(rng, 20, n_outputs=loss.n_outputs)
    problem = random_problem(rng, network, loss)
    held_out = split(problem, 200)
    frontier = walk_frontier(problem, network, held_out, QUICK)
    assert frontier.sizes == (20, 8, 4, 2)
    assert [one.n_neurons for one in frontier.networks] == [20, 8, 4, 2]
    assert frontier.networks[0] is network
    assert frontier.losses[0] == pytest.approx(mean_loss(held_out.judge, Wide.of(network)))
    alone = walk_frontier(held_out.learn, network, settings=QUICK)  # the same walk, not judged
    for place in (1, 2, 3):
        wide = Wide.of(alone.networks[place])
        assert frontier.losses[place] == pytest.approx(mean_loss(held_out.judge, wide))
        taught = taught_by(problem, network, 1.0)
        assert mean_loss(taught, Wide.of(frontier.networks[place])) <= mean_loss(taught, wide)
    assert not alone.held_out
    assert frontier.held_out
    assert frontier.n_rows == 100


def test_noise_is_the_standard_error_of_paired_differences():
    rng = np.random.default_rng(8)
    network = random_network(rng, 20)
    problem = random_problem(rng, network, SquaredError())
    frontier = walk_frontier(problem, network, settings=QUICK)
    X, y = problem.rows.X, problem.rows.target
    full, small = (np.square(one.score(X)[:, 0] - y) / 2 for one in (network, frontier.networks[1]))
    expected = (small - full).std() / np.sqrt(300)
    assert frontier.noises[:2] == pytest.approx((0.0, expected))
    assert frontier.noise(8) == pytest.approx(expected / (2 * np.sqrt(full.mean() * small.mean())))


@by_name
def test_integer_weights_equal_repeated_rows(loss):
    rng = np.random.default_rng(9)
    network = random_network(rng, 16, n_outputs=loss.n_outputs)
    counts = rng.integers(1, 4, 200)
    weighted = random_problem(rng, network, loss, n=200, weight=counts.astype(float))
    X, y = (np.repeat(table, counts, axis=0) for table in (weighted.rows.X, weighted.rows.target))
    repeated = Problem(ArrayRows.of(X, y), loss)
    one = walk_frontier(weighted, network, split(weighted, 150), QUICK)
    other = walk_frontier(repeated, network, split(repeated, int(counts[:150].sum())), QUICK)
    assert one.sizes == other.sizes
    np.testing.assert_allclose(one.losses, other.losses, rtol=1e-6)
    np.testing.assert_allclose(one.noises, other.noises, rtol=1e-5)
    assert one.n_rows == other.n_rows
    for mine, theirs in zip(one.networks, other.networks, strict=True):
        np.testing.assert_allclose(mine.score(X), theirs.score(X), rtol=1e-5, atol=1e-5)


def test_the_same_walk_twice_is_the_same_and_survives_a_pickle():
    rng = np.random.default_rng(10)
    network = random_network(rng, 20)
    problem = random_problem(rng, network, Logistic())
    first, second = (walk_frontier(problem, network, settings=QUICK) for _ in range(2))
    assert first == second == pickle.loads(pickle.dumps(first))


def test_a_rehearsed_network_is_what_the_walk_starts_from():
    rng = np.random.default_rng(11)
    network, rehearsed = random_network(rng, 12), random_network(rng, 12)
    problem = random_problem(rng, network, SquaredError())
    held_out = split(problem, 200)
    frontier = walk_frontier(problem, network, held_out, QUICK, rehearsed=rehearsed)
    assert frontier.losses[0] == pytest.approx(mean_loss(held_out.judge, Wide.of(rehearsed)))
    assert frontier.network_of(12) is network


def test_after_the_deadline_there_is_the_full_network():
    rng = np.random.default_rng(12)
    network = random_network(rng, 30)
    problem = random_problem(rng, network, SquaredError())
    frontier = walk_frontier(problem, network, settings=QUICK, deadline=time.monotonic() - 1.0)
    assert frontier.sizes == (30,)
    assert not frontier.complete
    assert "time ran out" in repr(frontier)
    late = walk_frontier(problem, network, settings=QUICK, deadline=time.monotonic() + 600)
    assert late == walk_frontier(problem, network, settings=QUICK)


def test_the_network_inside_a_coded_one_is_simplified():
    rng = np.random.default_rng(13)
    coding = ColumnCoding([[-2.0, 0.0, 2.0]] * 3, [[-1.0, 0.5, 1.0]] * 3)
    inner = random_network(rng, 20)
    X = rng.normal(size=(300, 3))
    full = CodedNetwork(coding, inner)
    problem = Problem(ArrayRows.of(coding.encode(X), full.score(X)[:, 0]), SquaredError())
    frontier = walk_frontier(problem, inner, settings=QUICK)
    outer = frontier.unscaled(lambda network: CodedNetwork(coding, network), spread=10.0)
    assert isinstance(outer.network_of(8), CodedNetwork)
    wrong = outer.network_of(8).score(X) - full.score(X)
    assert outer.error(8) == pytest.approx(10.0 * np.sqrt(np.mean(np.square(wrong))))
    assert outer.error(8) == pytest.approx(10.0 * frontier.error(8))


def test_rows_held_in_single_precision_give_nearly_the_same(monkeypatch):
    rng = np.random.default_rng(14)
    network = random_network(rng, 20)
    problem = random_problem(rng, network, SquaredError())
    double = walk_frontier(problem, network, settings=QUICK)
    monkeypatch.setattr("lifenet.simplify._DOUBLE_BYTES", 1000)
    single = walk_frontier(problem, network, settings=QUICK)
    np.testing.assert_allclose(single.losses, double.losses, rtol=1e-2)
    assert single.losses[1:] != double.losses[1:]


# ---------------------------------------------------------------------- settings and errors


def test_the_ladder_falls_and_holds_what_is_asked_for():
    assert Simplify().ladder(1500) == [512, 256, 128, 64, 32, 16, 8, 4]
    assert Simplify().ladder(520) == [256, 128, 64, 32, 16, 8, 4]
    assert Simplify(sizes=[50, 3, 900]).ladder(100) == [64, 50, 32, 16, 8, 4, 3]
    assert Simplify(largest=20, smallest=10, ratio=1.5).ladder(100) == [20, 13]
    assert Simplify().ladder(3) == []


def test_iterations_fall_with_size():
    assert [Simplify().polish(size).max_iter for size in (4, 64, 128, 2000)] == [100, 100, 50, 20]
    assert Simplify(max_iter=5).polish(512).max_iter == 5
    assert Simplify(max_iter=2).polish(4, 4).max_iter == 1


@pytest.mark.parametrize(
    ("size", "shortened", "expected"), [(4, 1, 800), (128, 1, 400), (4, 4, 200), (4_000, 1, 100)]
)
def test_steps_fall_likewise(size, shortened, expected, monkeypatch):
    rng = np.random.default_rng(18)
    network = random_network(rng, size)
    seen = []

    def look(self, learn, judge, network, *rest):
        seen.append((self.n_steps, self.learning_rate))
        return Descended(network, (), Status.COMPLETED)

    monkeypatch.setattr(Descent, "refine", look)
    problem = random_problem(rng, network, SquaredError())
    settings = Simplify(descent=Descent(800, learning_rate=0.1))
    assert settings.refine(problem, network, shortened=shortened) is network
    assert seen == [(expected, 0.1 / shortened)]


@pytest.mark.parametrize(
    "wrong",
    [{"largest": 0}, {"ratio": 1.0}, {"teaching": 1.5}, {"sizes": [0]}, {"sizes": [2.5]}],
    ids=str,
)
def test_settings_out_of_range_are_named(wrong):
    settings = clone(Simplify(**wrong))
    with pytest.raises(ValueError, match=next(iter(wrong))):
        settings.check()


def test_settings_of_its_parts_are_checked():
    with pytest.raises(ValueError, match="'learning_rate' parameter of Descent"):
        Simplify(descent=Descent(learning_rate=0.0)).check()


def test_networks_that_do_not_fit_are_refused():
    rng = np.random.default_rng(15)
    network = random_network(rng, 5)
    problem = random_problem(rng, network, SquaredError())
    with pytest.raises(ValueError, match=r"network has \(n_features, n_outputs\) = \(4, 1\)"):
        walk_frontier(problem, random_network(rng, 5, n_features=4))
    bent = network.with_readout(network.beta, network.intercept, np.ones((3, 1)))
    with pytest.raises(ValueError, match="network has a linear part"):
        walk_frontier(problem, bent)


# ---------------------------------------------------------------------- the value


def known(**changes):
    given = {
        "sizes": (100, 50, 10),
        "networks": ("all", "half", "few"),
        "losses": (0.5, 0.51, 0.72),
        "noises": (0.0, 0.005, 0.02),
        "squared": True,
        "n_rows": 400.0,
    }
    return Frontier(**(given | changes))


def test_errors_and_prices_are_of_the_root_or_of_the_log_loss():
    squared, log_loss = known(spread=2.0), known(squared=False)
    assert squared.error(10) == pytest.approx(2.4)
    assert squared.price(10) == pytest.approx(0.2)
    assert squared.noise(10) == pytest.approx(0.02 / 1.2)
    assert (log_loss.error(10), log_loss.price(10)) == (0.72, pytest.approx(0.44))
    assert log_loss.noise(10) == pytest.approx(0.04)
    assert [squared.smallest(one) for one in (0.0, 0.02, 0.5)] == [100, 50, 10]
    assert squared.network_of(50) == "half"
    exact = known(losses=(0.0, 0.0, 0.1))
    assert [exact.price(size) for size in exact.sizes] == [0.0, 0.0, np.inf]


def test_the_table_and_the_words_say_the_same():
    frame = known().to_frame()
    assert list(frame) == ["neurons", "error", "price", "noise", "loss"]
    assert frame["price"].tolist() == [known().price(size) for size in (100, 50, 10)]
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
