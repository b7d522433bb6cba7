"""Every space gives parameters that its estimator takes, at its ends as well as inside."""

import pickle

import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lifenet import AdamRegressor, LIFERegressor, LLARegressor, preset
from lifenet.data.folds import Fold
from lifenet.data.run import Run
from lifenet.datasets import simulate
from lifenet.recipe.auto import resolve
from lifenet.tuning import SPACES, Space, life_space, mlp_space
from lifenet.tuning.spaces import READOUTS, named_space
from oracles import plain_problem


class Ends:
    """Answers with the lowest or the highest of every range, and keeps what was asked."""

    def __init__(self, highest, **answers):
        self.highest, self.answers, self.asked = highest, answers, {}

    def _answer(self, name, low, high):
        assert name not in self.asked, f"{name} is asked twice"
        assert low <= high
        self.asked[name] = (low, high)
        return self.answers.get(name, high if self.highest else low)

    def suggest_int(self, name, low, high, *, log=False):
        assert low >= 1 or not log
        return self._answer(name, low, high)

    def suggest_float(self, name, low, high, *, log=False):
        assert low > 0 or not log
        return self._answer(name, low, high)

    def suggest_categorical(self, name, choices):
        self.asked[name] = tuple(choices)
        return self.answers.get(name, choices[-1 if self.highest else 0])


@pytest.mark.parametrize("highest", [False, True])
@pytest.mark.parametrize("shape", [(10, 1), (300, 4), (50_000, 200)])
@pytest.mark.parametrize("name", sorted(SPACES))
def test_a_space_has_sound_ranges_and_a_start_inside_them(name, shape, highest):
    space = named_space(name)
    trial = Ends(highest)
    assert space.suggest(trial, *shape)
    for value_name, value in (space.start(*shape) if space.start else {}).items():
        if value_name not in trial.asked:
            assert value_name.startswith("neurons_")  # levels that this end does not have
        elif isinstance(value, str | bool):
            assert value in trial.asked[value_name]
        else:
            low, high = trial.asked[value_name]
            assert low <= value <= high


OURS = {
    "life": LIFERegressor,
    "lla": LLARegressor,
    "adam": AdamRegressor,
    "random-forest": RandomForestRegressor,
    "mlp": MLPRegressor,
}


# At the lowest learning rate the MLP may use up its epochs.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", sorted(OURS))
def test_the_start_and_the_lowest_end_can_be_fitted(name):
    data = simulate.aim(100, random_state=0)
    space = named_space(name)
    values = space.start(*data.X.shape) if space.start else {}
    model = OURS[name]().set_params(**space.suggest(Ends(False, **values), *data.X.shape))
    model.set_params(random_state=0).fit(data.X, data.y)
    assert model.predict(data.X).shape == (100,)


@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
@pytest.mark.parametrize("highest", [False, True])
def test_peers_take_their_parameters(name, highest):
    package = pytest.importorskip(name)
    made = {"xgboost": "XGBRegressor", "lightgbm": "LGBMRegressor"}[name]
    parameters = named_space(name).suggest(Ends(highest), 200, 5)
    model = getattr(package, made)()
    assert set(parameters) <= set(model.get_params())


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("solver", ["lla", "adam"])
def test_every_part_of_life_passes_its_own_check(readout, solver):
    space = life_space(solver, readouts=READOUTS)
    for highest in (False, True):
        parts = space.suggest(Ends(highest, readout=readout), 1000, 5)
        for part in parts.values():
            part.check()
        assert len(parts["sampler"].levels) == (3 if highest else 1)
        clone(LIFERegressor(**parts))


@pytest.mark.parametrize("n_samples", [30, 250, 10_000])
def test_the_start_of_life_is_its_default(n_samples):
    """What the trial of the estimator as given is said to be, is what the estimator does."""
    space = life_space()
    parts = space.suggest(Ends(False, **space.start(n_samples, 5)), n_samples, 5)
    rows = simulate.aim(n_samples, random_state=0)
    paper = resolve(preset("paper"), Fold.whole(plain_problem(rows.X, rows.y)), Run(0))
    (hierarchy,) = paper.neurons
    default = (hierarchy.sampler, hierarchy.solver, paper.output)
    for said, meant in zip(parts.values(), default, strict=True):
        assert type(said) is type(meant)
        same = said.get_params()
        if "levels" in same:
            assert same.pop("levels") == meant.widths(n_samples, 5)
        if "n_neurons" in same and n_samples < 200:
            assert same.pop("n_neurons") < meant.n_neurons  # no more than the rows can carry
        assert same.items() <= meant.get_params().items()


def test_a_prefixed_space_serves_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), MLPRegressor())
    space = mlp_space(min_layers=3, max_layers=3).prefixed("mlpregressor")
    pipeline.set_params(**space.suggest(Ends(True), 1000, 5))
    assert pipeline[-1].hidden_layer_sizes == (512, 512, 512)


@pytest.mark.parametrize("name", sorted(SPACES))
def test_spaces_are_values_that_can_be_pickled(name):
    space = named_space(name)
    again = pickle.loads(pickle.dumps(space.prefixed("step")))
    assert again.name == f"step__{space.name}"
    assert set(again.suggest(Ends(True), 500, 5)) == {
        f"step__{parameter}" for parameter in space.suggest(Ends(True), 500, 5)
    }
    with pytest.raises(AttributeError):
        space.name = "other"
    assert isinstance(space, Space)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: named_space("lief"), "'space' parameter.*'life'.*'lief'"),
        (lambda: life_space("sgd"), "solver.*'sgd'"),
        (lambda: life_space(max_levels=0), "max_levels.*0"),
        (lambda: life_space(readouts=("ridge", "rigde")), "readouts.*rigde"),
        (lambda: life_space(readouts=()), "readouts"),
        (lambda: mlp_space(min_layers=3, max_layers=2), "min_layers.*3 and 2"),
    ],
)
def test_errors_name_what_is_wrong(call, words):
    with pytest.raises(ValueError, match=words):
        call()
