import time

import numpy as np
import pytest
from sklearn.base import clone

from lifenet._clock import Deadline
from lifenet.losses import Logistic, SquaredError
from lifenet.solvers import adam as module
from lifenet.solvers.adam import Adam
from lifenet.solvers.base import Status
from lifenet.solvers.stack import Batch, Dropout, Stack, stack_gradient


def data(n=200, p=3, n_members=4, seed=0, loss=None):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, p))
    y = np.abs(X[:, 0]) - X[:, 1] + 0.3 * generator.normal(size=n)
    y = (y - y.mean()) / y.std()
    if isinstance(loss, Logistic):
        y = (y > 0).astype(float)
    weight = generator.integers(0, 3, (n, n_members)).astype(float)
    return X, y, weight


def seeds(n_members, first=0):
    return [np.random.SeedSequence(7, spawn_key=(first + index,)) for index in range(n_members)]


def random_stack(n_members, n_neurons, n_inputs, seed=3):
    generator = np.random.default_rng(seed)
    return Stack.of(
        generator.normal(size=(n_members, n_neurons, n_inputs)),
        generator.normal(size=(n_members, n_neurons)),
        generator.normal(size=n_members),
    )


def with_ones(X):
    return np.column_stack([X, np.ones(len(X))])


def scores(outcome, X):
    return outcome.network.score(X).ravel()


def assert_same(one, other, X, rel):
    for left, right in zip(one, other, strict=True):
        np.testing.assert_allclose(scores(left, X), scores(right, X), rtol=rel, atol=rel)
        assert left.loss == pytest.approx(right.loss, rel=rel)


@pytest.fixture(params=[SquaredError(), Logistic()], ids=["squared", "logistic"])
def loss(request):
    return request.param


class TestGradient:
    def test_loss_is_its_definition(self, loss):
        X, y, weight = data(loss=loss)
        stack = random_stack(4, 5, 4)
        batch = Batch(with_ones(X), y[None], weight.T)
        scale = 1.0 / weight.sum(axis=0)
        losses = stack_gradient(stack, batch, scale, loss)[1]
        for member in range(4):
            score = stack.network(member).score(X)
            expected = weight[:, member] @ loss.value(y, score) / weight[:, member].sum()
            assert losses[member] == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("shared", [True, False])
    def test_against_finite_differences(self, loss, shared):
        X, y, weight = data(n=50, n_members=2, loss=loss)
        target = y[None] if shared else np.stack([y, np.roll(y, 3)])
        batch, scale = Batch(with_ones(X), target, weight.T), np.array([0.1, 0.2])
        stack = random_stack(2, 3, 4)
        gradient = stack_gradient(stack, batch, scale, loss)[0]
        for index in range(len(stack.vector)):
            values = []
            for step in (1e-6, -1e-6):
                moved = stack.copy()
                moved.vector[index] += step
                values.append(stack_gradient(moved, batch, scale, loss)[1].sum())
            slope = (values[0] - values[1]) / 2e-6
            assert gradient.vector[index] == pytest.approx(slope, abs=1e-6)

    def test_with_neurons_left_out_against_finite_differences(self, loss):
        X, y, weight = data(n=50, n_members=2, loss=loss)
        batch, scale, stack = (
            Batch(with_ones(X), y[None], weight.T),
            np.ones(2),
            random_stack(2, 3, 4),
        )

        def call(stack):
            generators = tuple(np.random.default_rng(seed) for seed in (1, 2))
            return stack_gradient(stack, batch, scale, loss, dropout=Dropout(0.4, generators))

        gradient = call(stack)[0]
        assert not np.allclose(gradient.vector, stack_gradient(stack, batch, scale, loss)[0].vector)
        for index in range(len(stack.vector)):
            values = []
            for step in (1e-6, -1e-6):
                moved = stack.copy()
                moved.vector[index] += step
                values.append(call(moved)[1].sum())
            assert gradient.vector[index] == pytest.approx((values[0] - values[1]) / 2e-6, abs=1e-4)

    def test_neurons_are_left_out_at_their_rate_and_count_as_much_on_average(self):
        factors = Dropout(0.3, (np.random.default_rng(0),)).factors(
            slice(0, 1), (50, 2000), np.dtype(np.float64)
        )
        assert set(np.unique(factors)) == {0.0, 1 / 0.7}
        assert np.mean(factors == 0) == pytest.approx(0.3, abs=0.01)

    def test_groups_of_members_change_nothing(self, loss, monkeypatch):
        X, y, weight = data(loss=loss)
        stack, scale = random_stack(4, 5, 4), np.ones(4)
        batch = Batch(with_ones(X), y[None], weight.T)
        whole = stack_gradient(stack, batch, scale, loss)
        monkeypatch.setattr("lifenet.data.budgets.GRADIENT_BLOCK", 3 * 5 * len(X))
        parts = stack_gradient(stack, batch, scale, loss)
        np.testing.assert_allclose(parts[0].vector, whole[0].vector, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(parts[1], whole[1], rtol=1e-12)


class TestStack:
    def test_take_and_put_are_inverse(self):
        stack, other = random_stack(4, 3, 3), random_stack(4, 3, 3, seed=9)
        members = np.array([2, 0])
        for member in members:
            other.put(member, stack, member)
        np.testing.assert_array_equal(other.take(members).vector, stack.take(members).vector)

    def test_network_has_unit_directions_and_survives_a_dead_neuron(self):
        stack = random_stack(1, 3, 3)
        stack.theta[0, 1] = 0.0
        network = stack.network(0)
        norms = np.linalg.norm(network.weights, axis=1)
        np.testing.assert_allclose(norms, [1.0, 0.0, 1.0], atol=1e-12)
        X = np.random.default_rng(0).normal(size=(20, 2))
        hidden = np.maximum(with_ones(X) @ stack.theta[0].T, 0)
        expected = hidden @ stack.beta[0] + stack.intercept[0]
        np.testing.assert_allclose(network.score(X).ravel(), expected, rtol=1e-12)


class TestSmallData:
    """Below 1,000 rows: float64, full batches, no validation rows."""

    def test_zero_weight_is_absence(self, loss):
        X, y, weight = data(loss=loss)
        weight[:60] = 0
        solver = Adam(n_neurons=4, max_epochs=60)
        one = solver.train_together(X, y, weight, loss, seeds(4))
        other = solver.train_together(X[60:], y[60:], weight[60:], loss, seeds(4))
        assert_same(one, other, X, 1e-10)

    def test_integer_weights_are_repeated_rows(self, loss):
        X, y, weight = data(n_members=1, loss=loss)
        counts = weight[:, 0].astype(int)
        solver = Adam(n_neurons=4)
        one = solver.train_together(X, y, weight, loss, seeds(1))
        X_long, y_long = np.repeat(X, counts, axis=0), np.repeat(y, counts)
        other = solver.train_together(X_long, y_long, np.ones((len(X_long), 1)), loss, seeds(1))
        assert_same(one, other, X, 1e-6)

    @pytest.mark.parametrize("dropout", [0.0, 0.3])
    def test_members_together_are_members_alone(self, loss, dropout):
        X, y, weight = data(loss=loss)
        weight += dropout > 0  # neurons are left out by row: all members must see the same
        solver = Adam(n_neurons=4, max_epochs=60, dropout=dropout)
        together = solver.train_together(X, y, weight, loss, seeds(4))
        for member, outcome in enumerate(together):
            column = weight[:, [member]]
            alone = solver.train_together(X, y, column, loss, seeds(1, first=member))
            assert_same([outcome], alone, X, 1e-8)

    def test_a_target_for_each_member(self):
        X, y, weight = data(n_members=2)
        solver = Adam(n_neurons=4, max_epochs=40)
        targets = np.column_stack([y, -y])
        both = solver.train_together(X, targets, weight, SquaredError(), seeds(2))
        first = solver.train_together(X, y, weight[:, :1], SquaredError(), seeds(1))
        assert_same(both[:1], first, X, 1e-8)
        assert np.corrcoef(scores(both[1], X), -y)[0, 1] > 0.7

    def test_loss_of_the_outcome_is_that_of_its_network(self, loss):
        X, y, weight = data(loss=loss)
        for member, outcome in enumerate(
            Adam(n_neurons=4, max_epochs=30).train_together(X, y, weight, loss, seeds(4))
        ):
            column = weight[:, member]
            expected = column @ loss.value(y, scores(outcome, X)[:, None]) / column.sum()
            assert outcome.loss == outcome.objective == pytest.approx(expected, rel=1e-10)

    def test_start_is_inside_the_member_s_own_rows(self):
        X, y, _ = data(n=400)
        weight = (X[:, :1] > 1.0).astype(float)
        solver = Adam(n_neurons=8, max_epochs=1, learning_rate=1e-12)
        network = solver.train_together(X, y, weight, SquaredError(), seeds(1))[0].network
        active = X[weight[:, 0] > 0] @ network.weights.T + network.bias > 0
        share = active.mean(axis=0)
        assert np.all((share > 0) & (share < 1))

    def test_learns_a_planted_network(self):
        generator = np.random.default_rng(0)
        X = generator.normal(size=(600, 2))
        y = np.maximum(X[:, 0] - 0.2, 0) - np.maximum(X[:, 0] + X[:, 1], 0)
        y = (y - y.mean()) / y.std()
        solver = Adam(n_neurons=8, max_epochs=1000)
        outcomes = solver.train_together(X, y, np.ones((600, 3)), SquaredError(), seeds(3))
        assert min(outcome.loss for outcome in outcomes) < 0.5 * 0.01

    def test_weight_decay_shrinks(self):
        X, y, weight = data()
        norms = [
            np.abs(outcome.network.beta).sum()
            for decay in (0.0, 2.0)
            for outcome in Adam(n_neurons=4, weight_decay=decay, max_epochs=100).train_together(
                X, y, weight[:, :1], SquaredError(), seeds(1)
            )
        ]
        assert norms[1] < 0.7 * norms[0]


class TestMiniBatches:
    def test_float32_members_do_not_depend_on_each_other(self, loss):
        X, y, weight = data(n=1500, n_members=5, loss=loss)
        solver = Adam(n_neurons=4, max_epochs=3, batch_size=256)
        together = solver.train_together(X, y, weight, loss, seeds(5))
        pair = solver.train_together(X, y, weight[:, [0, 3]], loss, [seeds(5)[0], seeds(5)[3]])
        assert_same([together[0], together[3]], pair, X, 1e-4)

    def test_same_seed_same_network(self, loss):
        X, y, weight = data(n=1500, loss=loss)
        solver = Adam(n_neurons=4, max_epochs=3)
        one, other, another = (
            solver.train_together(X, y, weight, loss, seeds(4, first)) for first in (0, 0, 10)
        )
        assert all(a.network == b.network for a, b in zip(one, other, strict=True))
        assert not any(a.network == b.network for a, b in zip(one, another, strict=True))

    def test_seeds_are_left_as_they_were(self):
        X, y, weight = data()
        given = seeds(4)
        Adam(max_epochs=1).train_together(X, y, weight, SquaredError(), given)
        assert all(seed.n_children_spawned == 0 for seed in given)

    def test_float32_weights_are_float64_weights(self):
        X, y, weight = data(n=1500)
        solver = Adam(n_neurons=4, max_epochs=2)
        one, other = (
            solver.train_together(X, y, weight.astype(kind), SquaredError(), seeds(4))
            for kind in (np.float32, np.float64)
        )
        assert_same(one, other, X, 1e-4)

    def test_learns(self, loss):
        X, y, weight = data(n=2000, loss=loss)
        null = np.log(2) if isinstance(loss, Logistic) else 0.5
        for outcome in Adam(n_neurons=6).train_together(X, y, weight, loss, seeds(4)):
            assert outcome.loss < 0.5 * null


class TestEnding:
    def test_early_stopping_keeps_the_best_epoch(self):
        """Noise is all there is to learn: the best epoch is an early one, and it is kept."""
        generator = np.random.default_rng(0)
        X, y = generator.normal(size=(1200, 10)), generator.normal(size=1200)
        weight = np.ones((1200, 3))
        settings = {"n_neurons": 20, "max_epochs": 60, "schedule": "constant"}
        stopped = Adam(**settings, early_stopping=True, patience=5).train_together(
            X, y, weight, SquaredError(), seeds(3)
        )
        full = Adam(**settings).train_together(X, y, weight, SquaredError(), seeds(3))
        fresh = generator.normal(size=(5000, 10)), generator.normal(size=5000)
        for early, late in zip(stopped, full, strict=True):
            assert early.status is Status.CONVERGED
            assert early.n_iterations < 60
            assert late.n_iterations == 60
            errors = [np.mean((scores(o, fresh[0]) - fresh[1]) ** 2) for o in (early, late)]
            assert errors[0] < errors[1]

    def test_best_epoch_has_the_least_validation_loss(self):
        stack = random_stack(1, 2, 3)
        watch, member = module._Watch.of(stack), np.array([0])
        for loss in (3.0, 1.0, 2.0):
            stack.vector[...] = loss
            watch.note(member, stack, np.array([loss]), 1e-4)
        assert np.all(watch.best.vector == 1.0)
        assert watch.waited[0] == 1

    def test_stopping_of_others_changes_nothing(self, monkeypatch):
        """Compressing the stack when members stop leaves the others unchanged."""
        X, y, weight = data(n=1500, n_members=6)
        X[:, 2] = np.random.default_rng(5).normal(size=1500)
        solver = Adam(n_neurons=6, max_epochs=40, early_stopping=True, patience=2, tol=1e-2)
        one = solver.train_together(X, y, weight, SquaredError(), seeds(6))
        assert len({outcome.n_iterations for outcome in one}) > 1
        monkeypatch.setattr(module, "_STOPPED_SHARE", 1.0)
        other = solver.train_together(X, y, weight, SquaredError(), seeds(6))
        assert [o.n_iterations for o in one] == [o.n_iterations for o in other]
        assert_same(one, other, X, 1e-3)

    def test_few_validation_rows_do_not_stop_a_member(self):
        X, y, weight = data(n=3000, n_members=2)
        weight[100:, 1] = 0.0
        solver = Adam(n_neurons=4, max_epochs=30, early_stopping=True, patience=1, tol=0.5)
        large, tiny = solver.train_together(X, y, weight, SquaredError(), seeds(2))
        assert large.n_iterations < 30
        assert tiny.n_iterations == 30

    def test_deadline(self):
        X, y, weight = data(n=4000, n_members=10)
        begun = time.monotonic()
        outcomes = Adam(max_epochs=100_000).train_together(
            X, y, weight, SquaredError(), seeds(10), deadline=Deadline.after(0.5)
        )
        assert time.monotonic() - begun < 3.0
        assert {outcome.status for outcome in outcomes} == {Status.TIME_LIMIT}
        assert all(np.isfinite(scores(outcome, X)).all() for outcome in outcomes)

    @pytest.mark.parametrize("n", [200, 1500])
    @pytest.mark.parametrize("rate", [1e25, 1e200])
    def test_divergence_ends_with_finite_networks(self, n, rate, loss):
        X, y, weight = data(n=n, loss=loss)
        solver = Adam(learning_rate=rate, max_epochs=4, schedule="constant")
        outcomes = solver.train_together(X, y, weight, loss, seeds(4))
        assert all(np.isfinite(scores(outcome, X)).all() for outcome in outcomes)
        assert all(np.isfinite(outcome.loss) for outcome in outcomes)

    def test_history_has_a_row_an_epoch(self):
        X, y, weight = data()
        rows = []
        outcomes = Adam(max_epochs=12).train_together(
            X, y, weight, SquaredError(), seeds(4), monitor=rows.append
        )
        assert [row.iteration for row in rows] == list(range(13))
        for outcome in outcomes:
            assert [row.iteration for row in outcome.history] == list(range(13))
            assert outcome.history[-1].loss < outcome.history[0].loss
        last = [outcome.history[-1].loss for outcome in outcomes]
        assert rows[-1].loss == pytest.approx(np.mean(last))

    @pytest.mark.parametrize(
        ("schedule", "status"), [("cosine", Status.COMPLETED), ("constant", Status.MAX_ITER)]
    )
    def test_status_after_the_last_epoch(self, schedule, status):
        X, y, weight = data()
        solver = Adam(max_epochs=3, schedule=schedule)
        outcomes = solver.train_together(X, y, weight, SquaredError(), seeds(4))
        assert {outcome.status for outcome in outcomes} == {status}

    def test_a_member_without_rows_is_refused(self):
        X, y, weight = data()
        weight[:, 2] = 0.0
        with pytest.raises(ValueError, match="column 2 of weight"):
            Adam().train_together(X, y, weight, SquaredError(), seeds(4))


class TestSettings:
    def test_clone_and_check(self):
        solver = clone(Adam(n_neurons=3, learning_rate=0.1))
        assert solver.get_params()["n_neurons"] == 3
        solver.check()

    @pytest.mark.parametrize(
        "wrong", [{"schedule": "linear"}, {"learning_rate": 0.0}, {"batch_size": 0}, {"tol": -1.0}]
    )
    def test_wrong_settings_are_named(self, wrong):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Adam(**wrong).check()
