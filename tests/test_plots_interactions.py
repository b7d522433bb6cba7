"""What the heat map shows is what the measures say."""

import numpy as np
import pytest

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from lifenet.explain.interactions import (  # noqa: E402
    Interactions,
    interaction_strength,
    two_stage_strength,
)
from lifenet.explain.varying import varying_coefficients  # noqa: E402
from lifenet.network import ReluNetwork  # noqa: E402
from lifenet.plots.interactions import InteractionDisplay  # noqa: E402


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def random_network(n_features, seed=0):
    generator = np.random.default_rng(seed)
    return ReluNetwork(
        generator.normal(size=(30, n_features)) * (generator.random((30, n_features)) < 0.5),
        generator.normal(size=30),
        generator.normal(size=(30, 1)),
        np.zeros(1),
    )


def rows(n_features, n=300, seed=1):
    return np.random.default_rng(seed).normal(size=(n, n_features))


def given(strength, score_deviation=2.0, measure="two-stage"):
    """A result with given directed strengths."""
    directed = np.array(strength, dtype=float)
    names = tuple(f"x{k}" for k in range(len(directed)))
    pair = (directed + directed.T) / 2
    return Interactions(names, measure, directed, pair, score_deviation)


def cells(display):
    return display.ax_.images[0].get_array()


def labels(display):
    return [tick.get_text() for tick in display.ax_.get_yticklabels()]


def test_cells_are_the_directed_strengths_with_the_diagonal_masked():
    result = two_stage_strength(random_network(4), rows(4))
    display = InteractionDisplay(result).plot()
    drawn, order = cells(display), display.shown_
    wanted = result.directed[np.ix_(order, order)] / result.score_deviation
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(drawn[off], wanted[off])
    assert drawn.mask[~off].all()
    assert not drawn.mask[off].any()
    assert labels(display) == [result.features[k] for k in order]
    assert (display.ax_.get_ylabel(), display.ax_.get_xlabel()) == ("coefficient of", "varies with")


def test_figures_in_the_cells_are_theirs():
    display = InteractionDisplay(given([[0, 1.0, 0.5], [0.2, 0, 0], [0.1, 0.04, 0]])).plot()
    drawn = cells(display)
    assert len(display.ax_.texts) == 6
    for text in display.ax_.texts:
        column, row = text.get_position()
        assert float(text.get_text()) == pytest.approx(drawn[int(row), int(column)], abs=0.005)


def test_the_strongest_pair_comes_first():
    strength = np.zeros((5, 5))
    strength[3, 1] = strength[1, 3] = 2
    strength[4, 3] = 1
    display = InteractionDisplay(given(strength)).plot()
    assert display.shown_[:3] == [3, 1, 4]


def test_symmetric_and_absolute():
    result = given([[0, 3.0], [1, 0]])
    drawn = cells(InteractionDisplay(result).plot(symmetric=True, relative=False))
    assert drawn[0, 1] == drawn[1, 0] == 2
    drawn = cells(InteractionDisplay(result).plot(symmetric=True))
    assert drawn[0, 1] == 1


def test_many_features_are_cut_to_the_strongest_and_the_title_says_so():
    display = InteractionDisplay.from_network(random_network(40), rows(40))
    assert cells(display).shape == (20, 20)
    assert "20 of 40 features" in display.ax_.get_title()
    assert not display.ax_.texts
    pair = display.result.pair.max(axis=0)
    left_out = sorted(set(range(40)) - set(display.shown_))
    assert pair[display.shown_].min() >= pair[left_out].max()


def test_both_measures_by_name():
    network, X = random_network(3), rows(3)
    display = InteractionDisplay.from_network(network, X, measure="second-order", n_pairs=50)
    wanted = interaction_strength(network, X, n_pairs=50)
    np.testing.assert_array_equal(display.result.pair, wanted.pair)
    drawn = cells(display)
    assert drawn[0, 1] == drawn[1, 0]
    assert display.ax_.get_ylabel() == ""
    assert len(display.to_frame()) == 3
    with pytest.raises(ValueError, match="two-stage, second-order"):
        InteractionDisplay.from_network(network, X, measure="third-order")


def test_varying_coefficients_are_taken_as_they_are():
    varying = varying_coefficients(random_network(3), rows(3))
    display = InteractionDisplay(varying)
    np.testing.assert_array_equal(display.result.directed, varying.strength)


def test_on_given_axes():
    figure, ax = plt.subplots()
    display = InteractionDisplay.from_network(random_network(3), rows(3), ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure


@pytest.mark.parametrize(("n_features", "suffix"), [(1, "svg"), (3, "pdf"), (25, "png")])
def test_it_saves_without_a_warning(tmp_path, suffix, n_features):
    display = InteractionDisplay(given(np.triu(np.ones((n_features,) * 2), 1))).plot()
    display.figure_.savefig(tmp_path / f"map.{suffix}")
    assert (tmp_path / f"map.{suffix}").stat().st_size > 1000


def test_no_interaction_and_a_constant_score_can_be_drawn():
    display = InteractionDisplay(given(np.zeros((3, 3)), score_deviation=0.0)).plot()
    assert {text.get_text() for text in display.ax_.texts} == {"0"}
    display.figure_.canvas.draw()


def test_at_least_one_feature():
    with pytest.raises(ValueError, match="max_features"):
        InteractionDisplay(given(np.zeros((2, 2)))).plot(max_features=0)
