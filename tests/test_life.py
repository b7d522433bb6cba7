"""LIFE's estimators as a user meets them."""

import os
import pickle
import subprocess
import sys
import textwrap
import time
from typing import ClassVar

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupShuffleSplit,
    PredefinedSplit,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from lifenet import (
    LLA,
    Adam,
    AdamClassifier,
    AdamRegressor,
    Averaging,
    BaseLearnerSelection,
    Bootstrap,
    ElasticNetOutput,
    LIFEClassifier,
    LIFERegressor,
    LLAClassifier,
    LLARegressor,
    Mixing,
    NeuronProjection,
    RandomProjection,
    RidgeOutput,
    SubsetStackingClassifier,
    SubsetStackingRegressor,
)
from lifenet.datasets import simulate
from lifenet.neurons.subset import Fate
from oracles import old_openblas

SMALL = NeuronProjection(levels=(4, 4))
FAST = LLA(4, max_iter=10, tol=1e-2)


def small(**settings):
    return LIFERegressor(**{"sampler": SMALL, "solver": FAST, "random_state": 0, **settings})


def small_classifier(**settings):
    return LIFEClassifier(**{"sampler": SMALL, "solver": FAST, "random_state": 0, **settings})


class Watched(LLA):
    """Notes all rows' targets, which rows each network is trained on, and how often each."""

    seen: ClassVar[list[tuple[np.ndarray, np.ndarray, np.ndarray | None]]] = []

    def train(self, problem, tasks, deadline=None, monitor=None):
        self.seen.extend((problem.rows.target, one.index, one.counts) for one in tasks)
        return super().train(problem, tasks, deadline, monitor)


@pytest.fixture
def watched():
    Watched.seen.clear()
    return Watched(4, max_iter=10, tol=1e-2)


@pytest.fixture(scope="module")
def regression():
    data = simulate.aim(800, random_state=0)
    return data.X, data.y


@pytest.fixture(scope="module")
def classes():
    data = simulate.ringnorm(600, random_state=0)
    return data.X[:, :6], data.y


@pytest.fixture(scope="module")
def three_classes():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(500, 3))
    y = np.array(["low", "mid", "top"])[np.digitize(np.abs(X[:, 0]) + X[:, 1], [0.3, 1.2])]
    return X, y


@pytest.fixture(scope="module")
def fitted(regression):
    return small().fit(*regression)


class TestTheAlgorithm:
    def test_it_beats_one_of_its_members_width(self, regression):
        X, y = regression
        one = LLARegressor(4, random_state=0).fit(X[:600], y[:600])
        life = small().fit(X[:600], y[:600])
        assert life.score(X[600:], y[600:]) > one.score(X[600:], y[600:])

    def test_the_layer_is_the_members_neurons(self, fitted):
        layer = np.vstack([member.network.weights for member in fitted.members_])
        for weights in fitted.network_.weights:
            assert np.abs(layer - weights).max(axis=1).min() < 1e-12
        assert fitted.network_.n_neurons <= len(fitted.members_) * 4

    def test_the_score_is_the_sum_of_its_parts(self, fitted, regression):
        X, _ = regression
        network = fitted.network_
        expected = fitted.transform(X) @ network.beta[:, 0] + network.intercept[0]
        np.testing.assert_allclose(fitted.predict(X), expected, rtol=1e-12)

    def test_subsets_in_the_users_units_hold_the_rows_that_were_counted(self, regression):
        X, y = regression
        model = small(validation=None).fit(X, y)
        for member in model.members_:
            subset = member.subset
            inside = (X @ subset.weights.T + subset.bias > subset.cutoff).all(axis=1)
            assert inside.sum() == subset.n_rows
            assert inside.mean() == pytest.approx(subset.share)
            assert 0.1 < subset.share < 0.9

    def test_hierarchy_and_record_tell_the_same_story(self, fitted):
        record, hierarchy = fitted.record_, fitted.hierarchy_
        assert sorted(set(record["level"])) == [1, 2, 3]
        for number, level in enumerate(hierarchy.levels, 1):
            trained = (record["level"] == number) & (record["neurons"] > 0)
            assert trained.sum() == len(level.networks)
        above = hierarchy.levels[1]
        kept = {(s.network, s.neuron) for s in above.splits if s.fate is Fate.KEPT}
        assert {member.subset.parent for member in fitted.members_} == kept
        frame = record.to_frame()
        wanted = {"level", "member", "parent", "share", "rows", "loss", "iterations", "status"}
        assert wanted | {"seconds", "neuron"} <= set(frame.columns)
        assert len(frame) == len(record)

    def test_held_out_rows_are_seen_by_no_member(self, regression, watched):
        X, y = regression
        model = small(validation=0.25, solver=watched).fit(X, y)
        rows = [set(targets[index]) for targets, index, _ in watched.seen]
        assert len(rows) == len(model.record_["rows"]) > len(model.members_)
        assert 0.65 * len(X) < len(rows[0]) == model.record_["rows"][0] < 0.85 * len(X)
        assert all(others <= rows[0] for others in rows)
        assert [len(one) for one in rows] == list(model.record_["rows"])
        everything = small(validation=None).fit(X, y)
        assert everything.record_["rows"][0] == len(X)

    def test_held_out_targets_change_the_readout_only(self, regression):
        """In another order among themselves, so that their mean and spread stay."""
        X, y = regression
        apart = np.arange(len(X)) % 4 == 0
        moved = y.copy()
        moved[apart] = y[apart][::-1]
        split = PredefinedSplit(np.where(apart, 0, -1))
        one, other = (small(validation=split).fit(X, target) for target in (y, moved))
        assert len(one.members_) == len(other.members_) > 1
        for mine, theirs in zip(one.members_, other.members_, strict=True):
            for part in ("weights", "bias", "beta"):
                values = getattr(mine.network, part), getattr(theirs.network, part)
                np.testing.assert_allclose(*values, rtol=1e-6, atol=1e-9)
        assert np.abs(one.predict(X) - other.predict(X)).max() > 0.01 * y.std()

    def test_a_constant_target_is_predicted(self):
        X = np.random.default_rng(0).normal(size=(60, 2))
        model = small().fit(X, np.full(60, 3.5))
        np.testing.assert_array_equal(model.predict(X), 3.5)
        assert model.network_.n_neurons == 0

    def test_a_linear_target_is_found(self):
        X = np.random.default_rng(0).normal(size=(400, 3))
        y = X @ [1.0, -2.0, 0.5] + 4.0
        model = small().fit(X, y)
        line = LinearRegression().fit(X, y)
        np.testing.assert_allclose(model.predict(X), line.predict(X), atol=0.05)


def inside(member, model, X):
    """Rows of a member by the paper's inequality, from the neuron of the level above if any."""
    sampler, subset = model.sampler, member.subset
    if isinstance(sampler, RandomProjection):
        return X @ subset.weights[0] + subset.bias[0] > sampler.cutoff
    if subset.parent is None:
        return np.ones(len(X), dtype=bool)
    cutoff = -0.3 if isinstance(sampler, str) else sampler.cutoff
    number, neuron = subset.parent
    network = model.hierarchy_.levels[-2].networks[number]
    weights = network.weights[neuron]
    length = np.linalg.norm(weights * X.std(axis=0))  # a unit one on standardised columns
    return (X @ weights + network.bias[neuron]) / length > cutoff


class TestOptions:
    @pytest.mark.parametrize(
        "sampler",
        [
            "neurons",
            NeuronProjection(levels=()),
            NeuronProjection(levels=[3], nested=True, cutoff=0.2),
            NeuronProjection(levels=(3, 3), max_networks=2),
            RandomProjection(6),
            Bootstrap(4),
        ],
        ids=str,
    )
    def test_samplers(self, regression, sampler, watched):
        X, y = regression[0][:300], regression[1][:300]
        model = small(sampler=sampler, solver=watched, validation=None).fit(X, y)
        assert model.score(X, y) > 0.3
        assert len(watched.seen) == len(model.record_["rows"])
        members = model.members_
        for member, seen in zip(members, watched.seen[-len(members) :], strict=True):
            targets, index, counts = seen
            assert np.corrcoef(targets, y)[0, 1] == pytest.approx(1.0)  # rows in their order
            if isinstance(sampler, Bootstrap):
                assert counts.sum() == 300 > len(index) > 150
            else:
                assert counts is None
                np.testing.assert_array_equal(index, np.flatnonzero(inside(member, model, X)))
        n_members = {Bootstrap: 4, RandomProjection: 6}.get(type(sampler))
        if getattr(sampler, "levels", None) == ():
            n_members = 1
        if getattr(sampler, "max_networks", None) == 2:
            n_members = 2
        assert len(members) == (n_members or len(model.hierarchy_.levels[-1].networks))
        distinct = {tuple(index) for _, index, _ in watched.seen[-len(members) :]}
        assert len(distinct) > 0.5 * len(members)

    @pytest.mark.parametrize(
        "readout",
        [
            "ridge",
            "linear",
            "elastic-net",
            "lasso",
            "selection",
            "mixing",
            "average",
            RidgeOutput(1e-3),
            ElasticNetOutput(penalty="bic"),
            BaseLearnerSelection(0.3, ElasticNetOutput(penalty="aic")),
            Mixing(n_splits=2),
            Averaging(),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("task", ["regression", "classes", "three_classes"])
    def test_readouts(self, request, task, readout):
        """All neurons are members'; a free intercept makes predictions right on average.

        That of averaging is not free: its score is the mean of its members'.
        """
        X, y = (part[:300] for part in request.getfixturevalue(task))
        estimator = small if task == "regression" else small_classifier
        model = estimator(sampler=NeuronProjection(levels=(3,)), readout=readout).fit(X, y)
        least = 0.2 if task == "regression" else 0.45
        assert model.score(X, y) > least
        layer = np.vstack([np.c_[one.network.weights, one.network.bias] for one in model.members_])
        layer /= np.linalg.norm(layer, axis=1, keepdims=True)
        used = np.c_[model.network_.weights, model.network_.bias]
        used /= np.linalg.norm(used, axis=1, keepdims=True)
        assert (used @ layer.T).max(axis=1) == pytest.approx(1.0)
        if task == "regression":
            prediction, target = model.predict(X), y
        else:
            prediction, target = model.predict_proba(X), y[:, None] == model.classes_
        off = np.abs(prediction.mean(axis=0) - target.mean(axis=0)).max() / target.std()
        if isinstance(readout, Averaging) or readout == "average":
            scores = model.network_.score(X)
            means = [
                np.mean([one.network.score(X)[:, 0] for one in group], axis=0)
                for code in range(scores.shape[1])
                if (group := [one for one in model.members_ if one.output == code])
            ]
            shift = scores - np.column_stack(means)
            if scores.shape[1] > 1:  # known up to a constant a row
                shift -= shift[:, :1]
            np.testing.assert_allclose(shift, 0.0, atol=1e-8)
        elif task != "regression" and (isinstance(readout, Mixing) or readout == "mixing"):
            assert off < 0.05
        else:
            assert off < 1e-7

    def test_no_readout_has_less_squared_error_than_least_squares(self, regression):
        """And the one without a penalty has just that."""
        X, y = (part[:300] for part in regression)
        errors = {}
        for readout in (
            "linear",
            RidgeOutput(1e-3),
            "ridge",
            "lasso",
            "selection",
            "mixing",
            "average",
        ):
            model = small(sampler=NeuronProjection(levels=(3,)), readout=readout).fit(X, y)
            errors[str(readout)] = np.mean((y - model.predict(X)) ** 2)
        networks = [one.network for one in model.members_]
        design = np.hstack([np.maximum(X @ one.weights.T + one.bias, 0) for one in networks])
        design = np.c_[design, np.ones(len(X))]
        residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        assert errors.pop("linear") == pytest.approx(np.mean(residual**2), rel=1e-6)
        assert min(errors.values()) > (1 - 1e-9) * np.mean(residual**2)

    @pytest.mark.parametrize(
        ("name", "readout"),
        [
            ("ridge", RidgeOutput()),
            ("linear", RidgeOutput(0.0)),
            ("elastic-net", ElasticNetOutput()),
            ("lasso", ElasticNetOutput(l1_ratio=1.0)),
            ("selection", BaseLearnerSelection()),
            ("mixing", Mixing()),
            ("average", Averaging()),
        ],
    )
    def test_names_of_readouts(self, regression, name, readout):
        X, y = (part[:300] for part in regression)
        one, other = (
            small(sampler=NeuronProjection(levels=(3,)), readout=given).fit(X, y).network_
            for given in (name, readout)
        )
        assert one == other

    def test_an_elastic_net_uses_fewer_neurons(self, regression):
        X, y = regression
        sparse = small(readout=ElasticNetOutput(l1_ratio=1.0)).fit(X, y)
        assert 0 < sparse.network_.n_neurons < small().fit(X, y).network_.n_neurons

    def test_selection_uses_fewer_members(self, regression):
        X, y = regression
        model = small(readout=BaseLearnerSelection(keep=0.25)).fit(X, y)
        assert model.network_.n_neurons <= 4 * max(1, round(0.25 * len(model.members_)))

    def test_averaging_is_the_mean_of_the_members(self, regression):
        X, y = regression
        model = small(readout="average").fit(X, y)
        mean = np.mean([member.network.score(X)[:, 0] for member in model.members_], axis=0)
        np.testing.assert_allclose(model.predict(X), mean, rtol=1e-10)

    @pytest.mark.parametrize("solver", ["lla", "adam", Adam(4), LLA(3, init="least-squares")])
    def test_solvers(self, classes, solver):
        X, y = classes
        model = small_classifier(sampler=NeuronProjection(levels=(3,)), solver=solver).fit(X, y)
        assert model.score(X, y) > 0.7

    def test_members_of_three_classes_tell_one_from_the_rest(self, three_classes):
        X, y = three_classes
        model = small_classifier(sampler=NeuronProjection(levels=(4,))).fit(X, y)
        assert {member.output for member in model.members_} == {0, 1, 2}
        assert model.predict_proba(X).shape == (500, 3)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
        assert model.score(X, y) > 0.85
        for code, label in enumerate(model.classes_):
            inside = next(member for member in model.members_ if member.output == code)
            shown = (X @ inside.subset.weights.T + inside.subset.bias > -0.3).all(axis=1)
            score = inside.network.score(X[shown])[:, 0]
            assert score[y[shown] == label].mean() > score[y[shown] != label].mean()

    def test_class_weight_moves_the_probabilities(self, classes):
        X, y = classes
        plain = small_classifier().fit(X, y).predict_proba(X)[:, 1].mean()
        heavy = small_classifier(class_weight={0: 1, 1: 5}).fit(X, y).predict_proba(X)[:, 1].mean()
        assert heavy > plain + 0.05

    def test_warm_start_adds_members(self, regression):
        X, y = regression
        model = small(warm_start=True).fit(X, y)
        first = [member.network for member in model.members_]
        error = np.mean(np.square(model.predict(X) - y))
        model.fit(X, y)
        assert len(model.members_) > len(first)
        assert [member.network for member in model.members_[: len(first)]] == first
        assert np.mean(np.square(model.predict(X) - y)) < error
        assert len(model.record_) > len(first)

    def test_refit_readout_changes_only_step_three(self, regression):
        X, y = regression
        model = small().fit(X[:400], y[:400])
        members = model.members_
        model.refit_readout(X[400:], 2 * y[400:] + 1)
        assert model.members_ is members
        residual = model.predict(X[400:]) - (2 * y[400:] + 1)
        assert np.mean(np.square(residual)) < 0.5 * np.var(2 * y[400:] + 1)

    def test_refit_readout_refuses_unknown_classes(self, classes):
        X, y = classes
        model = small_classifier().fit(X, y)
        with pytest.raises(ValueError, match=r"classes \[7\], which the model does not know"):
            model.refit_readout(X, np.where(y == 0, 0, 7))
        np.testing.assert_array_equal(model.classes_, [0, 1])

    def test_a_time_limit_ends_with_what_there_is(self):
        data = simulate.aim(4000, random_state=0)
        begun = time.monotonic()
        model = LIFERegressor(preset="paper", time_limit=0.5, random_state=0)
        with pytest.warns(UserWarning, match=r"time_limit=0.5 seconds: \d+ of \d+ base learners"):
            model.fit(data.X, data.y)
        assert time.monotonic() - begun < 15
        full = 1 + 20 + 150
        assert len(model.members_) < full
        assert model.score(data.X, data.y) > 0.3
        assert {"not_started", "time_limit"} & set(model.record_["status"])

    def test_groups_are_held_out_whole(self, regression):
        X, y = regression
        groups = np.arange(len(X)) // 40
        splitter = GroupShuffleSplit(1, test_size=0.3, random_state=0)
        model = small(validation=splitter).fit(X, y, groups=groups)
        train, _ = next(splitter.split(X, y, groups))  # it has only one split
        assert model.record_["rows"][0] == len(train)

    def test_members_see_only_the_past_of_the_last_split_of_time(self, regression):
        X, y = regression
        splitter = TimeSeriesSplit(3, gap=20)
        model = small(validation=splitter).fit(X, y)
        *_, (past, _) = splitter.split(X)
        assert model.record_["rows"][0] == len(past)

    def test_a_class_wholly_held_out_is_refused(self, three_classes):
        X, y = three_classes
        splitter = PredefinedSplit(np.where(y == "top", 0, -1))
        with pytest.raises(ValueError, match=r"holds out all rows of the classes \['top'\]"):
            small_classifier(validation=splitter).fit(X, y)

    def test_few_distinct_rows_are_not_held_out_level_by_level(self):
        """A hash sends equal rows to one side: members would never see some levels."""
        generator = np.random.default_rng(0)
        X = generator.integers(0, 6, size=(1000, 1)).astype(float)
        means = np.array([0.0, 3.0, 1.0, 5.0, 2.0, 4.0])
        y = means[X[:, 0].astype(int)] + 0.1 * generator.normal(size=1000)
        for seed in range(4):
            assert small(random_state=seed).fit(X, y).score(X, y) > 0.98

    def test_weights_that_are_shares_do_not_flatten_the_model(self, regression, classes):
        X, y = regression
        shares = np.full(len(X), 1 / len(X))
        for validation in ("auto", None):
            plain = small(validation=validation).fit(X, y).predict(X)
            shared = small(validation=validation).fit(X, y, shares).predict(X)
            np.testing.assert_allclose(shared, plain, rtol=1e-6, atol=1e-6)
        X, y = classes
        shares = np.full(len(X), 1 / len(X))
        plain = small_classifier().fit(X, y).decision_function(X)
        np.testing.assert_allclose(
            small_classifier().fit(X, y, shares).decision_function(X), plain, rtol=1e-5, atol=1e-5
        )

    def test_a_refit_on_rows_where_a_column_is_constant_keeps_its_weights(self, regression):
        X, y = regression
        model = small().fit(X, y)
        segment = X.copy()
        segment[:, 2] = 0.5
        model.refit_readout(segment, y)
        assert np.abs(model.network_.weights[:, 2]).max() > 0.01

    def test_a_refit_needs_two_classes(self, classes):
        X, y = classes
        model = small_classifier().fit(X, y)
        with pytest.raises(ValueError, match="at least two classes"):
            model.refit_readout(X[y == 1], y[y == 1])

    def test_zero_weights_do_not_shift_a_splitters_rows(self, regression):
        X, y = regression
        weight = np.ones(len(X))
        weight[:100] = 0
        splitter = GroupShuffleSplit(1, test_size=0.3, random_state=0)
        groups = np.arange(len(X)) // 40
        model = small(validation=splitter).fit(X, y, weight, groups=groups)
        train, _ = next(splitter.split(X, y, groups))
        assert model.record_["rows"][0] == np.sum(train >= 100)

    def test_verbose_prints_a_line_a_level(self, regression, capsys):
        X, y = regression
        small(verbose=1).fit(X[:200], y[:200])
        lines = capsys.readouterr().out.splitlines()
        assert [line.split(":")[0] for line in lines[:3]] == ["level 1", "level 2", "level 3"]
        assert lines[3].startswith("output layer: done")


class TestPromises:
    @pytest.mark.parametrize("solver", [FAST, Adam(4)], ids=["lla", "adam"])
    def test_the_same_seed_gives_the_same_model_anywhere(self, regression, solver):
        X, y = regression
        models = []
        for backend, n_jobs in (("sequential", 1), ("threading", 2), ("loky", 2)):
            with joblib.parallel_config(backend=backend):
                models.append(small(solver=solver, n_jobs=n_jobs).fit(X, y).network_)
        for other in models[1:]:
            if old_openblas():
                np.testing.assert_allclose(other.score(X), models[0].score(X), rtol=1e-8)
            else:
                assert other == models[0]

    @pytest.mark.parametrize("task", ["regression", "classes", "three_classes"])
    def test_weights_equal_repeated_rows(self, request, task):
        X, y = request.getfixturevalue(task)
        estimator = small if task == "regression" else small_classifier
        # Few rows and heavy, where thresholds on rows and on weight would part ways.
        X, y = X[:220], y[:220]
        weight = np.random.default_rng(1).integers(0, 6, len(X))
        repeated = np.repeat(np.arange(len(X)), weight)
        repeated = np.random.default_rng(2).permutation(repeated)
        sampler = "neurons" if task == "regression" else NeuronProjection(levels=(3,))
        one = estimator(sampler=sampler).fit(X, y, sample_weight=weight).network_.score(X)
        other = estimator(sampler=sampler).fit(X[repeated], y[repeated]).network_.score(X)
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6 * np.abs(one).max())

    def test_pickle_and_clone(self, fitted, regression):
        X, y = regression
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        np.testing.assert_array_equal(clone(fitted).fit(X, y).predict(X), fitted.predict(X))
        assert clone(fitted).get_params()["solver__n_neurons"] == 4

    def test_columns_units_do_not_matter(self, regression):
        X, y = regression
        factors = 10.0 ** np.arange(-3, 7)[: X.shape[1]]
        plain = small(validation=None).fit(X, y)
        scaled = small(validation=None).fit(X * factors + 5, 1e3 * y)
        np.testing.assert_allclose(
            scaled.predict(X * factors + 5), 1e3 * plain.predict(X), rtol=1e-4
        )

    def test_no_prediction_explodes_with_more_neurons_than_rows(self):
        generator = np.random.default_rng(0)
        worst = []
        for seed in range(5):
            X = generator.standard_t(2, size=(150, 6))
            y = X[:, 0] + generator.normal(size=150)
            model = LIFERegressor(
                NeuronProjection(levels=(8, 8)),
                LLA(10, max_iter=20),
                RidgeOutput(shares=(1.0,)),
                random_state=seed,
            )
            model.fit(X[:100], y[:100])
            assert model.network_.n_neurons >= 100
            inside = ~model.schema_.outside(X[100:]).any(axis=1)
            residual = model.predict(X[100:][inside]) - y[100:][inside]
            worst.append(np.sqrt(np.mean(np.square(residual))) / y.std())
        assert max(worst) < 2


class TestScikitLearn:
    def test_grid_search_over_the_parts(self, regression):
        X, y = regression
        search = GridSearchCV(
            small(),
            {"sampler__levels": [(2,), (4, 4)], "solver__ridge": [1e-4, 10.0]},
            cv=2,
        ).fit(X[:400], y[:400])
        assert search.best_params_["solver__ridge"] == 1e-4
        assert "readout__penalty" in small(readout=RidgeOutput()).get_params()

    def test_pipeline_and_set_output(self, regression):
        pandas = pytest.importorskip("pandas")
        X, y = regression
        frame = pandas.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
        pipeline = make_pipeline(StandardScaler(), small()).set_output(transform="pandas")
        activations = pipeline.fit(frame, y).transform(frame)
        assert list(activations.columns[:2]) == ["neuron0", "neuron1"]
        assert activations.shape == (len(X), pipeline[-1].network_.n_neurons)
        readout = LinearRegression().fit(activations, y)
        assert readout.score(activations, y) >= pipeline.score(frame, y) - 1e-9

    def test_metadata_routing(self, regression):
        X, y = regression
        weight, groups = np.ones(len(X)), np.arange(len(X)) // 20
        splitter = GroupShuffleSplit(1, test_size=0.3, random_state=0)
        with sklearn.config_context(enable_metadata_routing=True):
            model = small(validation=splitter).set_fit_request(sample_weight=True, groups=True)
            model.set_score_request(sample_weight=True)
            result = cross_validate(
                model, X, y, cv=2, params={"sample_weight": weight, "groups": groups}
            )
        assert result["test_score"].mean() > 0.3

    @pytest.mark.skipif(
        not hasattr(LIFERegressor(), "set_callbacks"), reason="scikit-learn has no callbacks yet"
    )
    def test_callbacks_see_every_network(self, regression):
        X, y = regression

        class Counter:
            def __init__(self):
                self.begun, self.ended, self.torn = [], [], 0

            def setup(self, estimator, context):
                pass

            def teardown(self, estimator, context):
                self.torn += 1

            def on_fit_task_begin(self, estimator, context):
                self.begun.append(context.task_name)

            def on_fit_task_end(self, estimator, context):
                self.ended.append(context.task_name)

        counter = Counter()
        model = small().set_callbacks(counter).fit(X, y)
        assert sorted(counter.begun) == sorted(counter.ended)
        assert counter.ended.count("network") == len(model.record_) + 1  # and the output layer
        assert counter.torn == 1
        assert not hasattr(model, "_callback_fit_ctx")

    @pytest.mark.skipif(
        not hasattr(LIFERegressor(), "set_callbacks"), reason="scikit-learn has no callbacks yet"
    )
    def test_the_progress_bar_works(self, regression, capsys):
        pytest.importorskip("rich")
        from sklearn.callback import ProgressBar

        X, y = regression
        small().set_callbacks(ProgressBar()).fit(X[:200], y[:200])
        assert "LIFERegressor" in capsys.readouterr().out


class TestBadInput:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"sampler": "trees"}, "'sampler' parameter of LIFERegressor"),
            ({"solver": LLA(0)}, "'n_neurons' parameter of LLA"),
            ({"solver": LLA(ridge=-1.0)}, "'ridge' parameter of LLA"),
            ({"solver": Adam(schedule="warm")}, "'schedule' parameter of Adam"),
            ({"sampler": NeuronProjection(lower=0.9, upper=0.1)}, "'lower' must be below 'upper'"),
            ({"sampler": NeuronProjection(levels=(3, 0))}, "'levels' of NeuronProjection"),
            ({"sampler": NeuronProjection(levels=("a",))}, "'levels' of NeuronProjection"),
            ({"sampler": RandomProjection(0)}, "'n_subsets' parameter of RandomProjection"),
            ({"readout": RidgeOutput("best")}, "'penalty' parameter of RidgeOutput"),
            ({"readout": BaseLearnerSelection(0.0)}, "'keep' parameter of BaseLearnerSelection"),
            (
                {"readout": BaseLearnerSelection(then=RidgeOutput(-1.0))},
                "'penalty' parameter of RidgeOutput",
            ),
            ({"validation": 1.5}, "'validation' parameter of LIFERegressor"),
            ({"sampler": LLA()}, "'sampler' parameter of LIFERegressor"),
            ({"solver": RidgeOutput()}, "'solver' parameter of LIFERegressor"),
            ({"sampler": NeuronProjection}, r"write NeuronProjection\(\)"),
            ({"validation": 1e-9}, "holds out 0 of 100 rows"),
        ],
    )
    def test_settings_are_named(self, regression, settings, message):
        X, y = regression
        with pytest.raises(ValueError, match=message):
            small(**settings).fit(X[:100], y[:100])

    def test_a_failed_fit_leaves_the_model_as_it_was(self, regression):
        X, y = regression
        model = small().fit(X, y)
        before, members = model.predict(X), model.members_
        with pytest.raises(ValueError, match=r"Column 'x2' .*missing in every row"):
            model.fit(np.where(np.arange(X.shape[1]) == 2, np.nan, X), y)
        np.testing.assert_array_equal(model.predict(X), before)
        assert model.members_ is members

    def test_an_interrupted_fit_leaves_no_processes_and_the_model_as_it_was(self, tmp_path):
        """Ctrl-C in the middle of step 2, with worker processes."""
        script = tmp_path / "interrupted.py"
        script.write_text(
            textwrap.dedent(
                """
                import os, signal, sys, threading, time
                import numpy as np
                from lifenet import LIFERegressor, NeuronProjection, LLA

                if __name__ == "__main__":
                    # Shells start what runs in the background with Ctrl-C ignored.
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                    generator = np.random.default_rng(0)
                    X = generator.normal(size=(30_000, 10)); y = np.abs(X[:, 0]) + X[:, 1]
                    model = LIFERegressor(
                        NeuronProjection(levels=(3,)), LLA(3, max_iter=3), random_state=0
                    ).fit(X[:500], y[:500])
                    before = model.predict(X[:50])
                    model.set_params(
                        n_jobs=2, sampler=NeuronProjection(levels=(30,)),
                        solver=LLA(30, max_iter=1000, tol=0.0),
                    )
                    timer = threading.Timer(6.0, os.kill, (os.getpid(), signal.SIGINT))
                    timer.start()
                    try:
                        model.fit(X, y)
                    except KeyboardInterrupt:
                        print("interrupted", np.array_equal(model.predict(X[:50]), before))
                    timer.cancel()
                """
            )
        )
        done = subprocess.run(
            [sys.executable, str(script)],
            capture_output=True,
            text=True,
            timeout=120,
            start_new_session=True,
        )
        assert "interrupted True" in done.stdout, done.stdout + done.stderr
        if sys.platform == "linux":
            time.sleep(1.0)
            assert not _processes_that_mention(str(script))


def _processes_that_mention(text):
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                with open(f"/proc/{entry}/cmdline") as file:
                    if text in file.read():
                        found.append(int(entry))
            except OSError:
                continue
    return found


class TestSingleNetworks:
    def test_adam_learns(self, regression, classes, three_classes):
        X, y = regression
        assert AdamRegressor(10, random_state=0).fit(X, y).score(X, y) > 0.5
        X, y = classes
        model = AdamClassifier(10, random_state=0).fit(X, y)
        assert log_loss(y, model.predict_proba(X)) < 0.5
        X, y = three_classes
        assert AdamClassifier(10, random_state=0).fit(X, y).score(X, y) > 0.8

    def test_adam_prints_and_keeps_time(self, regression, capsys):
        X, y = regression
        AdamRegressor(5, max_epochs=3, verbose=1, random_state=0).fit(X, y)
        assert len(capsys.readouterr().out.splitlines()) == 4
        begun = time.monotonic()
        AdamRegressor(5, max_epochs=10**6, time_limit=0.3, random_state=0).fit(X, y)
        assert time.monotonic() - begun < 10

    def test_lla_of_three_classes_still_pools(self, three_classes):
        X, y = three_classes
        model = LLAClassifier(4, random_state=0).fit(X, y)
        assert model.network_.n_neurons == 12


class TestStacking:
    def test_trees_on_subsets_beat_one_tree(self, regression):
        X, y = regression
        tree = DecisionTreeRegressor(max_depth=5, random_state=0)
        model = SubsetStackingRegressor(tree, SMALL, FAST, random_state=0).fit(X[:600], y[:600])
        assert model.score(X[600:], y[600:]) > tree.fit(X[:600], y[:600]).score(X[600:], y[600:])
        assert len(model.members_) == len(model.subsets_) == len(model.coef_)

    def test_classifiers_that_miss_a_class(self, three_classes):
        X, y = three_classes
        tree = DecisionTreeClassifier(max_depth=3, random_state=0)
        model = SubsetStackingClassifier(tree, RandomProjection(20, lower=0.02), random_state=0)
        model.fit(X, y)
        assert model.score(X, y) > 0.8
        assert model.predict_proba(X).shape == (500, 3)

    def test_averaging_of_trees_is_their_mean(self, regression):
        X, y = regression
        tree = DecisionTreeRegressor(max_depth=3, random_state=0)
        model = SubsetStackingRegressor(tree, SMALL, FAST, "average", random_state=0).fit(X, y)
        mean = np.mean([member.predict(X) for member in model.members_], axis=0)
        np.testing.assert_allclose(model.predict(X), mean, rtol=1e-10)

    def test_a_member_without_fit_is_refused(self, regression):
        with pytest.raises(ValueError, match="'member' parameter of SubsetStackingRegressor"):
            SubsetStackingRegressor("tree").fit(*regression)


@pytest.mark.parametrize("solver", ["lla", "adam"])
def test_members_by_name_are_as_wide_as_a_single_network_should_be(solver):
    """Classes told apart by a line need the narrowest, those of a sphere wider ones."""
    few = RandomProjection(2)
    generator = np.random.default_rng(0)
    X = generator.normal(size=(2500, 10))
    line = (X[:, 0] + generator.logistic(size=2500) > 0).astype(int)
    sphere = (np.square(X).sum(axis=1) > 9.3).astype(int)

    def widths(y):
        model = LIFEClassifier(few, solver, random_state=0).fit(X, y)
        return {member.network.n_neurons for member in model.members_}

    assert widths(line) == {10}
    assert widths(sphere) <= {20, 40}
    regressor = LIFERegressor(few, solver, random_state=0).fit(X, sphere)
    assert {member.network.n_neurons for member in regressor.members_} == {10}
    unvalidated = LIFEClassifier(few, solver, validation=None, random_state=0).fit(X, sphere)
    assert {member.network.n_neurons for member in unvalidated.members_} == {10}


def test_the_number_of_networks_follows_the_width_of_the_members(classes):
    X, y = classes
    wide = small_classifier(sampler=NeuronProjection(levels=(20,)), solver=LLA(150, max_iter=1))
    assert len(wide.fit(X, y).members_) == 10
    assert wide.sampler.max_networks == "auto"
