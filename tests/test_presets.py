"""Presets: which one is taken, that they are values, and what replaces a part of them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ShuffleSplit

import lifenet
from crossfitted import (
    BOTH,
    LEAVES,
    classifier,
    hierarchy,
    leaves,
    planted,
    regressor,
    same,
    small_recipe,
)
from lifenet import (
    LBFGS,
    LLA,
    Averaging,
    BoostedTrees,
    CodedNetwork,
    CrossFit,
    Distil,
    ElasticNetOutput,
    Hierarchy,
    Holdout,
    Leaves,
    LIFEClassifier,
    LIFERegressor,
    LinearModel,
    MiniBatch,
    NeuronProjection,
    QuantileCoding,
    Recipe,
    ReluNetwork,
)
from lifenet.data.folds import Fold
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.data.run import Run
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.neurons.hierarchy import SAMPLERS
from lifenet.recipe import presets
from lifenet.recipe.auto import resolve, resolve_resampling

FEW_NEURONS = Distil(8, finetune=MiniBatch(200, max_epochs=100, learning_rate=2e-3))
STEPS = {
    "sampler": "neurons",
    "solver": "lla",
    "readout": "ridge",
    "coding": "piecewise",
    "finetune": "lbfgs",
    "warm_start": True,
}


@pytest.fixture
def quick(monkeypatch):
    """All presets in a tenth of a second."""
    small = {
        "fast": LEAVES,
        "best": replace(LEAVES, resampling=CrossFit(3)),
        "small": replace(LEAVES, compress=FEW_NEURONS),
    }
    for name, recipe in small.items():
        monkeypatch.setitem(presets._RECIPES, name, recipe)
    monkeypatch.setitem(SAMPLERS, "neurons", lambda: NeuronProjection(levels=()))
    return small


def few_rows():
    return pytest.warns(UserWarning, match="paper's method instead, as preset='paper' does")


class TestWhichOneIsTaken:
    @pytest.mark.parametrize("estimator", [LIFERegressor, LIFEClassifier])
    def test_many_rows_and_no_step_are_the_preset_fast(self, quick, estimator):
        X, y = planted(200)
        y = y if estimator is LIFERegressor else y > 0.5
        model = estimator(random_state=0)
        assert model.preset == "auto"
        model.fit(X, y)
        assert model.recipe_ == quick["fast"]
        assert isinstance(model.network_, CodedNetwork)
        assert same(model.network_, clone(model).set_params(preset="fast").fit(X, y).network_)

    def test_a_name_is_its_recipe(self, quick):
        model = regressor("best").fit(*planted())
        assert model.recipe_ == quick["best"]
        assert len(model.folds_) == 3

    def test_fewer_rows_are_fitted_by_the_papers_method(self, quick):
        X, y = planted(60)
        with few_rows():
            model = regressor("auto").fit(X, y)
        assert model.recipe_ == lifenet.preset("paper")
        assert model.coding_ is None
        assert isinstance(model.network_, ReluNetwork)
        assert same(model.network_, regressor("paper").fit(X, y).network_)

    def test_rows_without_weight_do_not_count(self, quick):
        X, y = planted(400)
        weight = np.zeros(400)
        weight[:60] = 1
        with few_rows():
            assert regressor("auto").fit(X, y, weight).recipe_ == lifenet.preset("paper")
        weight[:200] = 1
        assert regressor("auto").fit(X, y, weight).recipe_ == quick["fast"]

    @pytest.mark.parametrize(("step", "value"), STEPS.items())
    def test_a_given_step_means_the_papers_method_where_the_preset_is_open(
        self, quick, step, value
    ):
        X, y = planted(250)
        model = regressor("auto", **{step: value}).fit(X, y)
        assert isinstance(model.recipe_.resampling, Holdout)
        assert model.recipe_.neurons == (Hierarchy(),)
        paper = regressor("paper", **{step: value}).fit(X, y)
        assert model.recipe_ == paper.recipe_
        assert same(model.network_, paper.network_)

    def test_rows_that_make_no_folds_are_fitted_by_the_papers_method(self, quick):
        X, y = planted()
        X, labels = X[np.arange(450) % 50], y > 0.5
        with few_rows():
            model = classifier("auto").fit(X, labels)
        assert model.recipe_ == lifenet.preset("paper")
        assert same(model.network_, classifier("paper").fit(X, labels).network_)

    @pytest.mark.parametrize("preset", ["auto", "fast", "best", "small", LEAVES])
    def test_a_warning_says_that_rows_are_too_few(self, quick, preset):
        X, y = planted(60)
        with pytest.warns(UserWarning, match=r"Too few of the 60 rows can be .* paper's method"):
            model = regressor(preset).fit(X, y)
        assert model.recipe_.neurons == (Hierarchy(),)
        assert isinstance(model.recipe_.resampling, Holdout)
        assert len(model.folds_) == 1

    def test_small_has_few_neurons_with_few_rows_too(self, quick):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(90, 3))
        y = np.abs(X[:, 0]) + X[:, 1]
        with few_rows():
            model = regressor("small").fit(X, y)
        assert model.recipe_.codes is None
        assert 0 < model.network_.n_neurons <= 8
        assert model.score(X, y) > 0.8

    def test_a_fit_by_folds_can_be_followed_by_the_papers(self, quick):
        X, y = planted()
        model = regressor().fit(X, y).set_params(preset="paper").fit(X, y)
        assert model.recipe_ == lifenet.preset("paper")
        assert same(model.network_, regressor("paper").fit(X, y).network_)


class TestTheyAreValues:
    @pytest.mark.parametrize("name", presets.PRESETS)
    def test_every_preset_passes_its_check_and_is_a_value_of_its_own(self, name):
        one, other = lifenet.preset(name), lifenet.preset(name)
        one.check()
        assert one == other
        assert one is not other
        for first, second in zip(one.neurons, other.neurons, strict=True):
            assert first is not second
        assert one.output is not other.output
        assert clone(one) == one

    def test_an_unknown_name_is_told_the_known_ones(self):
        with pytest.raises(ValueError, match=r"no preset 'fastest'; the presets are 'paper', 'fas"):
            lifenet.preset("fastest")

    def test_changing_one_changes_no_later_fit(self, quick):
        X, y = planted()
        before = regressor("fast").fit(X, y)
        changed = lifenet.preset("fast")
        changed.neurons[0].set_params(n_trees=1)
        changed.output.set_params(discounts=(1.0,))
        changed.set_params(stack=(), finetune=None, resampling__n_folds=5)
        assert lifenet.preset("fast") == quick["fast"] != changed
        after = regressor("fast").fit(X, y)
        assert same(after.network_, before.network_)
        assert len(after.folds_) == 2

    def test_changing_what_was_fitted_changes_no_later_fit(self, quick):
        X, y = planted()
        for preset in ("fast", small_recipe()):
            model = regressor(preset)
            first = model.fit(X, y).network_
            model.recipe_.neurons[0].set_params(n_trees=1)
            model.recipe_.set_params(finetune=None, resampling__n_folds=5)
            assert same(model.fit(X, y).network_, first)
            assert same(clone(model).fit(X, y).network_, first)
            assert model.recipe_ == LEAVES

    def test_fitting_leaves_a_recipe_unchanged(self):
        recipe = clone(BOTH)
        model = regressor(recipe).fit(*planted())
        assert model.preset is recipe
        assert recipe == BOTH
        assert model.recipe_ is not recipe

    def test_auto_remains_in_what_was_fitted(self):
        """The parts that "auto" stands for may differ from fold to fold."""
        recipe = small_recipe(leaves(max_leaf_nodes="auto", min_samples_leaf="auto"))
        assert regressor(recipe).fit(*planted()).recipe_ == recipe


class TestPartsBesideAPreset:
    @pytest.mark.parametrize("preset", ["fast", LEAVES, BOTH])
    def test_an_output_layer_replaces_the_presets(self, quick, preset):
        X, y = planted()
        model = regressor(preset, readout="lasso").fit(X, y)
        known = quick["fast"] if preset == "fast" else preset
        assert model.recipe_ == replace(known, output=ElasticNetOutput(l1_ratio=1.0))
        assert model.score(*planted(seed=1)) > 0.5
        full = sum(fold.n_neurons for fold in regressor(preset).fit(X, y).folds_)
        assert 0 < sum(fold.n_neurons for fold in model.folds_) < full

    def test_sampler_and_solver_replace_those_of_the_base_learners(self):
        X, y = planted()
        sampler, solver = NeuronProjection(levels=(3,), max_networks=4), LLA(5, max_iter=5)
        model = regressor(BOTH, sampler=sampler, solver=solver).fit(X, y)
        of_leaves, of_networks = model.recipe_.neurons
        assert of_leaves == BOTH.neurons[0]
        # A sampler says itself how many base learners there are.
        assert of_networks == hierarchy(sampler=sampler, solver=solver, n_networks=None)
        assert {one.network.n_neurons for one in model.members_} == {5}
        assert {one.n_neurons for one in model.hierarchy_.levels} == {3, 5}
        alone = regressor(BOTH, solver=solver).fit(X, y)
        assert alone.recipe_.neurons[1] == hierarchy(solver=solver)

    def test_codes_and_fine_tuning_replace_the_presets(self):
        X, y = planted()
        coding = QuantileCoding("full", max_bins=4, min_values=2)
        model = regressor(coding=coding, finetune=LBFGS(max_iter=3)).fit(X, y)
        assert model.recipe_ == replace(LEAVES, codes=coding, finetune=LBFGS(max_iter=3))
        assert model.coding_.n_codes < regressor().fit(X, y).coding_.n_codes
        assert all(fold.iterations <= 3 for fold in model.folds_)
        assert all(len(fold.objectives) for fold in model.folds_)

    def test_an_object_beside_a_preset_is_left_unchanged(self):
        sampler = NeuronProjection(levels=(3,))
        before = sampler.get_params()
        regressor(BOTH, sampler=sampler).fit(*planted())
        assert sampler.get_params() == before

    @pytest.mark.parametrize(("name", "value"), [("sampler", "random"), ("solver", LLA(3))])
    def test_a_setting_of_base_learners_is_refused_where_there_are_none(self, name, value):
        recipe = Recipe(codes=QuantileCoding("full"), neurons=(Leaves(),))
        message = (
            rf"{name}=.* is a setting of base learners, and the recipe has none.*"
            rf"Add Hierarchy\(\) to them, or leave '{name}' out"
        )
        with pytest.raises(ValueError, match=message):
            regressor(recipe, **{name: value}).fit(*planted())

    def test_averaging_base_learners_is_refused_beside_leaves(self):
        message = r"output=Averaging\(\) weighs base learners, and the neurons of Leaves belong to"
        for preset in ("fast", "best", "small", BOTH, replace(BOTH, output=Averaging())):
            readout = None if isinstance(preset, Recipe) and preset is not BOTH else "average"
            with pytest.raises(ValueError, match=message):
                regressor(preset, readout=readout).fit(*planted())

    @pytest.mark.parametrize("readout", ["selection", "mixing"])
    def test_so_is_all_else_that_weighs_base_learners(self, readout):
        with pytest.raises(ValueError, match="weighs base learners"):
            regressor("fast", readout=readout).fit(*planted())

    def test_base_learners_of_folds_can_be_averaged_without_leaves(self):
        recipe = Recipe(neurons=(hierarchy(),), output=Averaging(), resampling=CrossFit(2))
        model = regressor(recipe).fit(*planted())
        X, _ = planted(seed=1)
        folds = [
            np.mean([one.network.score(X)[:, 0] for one in model.members_ if one.fold == fold], 0)
            for fold in (0, 1)
        ]
        np.testing.assert_allclose(model.predict(X), np.mean(folds, axis=0), rtol=1e-10)

    @pytest.mark.parametrize("part", [Leaves, BoostedTrees])
    def test_leaves_need_ramps(self, part):
        given = {"neurons": (Leaves(),)} if part is Leaves else {"stack": (BoostedTrees(),)}
        message = rf"{part.__name__} needs ramps .* use codes=QuantileCoding\('full'\)"
        given["resampling"] = CrossFit(2)
        for codes in (None, QuantileCoding("both")):
            with pytest.raises(ValueError, match=message):
                regressor(Recipe(codes=codes, **given)).fit(*planted())
        with pytest.raises(ValueError, match="needs ramps"):
            regressor("fast", coding="both").fit(*planted())

    @pytest.mark.parametrize("companion", [LinearModel(), BoostedTrees()], ids=lambda one: one.name)
    def test_companions_need_out_of_fold_scores(self, companion):
        recipe = replace(LEAVES, resampling=Holdout(), stack=(companion,))
        with pytest.raises(ValueError, match=r"is weighed by out-of-fold scores.*CrossFit\(\)"):
            regressor(recipe).fit(*planted())

    @pytest.mark.parametrize("preset", ["fast", "best", "small", LEAVES])
    def test_a_warm_start_is_refused_where_networks_are_averaged_over_folds(self, preset):
        message = r"(?s)warm_start=True keeps the base learners .* averages networks over folds"
        with pytest.raises(ValueError, match=message):
            regressor(preset, warm_start=True).fit(*planted())

    def test_a_warm_start_after_a_fit_by_folds_begins_the_papers_method(self, quick):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(450, 2))
        y = X[:, 0]
        model = regressor(BOTH).fit(X, y)
        with pytest.raises(ValueError, match="warm_start"):
            model.set_params(warm_start=True).fit(X, y)
        model.set_params(preset="auto").fit(X, y)
        assert isinstance(model.recipe_.resampling, Holdout)
        n_members = len(model.members_)
        assert {one.fold for one in model.members_} == {0}
        assert len(model.fit(X, y).members_) > n_members


class TestSmallIsComposed:
    def test_it_is_fast_with_distillation(self):
        assert replace(lifenet.preset("fast"), compress=Distil(64)) == lifenet.preset("small")

    def test_it_has_the_predictions_of_what_is_composed(self, quick):
        X, y = planted()
        composed = replace(lifenet.preset("fast"), compress=FEW_NEURONS)
        named = regressor("small").fit(X, y)
        assert named.recipe_ == composed
        assert 0 < named.network_.n_neurons <= 8
        np.testing.assert_array_equal(regressor(composed).fit(X, y).predict(X), named.predict(X))

    def test_any_recipe_can_be_distilled(self):
        X, y = planted()
        paper = Recipe(neurons=(hierarchy(n_networks=4),), compress=Distil(6, finetune=LBFGS(50)))
        for recipe, least in ((paper, 0.6), (replace(LEAVES, compress=FEW_NEURONS), 0.7)):
            model = regressor(recipe).fit(X, y)
            assert 0 < model.network_.n_neurons <= recipe.compress.n_neurons
            assert sum(fold.n_neurons for fold in model.folds_) > recipe.compress.n_neurons
            assert model.score(*planted(seed=1)) > least


class TestSettings:
    @pytest.mark.parametrize("preset", ["fastest", None, 3, Recipe])
    def test_an_unknown_preset_is_refused(self, preset):
        with pytest.raises(ValueError, match="'preset' parameter of LIFERegressor"):
            regressor(preset).fit(*planted())

    @pytest.mark.parametrize(
        ("part", "name", "value"),
        [
            (CrossFit, "n_folds", 1),
            (CrossFit, "n_folds", "many"),
            (CrossFit, "min_rows", 1),
            (Hierarchy, "n_networks", -1),
            (Hierarchy, "max_rows", 0),
            (Leaves, "n_trees", 0),
            (Leaves, "max_leaf_nodes", 1),
            (Leaves, "learning_rate", 0.0),
            (Leaves, "min_samples_leaf", 0),
            (Leaves, "max_features", 0.0),
            (Leaves, "max_features", 1.5),
            (QuantileCoding, "max_bins", 0),
            (MiniBatch, "n_steps", -1),
            (Distil, "n_neurons", 0),
        ],
    )
    def test_a_bad_setting_of_a_part_is_named(self, part, name, value):
        bad = part(**{name: value})
        field = {
            CrossFit: "resampling",
            QuantileCoding: "codes",
            MiniBatch: "finetune",
            Distil: "compress",
        }.get(part)
        if part is LinearModel:
            recipe = small_recipe(stack=(bad,))
        else:
            recipe = small_recipe(bad) if field is None else small_recipe(**{field: bad})
        with pytest.raises(ValueError, match=f"'{name}' parameter of {part.__name__}"):
            regressor(recipe).fit(*planted())

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("codes", "full"),
            ("neurons", "leaves"),
            ("output", "ridge"),
            ("finetune", "adam"),
            ("resampling", 5),
            ("stack", LinearModel()),
            ("compress", 64),
        ],
    )
    def test_a_part_of_another_kind_is_named(self, name, value):
        with pytest.raises(ValueError, match=f"'{name}' parameter of Recipe"):
            regressor(small_recipe(**{name: value})).fit(*planted())

    def test_classes_in_place_of_objects_and_no_neurons_are_refused(self):
        for recipe in (Recipe(neurons=(Leaves,)), Recipe(stack=(LinearModel,))):
            with pytest.raises(ValueError, match=r"must be an object, not the class \w+; write"):
                regressor(recipe).fit(*planted())
        with pytest.raises(ValueError, match="at least one source of neurons"):
            regressor(Recipe(neurons=())).fit(*planted())

    def test_settings_can_be_set_and_cloned(self):
        model = regressor(Recipe(resampling=CrossFit(), finetune=MiniBatch()))
        model.set_params(preset__resampling__n_folds=7, preset__finetune__n_steps=3)
        copy = clone(model)
        assert copy.preset == Recipe(resampling=CrossFit(7), finetune=MiniBatch(n_steps=3))
        assert copy.preset is not model.preset
        assert regressor("fast").get_params()["preset"] == "fast"

    def test_settings_can_be_searched(self):
        X, y = planted(500)
        cv = ShuffleSplit(1, train_size=0.9, random_state=0)
        sources = [(leaves(n_trees=1),), (leaves(n_trees=8),)]
        search = GridSearchCV(regressor(small_recipe()), {"preset__neurons": sources}, cv=cv)
        search.fit(X, y)
        assert search.best_params_ == {"preset__neurons": sources[1]}
        assert search.best_estimator_.recipe_.neurons[0].n_trees == 8

    @pytest.mark.parametrize(
        ("key", "message"),
        [
            (
                "preset__stack",
                r"preset, which is 'auto'; give preset as an object .* preset=preset\('fast'",
            ),
            ("sampler__levels", "sampler, which is None; .* sampler=NeuronProjection"),
            ("solver__ridge", "solver=LLA"),
            ("finetune__max_iter", "finetune=LBFGS"),
        ],
    )
    def test_settings_of_a_part_by_name_say_how_they_can_be_set(self, key, message):
        with pytest.raises(ValueError, match=message):
            LIFERegressor().set_params(**{key: 3})
        both = LIFERegressor().set_params(preset=Recipe(), preset__output__penalty=3.0)
        assert both.preset.output.penalty == 3.0
        with pytest.raises(ValueError, match="Invalid parameter 'nothing'"):
            LIFERegressor().set_params(nothing__here=3)


def rows_of(weight, n_features=3, loss=None):
    """A fold of two rows that have this weight together."""
    target = np.array([0.0, 1.0])
    rows = ArrayRows.of(np.zeros((2, n_features)), target, np.array([weight - 1.0, 1.0]))
    return Fold.whole(Problem(rows, SquaredError() if loss is None else loss))


class TestAuto:
    def test_the_number_of_folds_follows_the_rows(self):
        def n_folds(resampling, weight):
            return resolve_resampling(resampling, rows_of(weight).train).n_folds

        assert [n_folds(CrossFit(), weight) for weight in (2_999, 3_000)] == [5, 4]
        assert [n_folds(CrossFit("more"), weight) for weight in (19_999, 20_000)] == [7, 5]
        assert n_folds(CrossFit(2), 3_000) == 2
        assert resolve_resampling(Holdout(), rows_of(900).train) == Holdout()

    def test_leaves_follow_the_rows_and_the_loss(self):
        def found(fold, **settings):
            recipe = small_recipe(Leaves(**settings))
            (one,) = resolve(recipe, fold, Run(0)).neurons
            return one.max_leaf_nodes, one.min_samples_leaf

        assert found(rows_of(399)) == ((4, 16), 10)
        assert found(rows_of(400)) == ((4, 16), 20)
        assert found(rows_of(5_000, loss=Logistic())) == ((12,), 20)
        assert found(rows_of(1e6), max_leaf_nodes=4, min_samples_leaf=3) == (4, 3)

    def test_base_learners_follow_the_rows_the_columns_and_the_classes(self):
        def found(fold, n_networks=20):
            recipe = small_recipe(hierarchy(n_networks=n_networks))
            (one,) = resolve(recipe, fold, Run(0)).neurons
            return one.n_networks

        assert (found(rows_of(1_000)), found(rows_of(900, 1_000))) == (20, 4)
        assert (found(rows_of(900, 1_000), 2), found(rows_of(900), 0)) == (2, 0)
        assert (found(rows_of(399)), found(rows_of(900))) == (8, 18)  # one for fifty rows
        assert found(rows_of(1_000, loss=Multinomial(3))) == 7

    def test_their_levels_rows_and_penalty_do_too(self):
        def found(fold, **settings):
            (one,) = resolve(small_recipe(hierarchy(**settings)), fold, Run(0)).neurons
            return one

        many, few = found(rows_of(1_000), n_networks=20), found(rows_of(399), n_networks=20)
        assert (many.sampler.levels, few.sampler.levels) == ((8, 8), (8,))
        assert (many.sampler.max_networks, few.sampler.max_networks) == (20, 8)
        assert [found(rows_of(900, n)).max_rows for n in (3, 149, 1_000)] == [2_000, 1_333, 1_000]
        assert found(rows_of(40_000)).max_rows == 10_000
        assert found(rows_of(900), max_rows=None).max_rows is None
        assert many.solver == LLA(10, ridge=1e-5, max_iter=10, tol=5e-3)
        assert found(rows_of(900, loss=Logistic())).solver.ridge == 1e-4

    def test_fine_tuning_follows_the_loss(self):
        auto = MiniBatch(max_epochs="auto")
        for loss, expected in ((SquaredError(), 150), (Logistic(), 30)):
            tuned = resolve(small_recipe(finetune=auto), rows_of(900, loss=loss), Run(0)).finetune
            assert tuned.max_epochs == expected
        for given in (None, LBFGS(), MiniBatch(7, learning_rate=1e-3)):
            assert resolve(small_recipe(finetune=given), rows_of(900), Run(0)).finetune == given


class TestPartsThatDoNotFit:
    def test_a_number_of_networks_is_for_the_sampler_of_neurons(self):
        with pytest.raises(ValueError, match="n_networks=20 bounds the networks of the sampler"):
            Recipe(neurons=(Hierarchy(sampler="bootstrap", n_networks=20),)).check()

    @pytest.mark.parametrize(
        ("parts", "message"),
        [
            (
                {"neurons": ("leaves",)},
                r"neurons must hold objects .* such as Leaves\(\); 'leaves'",
            ),
            (
                {"stack": ("trees",), "resampling": CrossFit()},
                r"stack must hold objects .* such as LinearModel\(\); 'trees' is among",
            ),
        ],
    )
    def test_parts_given_as_text_are_named(self, parts, message):
        with pytest.raises(ValueError, match=message):
            Recipe(**parts).check()

    def test_neurons_that_belong_to_no_base_learner_are_not_weighed(self):
        class Own(Hierarchy):
            makes_members = False

        with pytest.raises(ValueError, match="the neurons of Own belong to none"):
            Recipe(neurons=(Own(),), output=Averaging()).check()


def test_a_refit_without_a_readout_keeps_the_output_layer_of_the_recipe():
    X, y = planted()
    recipe = small_recipe(output=ElasticNetOutput(l1_ratio=1.0), stack=())
    model = regressor(recipe).fit(X, y)
    few = model.network_.n_neurons
    assert model.refit_readout(X, y).network_.n_neurons <= few
    ridge = regressor(recipe, readout="ridge").fit(X, y)
    assert ridge.network_.n_neurons > few


def test_rows_of_a_refit_are_known_to_simplify():
    X, y = planted()
    model = regressor().fit(X, y)
    new = planted(seed=1)
    model.refit_readout(*new)
    with pytest.warns(UserWarning, match="fitted to these rows"):
        assert model.simplify(*new, settings=Distil(4, largest=4)).seen


def test_a_small_network_in_no_time_says_so_and_predicts():
    X, y = planted()
    model = regressor(small_recipe(compress=Distil(16)), time_limit=1e-6)
    hurried = pytest.warns(UserWarning, match="before 16 neurons were distilled")
    with pytest.warns(UserWarning, match="1 of 2 folds were left out"), hurried:
        model.fit(X, y)
    assert model.network_.n_neurons == 16
    assert model.score(X, y) > 0.5
