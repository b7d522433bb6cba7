"""Which columns neurons read together: read from every neuron of fitted networks."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone

from crossfitted import (
    classifier,
    fit_with_folds,
    hierarchy,
    labelled,
    leaves,
    planted,
    regressor,
    small_recipe,
)
from lifenet import (
    LBFGS,
    Adam,
    BestPairs,
    BoostedTrees,
    CodedNetwork,
    Distil,
    Holdout,
    LIFEClassifier,
    LIFERegressor,
    LinearModel,
    MiniBatch,
    NeuronProjection,
    Recipe,
    preset,
)
from lifenet.data.interactions import Interactions, read_groups
from lifenet.data.rows import ArrayRows
from lifenet.losses import Logistic, SquaredError
from lifenet.network import ReluNetwork
from lifenet.neurons.layer import neurons_for_linear
from lifenet.recipe.pairs import Part, step_gains

FEW = NeuronProjection(levels=(3,))
SMALL_TREES = BoostedTrees(max_leaf_nodes=(4, 8), n_trees=20)
FEW_NEURONS = Distil(8, largest=16, finetune=MiniBatch(100, max_epochs=100, learning_rate=2e-3))
BOTH = small_recipe(leaves(), hierarchy())
KINDS = {
    "no_interactions": "no_interactions",
    "pairwise": "pairwise",
    "groups": [[0, 2], [1]],
    "best pairs": BestPairs(),
}


def columns_read(network):
    """The columns that each neuron reads, as a list of sets."""
    inner, column = network, np.arange(network.n_features)
    if isinstance(network, CodedNetwork):
        inner, column = network.network, network.coding.column_of_code
    weights = inner.dense().weights
    return [set(column[np.flatnonzero(row)].tolist()) for row in weights]


def assert_kept(model, network=None):
    """Every neuron reads columns of one group of the model."""
    groups = [set(group) for group in model.interaction_cst_]
    read = columns_read(model.network_ if network is None else network)
    assert read
    assert all(any(one <= group for group in groups) for one in read)
    return read


def table(kind, n=450):
    if kind == "regression":
        return planted(n)
    X, y = labelled(n)
    return X, y if kind == "three classes" else np.where(y == "low", "no", "yes")


def fitted(kind, recipe, **settings):
    X, y = table(kind)
    make = regressor if kind == "regression" else classifier
    return make(recipe, **settings).fit(X, y)


def mixed_differences(model, X, groups=((0, 1), (0, 2), (1, 2))):
    """Largest f(a, b) - f(a, b') - f(a', b) + f(a', b') over moves of two columns to other rows."""
    other, found = X[::-1], []
    for pair in groups:
        scores = []
        for moved in ((), pair[:1], pair[1:], pair):
            at = X.copy()
            at[:, moved] = other[:, moved]
            scores.append(model.network_.score(at))
        found.append(np.abs(scores[0] - scores[1] - scores[2] + scores[3]).max())
    return max(found)


class TestEveryNeuron:
    @pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
    @pytest.mark.parametrize("given", KINDS)
    def test_reads_one_group_in_cross_fitted_networks(self, kind, given):
        """Leaves, base learners, fine-tuning, linear model and boosted trees together."""
        stack = (LinearModel(), SMALL_TREES)
        recipe = replace(BOTH, stack=stack, interaction_cst=KINDS[given])
        model = fitted(kind, recipe)
        read = assert_kept(model)
        assert set().union(*read) == {0, 1, 2}
        assert model.members_
        for one in model.members_:
            assert_kept(model, CodedNetwork(model.coding_, widened(model, one.network)))

    @pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
    @pytest.mark.parametrize("finetune", [None, LBFGS(5), MiniBatch(20)])
    @pytest.mark.parametrize("coding", [None, "both"])
    def test_reads_one_group_by_the_papers_method(self, kind, finetune, coding):
        settings = {"sampler": FEW, "finetune": finetune, "coding": coding}
        for given in ("pairwise", "no_interactions"):
            model = fitted(kind, "paper", interaction_cst=given, **settings)
            read = assert_kept(model)
            assert max(map(len, read)) == 1 + (given == "pairwise")
            assert all(np.all(np.isfinite(one.network.dense().weights)) for one in model.members_)

    @pytest.mark.parametrize("kind", ["regression", "three classes"])
    @pytest.mark.parametrize("given", ["pairwise", "no_interactions"])
    @pytest.mark.parametrize("finetune", [FEW_NEURONS.finetune, LBFGS(10)])
    def test_reads_one_group_after_distillation(self, kind, given, finetune):
        compress = replace(FEW_NEURONS, finetune=finetune)
        model = fitted(kind, replace(BOTH, interaction_cst=given, compress=compress))
        assert model.network_.n_neurons <= 8
        assert_kept(model)

    @pytest.mark.parametrize("name", ["fast", "best", "small", "glass", "paper"])
    def test_reads_one_group_of_every_preset(self, name):
        X, y = planted(300)
        recipe = preset(name)
        if recipe.compress is not None:
            recipe.set_params(compress=FEW_NEURONS)
        given = None if name == "glass" else "pairwise"
        model = regressor(recipe, interaction_cst=given).fit(X, y)
        assert max(map(len, assert_kept(model))) == 2

    @pytest.mark.parametrize("solver", ["lla", Adam(4, max_epochs=5)])
    def test_reads_one_group_by_every_solver(self, solver):
        model = fitted("regression", "paper", sampler=FEW, solver=solver, interaction_cst=[[0, 1]])
        assert {frozenset(one) for one in assert_kept(model)} <= {
            frozenset(one) for one in ({0, 1}, {0}, {1}, {2})
        }

    @pytest.mark.parametrize("readout", ["elastic-net", "selection", "mixing", "average", "linear"])
    def test_reads_one_group_by_every_output_layer(self, readout):
        settings = {"sampler": FEW, "interaction_cst": "no_interactions"}
        assert_kept(fitted("regression", "paper", readout=readout, **settings))

    def test_reads_one_group_in_a_leaf_with_a_column_that_does_not_vary(self):
        X, y = planted()
        X = np.column_stack([X, np.ones(len(X))])
        for name in (BOTH, "paper"):
            model = regressor(name, interaction_cst="no_interactions").fit(X, y)
            assert_kept(model)
            assert np.isfinite(model.predict(X)).all()

    def test_reads_one_group_on_a_frontier(self):
        X, y = planted()
        for recipe in (BOTH, replace(BOTH, stack=(LinearModel(), SMALL_TREES)), "paper"):
            model = regressor(recipe, interaction_cst="no_interactions").fit(X, y)
            finetune = FEW_NEURONS.finetune if model.coding_ is not None else LBFGS(5)
            frontier = model.simplify(
                X[::2] + 1e-3, y[::2], settings=Distil(4, largest=8, finetune=finetune)
            )
            for network in frontier.networks:
                assert_kept(model, network)
            smaller = model.with_network(frontier.networks[-1])
            assert smaller.interaction_cst_ == model.interaction_cst_

    def test_reads_one_group_after_refitting_the_output_layer(self):
        X, _ = planted()
        y = X @ [1.0, 2.0, -1.0] + np.random.default_rng(2).normal(size=len(X))
        model = regressor(BOTH, interaction_cst="no_interactions").fit(X, y)
        assert np.any(model.network_.network.linear)
        assert_kept(model.refit_readout(X, y))

    def test_reads_one_group_where_rows_are_too_few_for_folds(self):
        X, y = planted(80)
        for given, expected in (("pairwise", 3), (BestPairs(), 3), ([[0, 1]], 2)):
            with pytest.warns(UserWarning, match="paper's method"):
                model = regressor("fast", interaction_cst=given).fit(X, y)
            assert len(model.interaction_cst_) == expected
            assert_kept(model)

    def test_may_read_all_columns_otherwise(self):
        model = fitted("regression", BOTH)
        assert model.interaction_cst_ is None
        assert max(map(len, columns_read(model.network_))) == 3


def widened(model, network):
    """A base learner of some codes as a network of all."""
    weights = np.zeros((network.n_neurons, model.coding_.n_codes))
    weights[:, model.member_inputs_] = network.dense().weights
    return ReluNetwork(weights, network.bias, network.beta, network.intercept)


class TestTheFunction:
    @pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
    @pytest.mark.parametrize("recipe", ["fast", "glass", "paper"])
    def test_is_additive_without_interactions(self, kind, recipe):
        X, y = table(kind, 300)
        make = LIFERegressor if kind == "regression" else LIFEClassifier
        few = {"sampler": FEW} if recipe == "paper" else {}
        model = make(preset=recipe, interaction_cst="no_interactions", random_state=0, **few)
        model.fit(X, y)
        assert mixed_differences(model, X) < 1e-9

    def test_keeps_groups_apart(self):
        X, _ = planted()
        model = fitted("regression", replace(BOTH, interaction_cst=[[1, 2]]))
        assert mixed_differences(model, X, [(0, 1), (0, 2)]) < 1e-9
        assert mixed_differences(model, X, [(1, 2)]) > 0.1

    def test_pairs_find_what_single_columns_cannot(self):
        X, y = planted(900)
        scores = {
            given: regressor(BOTH, interaction_cst=given)
            .fit(X[:600], y[:600])
            .score(X[600:], y[600:])
            for given in ("no_interactions", "pairwise")
        }
        assert scores["no_interactions"] < 0.8 < 0.9 < scores["pairwise"]

    def test_a_group_of_all_columns_restricts_nothing(self):
        """Trees and coefficients are those of before; base learners read all columns, too."""
        one, other = (
            fitted("regression", replace(BOTH, interaction_cst=given))
            for given in (None, [[0, 1, 2]])
        )
        X, _ = planted()
        np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=0, atol=1e-4)

    def test_does_not_depend_on_the_workers(self):
        recipe = replace(BOTH, interaction_cst=BestPairs())
        one, other = (fitted("regression", recipe, n_jobs=n) for n in (1, 2))
        assert one.network_ == other.network_

    def test_the_same_seed_gives_the_same_network(self):
        models = [
            fitted("regression", replace(BOTH, interaction_cst=BestPairs())) for _ in range(2)
        ]
        assert models[0].network_ == models[1].network_


class TestGroups:
    def test_strings_mean_what_they_mean_in_boosted_trees(self):
        assert read_groups("no_interactions", 3) == ((0,), (1,), (2,))
        assert read_groups("pairwise", 4) == tuple(combinations(range(4), 2))
        assert read_groups("pairwise", 1) == ((0,),)

    def test_columns_of_no_group_form_one_more(self):
        assert read_groups([{0, 1}], 5) == ((0, 1), (2, 3, 4))
        assert read_groups([[3, 0], (1, 3)], 4) == ((0, 3), (1, 3), (2,))
        assert read_groups([np.array([1, 0])], 2) == ((0, 1),)

    def test_columns_may_be_named(self):
        assert read_groups([["b", 0], ["c"]], 4, list("abcd")) == ((0, 1), (2,), (3,))

    @pytest.mark.parametrize(
        ("given", "names", "message"),
        [
            ([["age"]], ["a", "b"], "'age', which X does not have; its columns are 'a', 'b'"),
            ([["a"]], None, "'a', and the columns of X have no names"),
            ([[0, 2]], None, "column 2; X has 2 columns, from 0 to 1"),
            ([[-1]], None, "column -1; X has 2 columns"),
            ([[0], []], None, "a group without columns"),
            ([], None, "holds no group"),
            ([0, 1], None, "0 is none; write"),
            (["a", "b"], ["a", "b"], "'a' is none; write"),
            ([[0.5]], None, "0.5, which is neither the index nor the name"),
            ([[True]], None, "True, which is neither"),
            ("pairs", None, "'pairs' is none of 'pairwise'"),
        ],
    )
    def test_wrong_ones_are_named(self, given, names, message):
        with pytest.raises(ValueError, match=message):
            read_groups(given, 2, names)

    def test_base_learners_take_turns(self):
        known = Interactions.of(((0, 1), (2,)), [np.array([0, 1]), np.array([2]), np.array([3, 4])])
        drawn = known.draw(4, np.random.default_rng(0))
        assert sorted(map(tuple, map(np.ndarray.tolist, drawn))) == [(0, 1, 2)] * 2 + [(3, 4)] * 2
        few = known.draw(2, np.random.default_rng(0), np.array([4, 2]))
        assert sorted(one.tolist() for one in few) == [[0], [1]]

    def test_a_neuron_moves_on_the_columns_that_it_reads(self):
        known = Interactions.of(((0, 1), (2,)), [np.array([0, 1]), np.array([2]), np.array([3, 4])])
        weights = np.array([[0, 1.0, 0, 0, 0], [0, 0, 2.0, 0, 0], [0, 0, 0, 0, 1.0]])
        expected = [[1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 1]]
        np.testing.assert_array_equal(known.movable(weights), np.array(expected, dtype=bool))
        assert known.allow(weights)
        assert not known.allow(np.array([[0, 1.0, 0, 0, 1.0]]))


class TestTheEstimator:
    def test_takes_names_of_a_frame(self):
        pandas = pytest.importorskip("pandas")
        X, y = planted()
        frame = pandas.DataFrame(X, columns=["age", "income", "region"])
        model = regressor(BOTH, interaction_cst=[["income", "region"]]).fit(frame, y)
        assert model.interaction_cst_ == ((1, 2), (0,))
        assert_kept(model)
        with pytest.raises(ValueError, match="'wage', which X does not have"):
            regressor(BOTH, interaction_cst=[["wage"]]).fit(frame, y)

    def test_refuses_what_it_cannot_use(self):
        X, y = planted(120)
        with pytest.raises(ValueError, match="interaction_cst"):
            regressor(interaction_cst="pairs").fit(X, y)
        with pytest.raises(ValueError, match="column 3; X has 3 columns"):
            regressor(interaction_cst=[[0, 3]]).fit(X, y)
        with pytest.raises(ValueError, match=r"write BestPairs\(\)"):
            regressor(interaction_cst=BestPairs).fit(X, y)
        with pytest.raises(ValueError, match="n_pairs"):
            regressor(interaction_cst=BestPairs(-1)).fit(X, y)
        with pytest.raises(ValueError, match="BestPairs needs ramps of the columns"):
            regressor("paper", interaction_cst=BestPairs()).fit(X, y)

    def test_replaces_the_recipes_and_leaves_the_preset(self):
        X, y = planted(150)
        model = LIFERegressor(interaction_cst="pairwise", random_state=0).fit(X, y)
        assert model.recipe_.interaction_cst == "pairwise"
        assert model.recipe_.codes is not None
        assert preset("fast").interaction_cst is None
        assert clone(model).interaction_cst == "pairwise"

    def test_has_parameters_of_the_choice_of_pairs(self):
        model = regressor(interaction_cst=BestPairs()).set_params(interaction_cst__n_pairs=1)
        assert model.interaction_cst.n_pairs == 1
        with pytest.raises(ValueError, match="give interaction_cst as an object"):
            regressor(interaction_cst="pairwise").set_params(interaction_cst__n_pairs=1)

    def test_warm_start_keeps_groups_apart(self):
        X, y = planted()
        settings = {"sampler": FEW, "warm_start": True, "interaction_cst": "no_interactions"}
        model = regressor("paper", **settings).fit(X, y)
        before = len(model.members_)
        assert_kept(model.fit(X, y))
        assert len(model.members_) > before
        loose = regressor("paper", sampler=FEW, warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match="use warm_start=False"):
            loose.set_params(interaction_cst="pairwise").fit(X, y)

    def test_works_with_a_recipe_of_a_holdout(self):
        recipe = replace(BOTH, resampling=Holdout(), stack=(), interaction_cst="pairwise")
        assert_kept(fitted("regression", recipe))
        assert_kept(fitted("regression", replace(recipe, finetune=LBFGS(5))))

    def test_is_a_field_of_a_recipe(self):
        assert Recipe(interaction_cst=[[0, 1]]).check() is None
        with pytest.raises(ValueError, match="interaction_cst"):
            Recipe(interaction_cst=3).check()


class TestBestPairs:
    def test_finds_the_planted_pair(self):
        X, y = planted(900)
        X = np.column_stack([X, np.random.default_rng(1).uniform(size=(900, 2)).round(2)])
        model = regressor(small_recipe(interaction_cst=BestPairs())).fit(X, y)
        singles, pairs = model.interaction_cst_[:5], model.interaction_cst_[5:]
        assert singles == ((0,), (1,), (2,), (3,), (4,))
        assert pairs[0] == (1, 2)

    def test_takes_no_more_pairs_than_asked_for(self):
        X, y = planted()
        for most in (0, 1, 2):
            model = regressor(small_recipe(interaction_cst=BestPairs(most))).fit(X, y)
            assert len(model.interaction_cst_) <= 3 + most
        one = regressor(small_recipe(interaction_cst=BestPairs())).fit(X[:, :1], y)
        assert one.interaction_cst_ == ((0,),)

    def test_takes_none_that_does_not_pay(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (600, 3)).round(2)
        noise = regressor(small_recipe(interaction_cst=BestPairs())).fit(X, rng.normal(size=600))
        assert len(noise.interaction_cst_) < 3 + 3

    def test_serves_without_validation_rows(self):
        X, y = planted()
        model = regressor(small_recipe(interaction_cst=BestPairs(1)), validation=None).fit(X, y)
        assert model.interaction_cst_[3:] == ((1, 2),)

    @pytest.mark.parametrize("loss", [SquaredError(), Logistic()])
    def test_a_table_lowers_the_loss_by_steps_in_its_cells(self, loss):
        """By a loop over rows."""
        rng = np.random.default_rng(0)
        seen, new = rng.integers(0, 8, (2, 3, 50))
        score, target = rng.normal(size=(2, 50, 1)), rng.integers(0, 2, (2, 50)).astype(float)
        train, unseen = (
            Part(bins, loss.gradient(y, one).T, loss.curvature(y, one).T)
            for bins, one, y in zip((seen, new), score, target, strict=True)
        )
        expected = []
        for row in range(50):
            alike = (seen[:2] == new[:2, row : row + 1]).all(axis=0)
            shrunk = 10.0 * train.curvature[0].mean()
            step = -train.slope[0, alike].sum() / (train.curvature[0, alike].sum() + shrunk)
            change = unseen.slope[0, row] * step + unseen.curvature[0, row] * step**2 / 2
            expected.append(-change)
        cells = (part.bins[0] * 8 + part.bins[1] for part in (train, unseen))
        np.testing.assert_allclose(step_gains(train, unseen, *cells), expected, atol=1e-12)

    def test_pairs_are_chosen_once_for_all_folds(self, monkeypatch):
        X, y = planted()
        model, networks = fit_with_folds(
            regressor(small_recipe(interaction_cst=BestPairs())), X, y, monkeypatch
        )
        assert len(networks) == 2
        for network in networks:
            assert_kept(model, network)

    def test_columns_without_interactions_have_few_pairs(self):
        """Of noise columns, a table seldom lowers the loss of unseen rows: of 66 pairs, a third."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(600, 12)).round(1)
        y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + 0.3 * rng.normal(size=600)
        model = regressor(small_recipe(interaction_cst=BestPairs())).fit(X, y)
        pairs = model.interaction_cst_[12:]
        assert pairs[0] == (0, 1)
        assert len(pairs) < 22

    def test_where_most_pairs_may_be_taken_only_harmful_ones_are_left_out(self):
        X, y = planted()
        gains = {most: self.chosen(X, y, most) for most in (1, 2, 3)}
        assert gains[1] == ((1, 2),)
        # Two of three pairs are two thirds of them.
        assert gains[1][0] in gains[2]
        assert set(gains[2]) <= set(gains[3])

    @staticmethod
    def chosen(X, y, most):
        model = regressor(small_recipe(interaction_cst=BestPairs(most))).fit(X, y)
        return model.interaction_cst_[3:]


def test_a_linear_part_has_a_neuron_for_each_column(few_rows):
    rng = np.random.default_rng(0)
    linear = np.array([[1.0, 2.0], [0.0, 0.0], [-1.0, 0.5], [0.0, 3.0]])
    weights, bias, beta = (rng.normal(size=shape) for shape in ((3, 4), 3, (3, 2)))
    network = ReluNetwork(weights, bias, beta, np.ones(2), linear)
    found = neurons_for_linear(network, few_rows, apart=True)
    assert found.n_neurons == 3 + 3
    assert not found.linear.any()
    X = few_rows.collect(lambda block: block.inputs[:-1].copy()).T
    np.testing.assert_allclose(found.score(X), network.score(X), atol=1e-12)


@pytest.fixture
def few_rows():
    return ArrayRows.of(np.random.default_rng(1).normal(size=(20, 4)), np.zeros(20))
