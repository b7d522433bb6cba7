"""The sparse output layer against the optimality conditions, scikit-learn, and brute force."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import ElasticNet as SklearnElasticNet
from sklearn.linear_model import LogisticRegression
from sklearn.utils.fixes import parse_version

from lifenet.data import budgets
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.neurons.features import Activations, Columns
from lifenet.neurons.layer import Layer
from lifenet.output import sparse_path, sparse_rows
from lifenet.output.elastic_net import ElasticNetOutput
from oracles import fold_of, plain_problem

LOSSES = [SquaredError(), Logistic(), Multinomial(3)]
# From 1.8 on, scikit-learn reads the kind of penalty from l1_ratio and warns of its name.
NAMED = parse_version(sklearn.__version__) < parse_version("1.8")
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda s: type(s).__name__)


def layer_of(features, scale=None):
    return Layer.of(features, np.ones(features.n_features) if scale is None else scale)


def columns(n, scale=None):
    return layer_of(Columns(np.arange(n)), scale)


def make(loss, n=300, m=12, seed=0):
    """Correlated columns, few of which matter."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, m)) + generator.normal(size=(n, 1)) + 0.5
    signal = np.column_stack([X[:, 0] - X[:, 1], 0.8 * X[:, 2], np.zeros(n)])
    if loss.n_outputs > 1:
        return X, (signal + generator.gumbel(size=(n, 3))).argmax(axis=1).astype(float)
    if isinstance(loss, SquaredError):
        return X, signal.sum(axis=1) + generator.normal(size=n)
    return X, (signal.sum(axis=1) + generator.logistic(size=n) > 1).astype(float)


def fit(settings, problem, layer, parts=(), seed=0):
    settings.check()
    fitted = settings.fit(layer, fold_of(problem, *parts), np.random.default_rng(seed))
    assert fitted.shape == (layer.n_features + 1, problem.loss.n_outputs)
    assert np.isfinite(fitted).all()
    return fitted


def score_of(X, fitted):
    return X @ fitted[:-1] + fitted[-1]


def objective(loss, X, y, weight, scale, settings, fitted):
    b = scale[:, None] * fitted[:-1]
    price = settings.l1_ratio * np.abs(b).sum() + (1 - settings.l1_ratio) / 2 * np.sum(b**2)
    value = np.average(loss.value(y, score_of(X, fitted)), weights=weight)
    return value + settings.penalty * price


def violation(loss, X, y, weight, scale, settings, fitted):
    """Distance of zero from the subdifferential of the objective in b, and in the intercepts."""
    slopes = loss.gradient(y, score_of(X, fitted))
    slopes = slopes * (weight / weight.sum())[:, None]
    b = scale[:, None] * fitted[:-1]
    smooth = (X / scale).T @ slopes + settings.penalty * (1 - settings.l1_ratio) * b
    l1 = settings.penalty * settings.l1_ratio
    at_zero = np.maximum(np.abs(smooth) - l1, 0)
    features = np.where(b == 0, at_zero, np.abs(smooth + l1 * np.sign(b)))
    return max(features.max(), np.abs(slopes.sum(axis=0)).max()) / l1


@every_loss
@pytest.mark.parametrize("l1_ratio", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("penalty", [0.2, 0.01, 1e-4])
def test_the_optimality_conditions_hold(loss, l1_ratio, penalty):
    X, y = make(loss)
    generator = np.random.default_rng(1)
    weight, scale = generator.uniform(0.3, 3, len(y)), generator.uniform(0.5, 2, X.shape[1])
    settings = ElasticNetOutput(l1_ratio=l1_ratio, penalty=penalty)
    fitted = fit(settings, plain_problem(X, y, weight, loss), columns(12, scale))
    assert violation(loss, X, y, weight, scale, settings, fitted) < 1e-5


@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
def test_classes_that_step_apart_reach_the_same_optimum(l1_ratio, monkeypatch):
    """As they do where their joint curvature would be too large."""
    X, y = make(Multinomial(3))
    problem, settings = plain_problem(X, y, None, Multinomial(3)), ElasticNetOutput(l1_ratio, 0.03)
    together = fit(settings, problem, columns(12))
    monkeypatch.setattr(sparse_rows, "_MOST_TOGETHER", 0)
    np.testing.assert_allclose(fit(settings, problem, columns(12)), together, atol=1e-5)


@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
def test_squared_error_agrees_with_scikit_learn(l1_ratio):
    X, y = make(SquaredError())
    weight = np.random.default_rng(2).uniform(0.5, 2, len(y))
    fitted = fit(ElasticNetOutput(l1_ratio, 0.05), plain_problem(X, y, weight), columns(12))
    peer = SklearnElasticNet(alpha=0.05, l1_ratio=l1_ratio, tol=1e-12, max_iter=100_000)
    peer.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(fitted[:-1, 0], peer.coef_, atol=1e-6)
    np.testing.assert_allclose(fitted[-1, 0], peer.intercept_, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES[1:], ids=lambda s: type(s).__name__)
def test_classes_agree_with_scikit_learn(loss):
    X, y = make(loss, n=150, m=6)
    settings = ElasticNetOutput(0.4, 0.02)
    fitted = fit(settings, plain_problem(X, y, None, loss), columns(6))
    name = {"penalty": "elasticnet"} if NAMED else {}
    peer = LogisticRegression(
        C=1 / (0.02 * len(y)), l1_ratio=0.4, solver="saga", tol=1e-9, max_iter=20_000, **name
    ).fit(X, y)
    theirs = np.vstack([peer.coef_.T, peer.intercept_])
    np.testing.assert_allclose(fitted[:-1], theirs[:-1], atol=1e-4)
    extra = (X, y, np.ones(len(y)), np.ones(6), settings)
    assert objective(loss, *extra, fitted) <= objective(loss, *extra, theirs) + 1e-9


@every_loss
def test_a_planted_sparse_solution_is_recovered(loss):
    X, y = make(loss, n=1000, m=20)
    for penalty in ("folds", "bic"):
        settings = ElasticNetOutput(1.0, penalty, n_folds=3, n_penalties=12)
        fitted = fit(settings, plain_problem(X, y, None, loss), columns(20))
        chosen = np.flatnonzero(fitted[:-1].any(axis=1))
        assert {0, 1, 2} <= set(chosen)
        assert len(chosen) < 15


def test_hinges_are_recovered_among_many():
    """The features of a hidden layer, three of which made the target."""
    generator = np.random.default_rng(0)
    X, theta = generator.normal(size=(1500, 3)), generator.normal(size=(40, 4))
    hidden = np.maximum(X @ theta[:, :-1].T + theta[:, -1], 0)
    y = hidden[:, 4] - 2 * hidden[:, 9] + hidden[:, 22] + 0.01 * generator.normal(size=1500)
    fitted = fit(
        ElasticNetOutput(1.0, 1e-4),
        plain_problem(X, y),
        layer_of(Activations(theta[:, :-1], theta[:, -1])),
    )
    assert set(np.argsort(-np.abs(fitted[:-1, 0]))[:3]) == {4, 9, 22}
    np.testing.assert_allclose(fitted[[4, 9, 22], 0], [1, -2, 1], atol=0.05)


@every_loss
def test_one_standard_error_is_sparser_than_the_best(loss):
    X, y = make(loss, m=20)
    best, sparse = (
        fit(
            ElasticNetOutput(1.0, rule=rule, n_folds=3, n_penalties=20),
            plain_problem(X, y, None, loss),
            columns(20),
        )
        for rule in ("best", "one-se")
    )
    assert 0 < np.count_nonzero(sparse[:-1]) < np.count_nonzero(best[:-1])


@every_loss
@pytest.mark.parametrize("penalty", [0.03, "bic", "aic"])
def test_integer_weights_are_repetitions(loss, penalty):
    X, y = make(loss, n=80, m=6)
    weight = np.random.default_rng(3).integers(1, 4, len(y))
    twice = np.repeat(np.arange(len(y)), weight)
    settings = ElasticNetOutput(0.7, penalty, n_penalties=12)
    weighted = fit(settings, plain_problem(X, y, weight.astype(float), loss), columns(6))
    repeated = fit(settings, plain_problem(X[twice], y[twice], None, loss), columns(6))
    np.testing.assert_allclose(weighted, repeated, atol=1e-5)


def grid_of(problem, X, y, l1_ratio, n_penalties, least):
    null = problem.loss.null_score(y, np.ones(len(y)))
    score = np.broadcast_to(null, (len(y), len(null)))
    largest = np.abs(X.T @ problem.loss.gradient(y, score)).max() / len(y) / l1_ratio
    return np.geomspace(largest, largest * least, n_penalties)


@every_loss
@pytest.mark.parametrize("rule", ["best", "one-se"])
def test_choice_on_validation_rows_is_that_of_brute_force(loss, rule):
    """Fitted to the training rows, measured on the validation rows, and then fitted to all."""
    X, y = make(loss, n=260, m=8)
    train, held = slice(0, 160), slice(160, None)
    weight = np.ones(260)
    weight[held] = np.random.default_rng(5).integers(1, 3, 100)
    problem = plain_problem(X, y, weight, loss)
    trained = plain_problem(X[train], y[train], None, loss)
    parts = (trained, plain_problem(X[held], y[held], weight[held], loss))
    chosen = fit(ElasticNetOutput(0.6, rule=rule, n_penalties=6), problem, columns(8), parts)
    grid = grid_of(trained, X[train], y[train], 0.6, 6, 1e-4)
    losses = []
    for penalty in grid:
        fitted = fit(ElasticNetOutput(0.6, float(penalty)), trained, columns(8))
        values = loss.value(y[held], score_of(X[held], fitted))
        losses.append(np.repeat(values, weight[held].astype(int)))
    means = np.array([row.mean() for row in losses])
    best = index = means.argmin()
    if rule == "one-se":
        error = losses[best].std() / np.sqrt(len(losses[best]))
        index = np.flatnonzero(means <= means[best] + error)[0]
    expected = fit(ElasticNetOutput(0.6, float(grid[index])), problem, columns(8))
    np.testing.assert_allclose(chosen, expected, atol=1e-4)


@every_loss
def test_fold_choice_is_that_of_brute_force(loss):
    X, y = make(loss, n=150, m=6)
    problem = plain_problem(X, y, None, loss)
    settings = ElasticNetOutput(1.0, rule="best", n_folds=2, n_penalties=5)
    chosen = fit(settings, problem, columns(6), seed=11)
    fold = np.random.default_rng(11).permutation(150) % 2
    grid = grid_of(problem, X, y, 1.0, 5, 1e-4)
    means = []
    for penalty in grid:
        one = ElasticNetOutput(1.0, float(penalty))
        total = 0.0
        for k in range(2):
            train, left = fold != k, fold == k
            fitted = fit(one, plain_problem(X[train], y[train], None, loss), columns(6))
            total += loss.value(y[left], score_of(X[left], fitted)).sum()
        means.append(total)
    expected = fit(ElasticNetOutput(1.0, float(grid[np.argmin(means)])), problem, columns(6))
    np.testing.assert_allclose(chosen, expected, atol=1e-4)


@every_loss
@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_information_criteria_are_those_of_brute_force(loss, criterion):
    X, y = make(loss, n=200, m=8)
    problem = plain_problem(X, y, None, loss)
    chosen = fit(ElasticNetOutput(1.0, criterion, n_penalties=5), problem, columns(8))
    figures, fits = [], []
    for penalty in grid_of(problem, X, y, 1.0, 5, 1e-4):
        fits.append(fit(ElasticNetOutput(1.0, float(penalty)), problem, columns(8)))
        mean = loss.value(y, score_of(X, fits[-1])).mean()
        deviance = 200 * np.log(2 * mean) if isinstance(loss, SquaredError) else 400 * mean
        price = 2 if criterion == "aic" else np.log(200)
        figures.append(deviance + price * np.count_nonzero(fits[-1][:-1]))
    np.testing.assert_allclose(chosen, fits[np.argmin(figures)], atol=1e-4)


@every_loss
@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
@pytest.mark.parametrize("penalty", [1e-3, "folds", "bic"])
def test_constant_zero_and_repeated_columns_do_no_harm(loss, l1_ratio, penalty):
    X, y = make(loss, n=120, m=5)
    wide = np.column_stack([X, X, -2 * X[:, :2], np.zeros(120), np.full(120, 0.1)])
    settings = ElasticNetOutput(l1_ratio, penalty, n_folds=3, n_penalties=6)
    fitted = fit(settings, plain_problem(wide, y, None, loss), columns(14))
    assert np.all(fitted[12:14] == 0)
    if not isinstance(penalty, str):
        rest = (wide, y, np.ones(120), np.ones(14), settings, fitted)
        assert violation(loss, *rest) < 1e-5


@every_loss
@pytest.mark.parametrize("penalty", [1e-3, "folds", "aic"])
def test_more_features_than_rows(loss, penalty):
    X, y = make(loss, n=25, m=60)
    settings = ElasticNetOutput(1.0, penalty, n_folds=3, n_penalties=8)
    fitted = fit(settings, plain_problem(X, y, None, loss), columns(60))
    if not isinstance(penalty, str):
        assert violation(loss, X, y, np.ones(25), np.ones(60), settings, fitted) < 1e-5


@every_loss
@pytest.mark.parametrize("penalty", [0.01, "folds", "bic"])
def test_a_target_that_never_changes_leaves_no_feature_in(loss, penalty):
    X, _ = make(loss, n=50)
    y = np.ones(50) if loss.n_outputs > 1 else np.ones(50) * (0.7 if loss == LOSSES[0] else 1)
    fitted = fit(ElasticNetOutput(0.5, penalty), plain_problem(X, y, None, loss), columns(12))
    assert np.all(fitted[:-1] == 0)


@every_loss
def test_a_single_row_and_constant_columns_alone(loss):
    one = plain_problem(np.ones((1, 2)), [1.0], None, loss)
    assert np.all(fit(ElasticNetOutput(), one, columns(2))[:-1] == 0)
    _, y = make(loss, n=40)
    flat = plain_problem(np.ones((40, 2)), y, None, loss)
    assert np.all(fit(ElasticNetOutput(), flat, columns(2))[:-1] == 0)
    assert np.all(fit(ElasticNetOutput(), flat, columns(2), (flat, flat))[:-1] == 0)


def test_separable_classes_stay_finite():
    X = np.linspace(-1, 1, 60)[:, None] * [1.0, 3.0]
    y = (X[:, 0] > 0).astype(float)
    settings = ElasticNetOutput(0.5, 1e-6)
    fitted = fit(settings, plain_problem(X, y, None, Logistic()), columns(2))
    assert violation(Logistic(), X, y, np.ones(60), np.ones(2), settings, fitted) < 1e-4


def test_a_large_offset_does_not_blur_the_fit():
    X, y = make(SquaredError())
    plain = fit(ElasticNetOutput(0.5, 0.02), plain_problem(X, y), columns(12))
    moved = fit(ElasticNetOutput(0.5, 0.02), plain_problem(X + 1e5, y - 1e6), columns(12))
    np.testing.assert_allclose(moved[:-1], plain[:-1], atol=1e-6)


def test_the_order_of_rows_in_blocks_does_not_matter(monkeypatch):
    """Folds are told apart by row numbers, which must survive the cutting into blocks."""
    results = []
    for rows in (13, 4096):
        monkeypatch.setattr(sparse_rows, "_GRAM_ROWS", rows)
        monkeypatch.setattr(sparse_rows, "PASS_ROWS", rows)
        monkeypatch.setattr(sparse_path, "PASS_ROWS", rows)
        monkeypatch.setattr(budgets, "GRAM_BLOCK", 8 * rows)
        for loss in LOSSES:
            # Moments are never gathered in blocks of fewer than 256 rows.
            X, y = make(loss, n=900 if isinstance(loss, SquaredError) else 100, m=6)
            settings = ElasticNetOutput(0.5, n_folds=3, n_penalties=6)
            results.append(fit(settings, plain_problem(X, y, None, loss), columns(6)))
    for short, long in zip(results[:3], results[3:], strict=True):
        np.testing.assert_allclose(short, long, atol=1e-5)


@pytest.mark.parametrize(
    "wrong", [{"l1_ratio": 0.0}, {"penalty": 0.0}, {"penalty": "cv"}, {"rule": "1se"}]
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ElasticNetOutput(**wrong).check()
