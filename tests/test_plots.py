"""What is drawn is what the hierarchy says."""

import numpy as np
import pytest

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.path import Path  # noqa: E402

from lifenet import LLA, Bootstrap, LIFEClassifier, LIFERegressor, NeuronProjection  # noqa: E402
from lifenet.network import ReluNetwork  # noqa: E402
from lifenet.neurons.subset import (  # noqa: E402
    Fate,
    Split,
    Subset,
)
from lifenet.plots import (  # noqa: E402
    HierarchyDisplay,
    PartitionDisplay,
    edges_of,
    region_polygon,
    regions_of,
)
from lifenet.plots._edges import FATE_COLOURS, percent  # noqa: E402
from lifenet.recipe.record import HierarchyRecord, Level  # noqa: E402


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def table(n_features=2):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, n_features)) * 5 + 40
    return X, np.abs(X[:, 0] + X[:, 1] - 80) - np.maximum(X[:, 1] - 42, 0)


def fitted(n_features=2, **settings):
    X, y = table(n_features)
    sampler = NeuronProjection(levels=(3, 3), **settings)
    return LIFERegressor(sampler, LLA(2, max_iter=10), random_state=0).fit(X, y), X


@pytest.fixture(scope="module")
def model():
    return fitted()[0]


def network(n_neurons, n_features=2, seed=0):
    generator = np.random.default_rng(seed)
    return ReluNetwork(
        generator.normal(size=(n_neurons, n_features)),
        generator.normal(size=n_neurons),
        np.ones((n_neurons, 1)),
        np.zeros(1),
    )


def by_hand(n_neurons=4):
    """One network, a neuron of each fate, a member on the kept one."""
    top, fates = network(n_neurons), (list(Fate) * n_neurons)[:n_neurons]
    splits = tuple(Split(0, k, (k + 1) / (n_neurons + 1), fate) for k, fate in enumerate(fates))
    kept = [k for k, fate in enumerate(fates) if fate is Fate.KEPT]
    subsets = tuple(Subset(top.weights[[k]], top.bias[[k]], parent=(0, k)) for k in kept)
    members = tuple(network(2, seed=k + 1) for k in kept)
    everything = Subset(np.zeros((0, 2)), np.zeros(0))
    return HierarchyRecord(
        (Level(n_neurons, (top,), (everything,), splits), Level(2, members, subsets, (), 0.25))
    )


def artists(ax, gid):
    return [one for one in ax.get_children() if one.get_gid() == gid]


def texts(ax):
    return [text.get_text() for text in ax.texts]


# The tree.


def test_an_edge_for_each_network_below_the_first(model):
    hierarchy = model.hierarchy_
    kept = [
        (number, split.network, split.neuron)
        for number, level in enumerate(hierarchy.levels, 2)
        for split in level.splits
        if split.fate is Fate.KEPT
    ]
    edges = edges_of(hierarchy)
    assert [(edge.level, edge.parent, edge.neuron) for edge in edges] == kept
    ax = HierarchyDisplay.from_estimator(model).ax_
    (lines,) = artists(ax, "edges")
    assert len(lines.get_segments()) == len(kept)
    (readout,) = artists(ax, "readout")
    assert len(readout.get_segments()) == len(model.members_)


def test_edges_lead_from_the_neuron_to_the_network_trained_on_its_subset(model):
    hierarchy = model.hierarchy_
    for edge in edges_of(hierarchy):
        subset = hierarchy.levels[edge.level - 1].subsets[edge.network]
        parent = hierarchy.levels[edge.level - 2].networks[edge.parent]
        np.testing.assert_allclose(subset.weights[0], parent.weights[edge.neuron])
        np.testing.assert_allclose(subset.bias[0], parent.bias[edge.neuron])


def test_each_class_has_an_edge_of_its_own():
    X, y = table()
    labels = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    sampler, solver = NeuronProjection(levels=(3,)), LLA(2, max_iter=5)
    model = LIFEClassifier(sampler, solver, random_state=0).fit(X, labels)
    first, last = model.hierarchy_.levels
    assert len(first.networks) == 3
    edges = edges_of(model.hierarchy_)
    assert [edge.network for edge in edges] == list(range(len(last.networks)))
    # Up to three networks a subset: one class against the rest, where both are in it.
    kept = [(one.network, one.neuron) for one in first.splits if one.fate is Fate.KEPT]
    assert {(edge.parent, edge.neuron) for edge in edges} == set(kept)
    assert len(kept) < len(edges) <= 3 * len(kept)
    HierarchyDisplay.from_estimator(model)


def test_a_level_without_usable_subsets_hands_its_own_on():
    """The members of such a fit name parents that stand two levels above."""
    first, last = by_hand().levels
    dropped = tuple(Split(0, k, 0.01, Fate.TOO_SMALL) for k in range(2))
    middle = Level(2, last.networks, last.subsets, dropped)
    edges = edges_of(HierarchyRecord((first, middle, last)))
    assert [(edge.level, edge.parent, edge.neuron) for edge in edges] == [(2, 0, 0), (3, 0, None)]


def test_dots_are_coloured_by_fate_and_grow_with_the_share():
    hierarchy = by_hand(8)
    ax = HierarchyDisplay(hierarchy).plot().ax_
    for fate, colour in FATE_COLOURS.items():
        (dots,) = artists(ax, fate.name.lower())
        assert {to_hex(face) for face in dots.get_facecolors()} == {colour.lower()}
        assert len(dots.get_offsets()) == 2
        small, large = dots.get_widths()
        assert small < large
    (members,) = artists(ax, "members")
    assert len(members.get_offsets()) == 2 * 2


def test_a_small_tree_is_labelled(model):
    display = HierarchyDisplay.from_estimator(model)
    shares = sorted(percent(share) for share in display.to_frame()["share"])
    assert sorted(text for text in texts(display.ax_) if text.endswith("%")) == shares
    assert any("x0" in text and ">" in text for text in texts(display.ax_))
    captions = "\n".join(texts(display.ax_))
    for level in model.hierarchy_.levels[1:]:
        assert f"subsets cover {percent(level.coverage)} of rows" in captions
    unlabelled = HierarchyDisplay.from_estimator(model, labels=False)
    assert not any(text.endswith("%") for text in texts(unlabelled.ax_))


def test_dots_stay_in_their_boxes_and_edges_begin_at_them():
    hierarchy = by_hand(30)
    ax = HierarchyDisplay(hierarchy).plot().ax_
    (boxes,) = artists(ax, "networks")[:1]
    box = boxes.get_paths()[0].get_extents()
    for fate in Fate:
        (dots,) = artists(ax, fate.name.lower())
        reach = np.repeat(dots.get_widths()[:, None] / 2, 2, axis=1)
        assert (dots.get_offsets() - reach >= box.min).all()
        assert (dots.get_offsets() + reach <= box.max).all()
    (kept,), (lines,) = artists(ax, "kept"), artists(ax, "edges")
    begins = np.array([segment[0] for segment in lines.get_segments()])
    np.testing.assert_allclose(begins, kept.get_offsets())


def test_too_many_neurons_become_bars_of_the_right_heights():
    hierarchy = by_hand(9)  # three are kept, two of each other fate
    ax = HierarchyDisplay(hierarchy).plot(max_neurons=8).ax_
    heights = {}
    for fate in Fate:
        (bars,) = artists(ax, fate.name.lower())
        (path,) = bars.get_paths()
        heights[fate] = np.ptp(path.vertices[:, 1])
    whole = sum(heights.values())
    assert heights[Fate.KEPT] / whole == pytest.approx(3 / 9)
    assert heights[Fate.TOO_SMALL] / whole == pytest.approx(2 / 9)


def test_one_level_of_draws():
    X, y = table()
    model = LIFERegressor(Bootstrap(6), LLA(2, max_iter=3), random_state=0).fit(X, y)
    ax = HierarchyDisplay.from_estimator(model).ax_
    assert any("bootstrap draws" in text for text in texts(ax))
    assert not artists(ax, "edges")[0].get_segments()


def test_on_axes_that_were_given(model):
    figure, (left, right) = plt.subplots(1, 2)
    assert HierarchyDisplay.from_estimator(model, ax=left).ax_ is left
    display = PartitionDisplay.from_estimator(model, table()[0], ax=right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert len(display.axes_) == 4
    figure.canvas.draw()
    with pytest.raises(ValueError, match=r"plt\.subplots"):
        PartitionDisplay.from_estimator(model, table()[0], ax=figure.add_axes((0, 0, 1, 1)))


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0%"), (0.001, "<1%"), (0.23, "23%"), (0.999, ">99%"), (1.0, "100%")],
)
def test_shares_are_never_rounded_to_none_or_all(share, text):
    assert percent(share) == text


# The partition.


def check_sides(hierarchy, X, level, **options):
    """The shaded polygons hold exactly the points of a grid that fulfil the predicate."""
    display = PartitionDisplay(hierarchy, X, level=level, **options).plot()
    regions = regions_of(hierarchy, level, display.cutoff)
    assert len(display.axes_) == len(regions) + 1
    for ax, (split, region) in zip(display.axes_[:-1], regions, strict=True):
        (low_x, high_x), (low_y, high_y) = ax.get_xlim(), ax.get_ylim()
        grid = np.stack(
            np.meshgrid(np.linspace(low_x, high_x, 23), np.linspace(low_y, high_y, 19)), -1
        ).reshape(-1, 2)
        heights = grid @ region.weights.T + region.bias - region.cutoff
        inside = (heights > 0).all(axis=1)
        clear = (np.abs(heights) > 1e-9 * np.abs(heights).max()).all(axis=1)
        shaded = np.zeros(len(grid), dtype=bool)
        for patch in ax.patches:
            assert patch.get_gid() == f"{split.fate.name.lower()}-{split.network}-{split.neuron}"
            assert (patch.get_hatch() is None) == (split.fate is Fate.KEPT)
            shaded |= Path(patch.get_xy()).contains_points(grid)
        np.testing.assert_array_equal(shaded[clear], inside[clear])
    kept = [split for split, _ in regions if split.fate is Fate.KEPT]
    assert len(display.axes_[-1].patches) == len(kept)
    return display


@pytest.mark.parametrize("level", [1, 2])
def test_the_shaded_side_is_where_the_predicate_holds(model, level):
    display = check_sides(model.hierarchy_, table()[0], level)
    after = model.hierarchy_.levels[level]
    assert percent(display.coverage) in display.axes_[-1].get_title()
    assert display.coverage == pytest.approx(after.coverage, abs=0.05)


@pytest.mark.parametrize("settings", [{"cutoff": 0.4}, {"nested": True}], ids=str)
def test_regions_are_the_subsets_that_were_trained_on(settings):
    model, X = fitted(**settings)
    check_sides(model.hierarchy_, X, 2)
    for level in (1, 2):
        subsets = {one.parent: one for one in model.hierarchy_.levels[level].subsets}
        assert subsets
        kept = {
            region.parent: region
            for split, region in regions_of(model.hierarchy_, level)
            if split.fate is Fate.KEPT
        }
        assert kept.keys() == subsets.keys()
        for parent, subset in subsets.items():
            np.testing.assert_allclose(kept[parent].weights, subset.weights)
            np.testing.assert_allclose(kept[parent].bias, subset.bias)
            assert kept[parent].cutoff == subset.cutoff


def test_the_cutoff_is_the_samplers_where_no_subset_shows_it():
    model, X = fitted(cutoff=0.7, lower=0.98, upper=0.99)
    assert not any(split.fate is Fate.KEPT for split in model.hierarchy_.levels[0].splits)
    frame = PartitionDisplay.from_estimator(model, X).to_frame()
    assert set(frame["cutoff"]) == {0.7}
    # Close, not equal: validation rows count here too.
    np.testing.assert_allclose(frame["share_here"], frame["share"], atol=0.05)


def test_the_frame_of_a_partition(model):
    X = table()[0]
    frame = PartitionDisplay(model.hierarchy_, X, level=2, names=["east", "north"]).to_frame()
    above = model.hierarchy_.to_frame().query("level == 2").reset_index(drop=True)
    assert frame[list(above)].equals(above)
    for row in frame.to_dict("records"):
        score = X @ [row["weight of east"], row["weight of north"]] + row["bias"]
        assert row["share_here"] == pytest.approx((score > row["cutoff"]).mean())


def test_panels_say_share_and_fate_and_the_axes_are_named():
    display = PartitionDisplay(by_hand(), table()[0], names=["east", "north"]).plot()
    titles = [ax.get_title() for ax in display.axes_]
    assert titles[0] == "neuron 0\n20%, kept"
    assert titles[1] == "neuron 1\n40%, dropped: too small"
    assert titles[3] == "neuron 3\n80%, dropped: not drawn"
    assert display.axes_[0].get_xlabel() == "east"
    assert display.axes_[0].get_ylabel() == "north"


def test_panels_beyond_the_most_are_counted():
    hierarchy, X = by_hand(30), table()[0]
    display = PartitionDisplay(hierarchy, X).plot(max_panels=24)
    assert len(display.axes_) == 24
    assert "7 of 30 neurons are not shown" in display.figure_.get_suptitle()
    _, ax = plt.subplots()
    inside = PartitionDisplay(hierarchy, X).plot(ax, max_panels=3)
    assert "28 of 30 neurons are not shown" in inside.axes_[-1].figure.get_suptitle()
    with pytest.raises(ValueError, match="max_panels must be at least 2"):
        display.plot(max_panels=1)


@pytest.mark.parametrize(
    ("weights", "bias", "n_corners"),
    [((1.0, 1.0), -0.5, 5), ((0.0, 0.0), 1.0, 4), ((0.0, 0.0), -1.0, 0), ((1.0, 0.0), -2.0, 0)],
)
def test_corners_of_a_region(weights, bias, n_corners):
    subset = Subset(np.array([weights]), np.array([bias]))
    assert region_polygon(subset, (0, 0), (1, 1)).shape == (n_corners, 2)


def test_errors_name_the_remedy(model):
    X = table()[0]
    wide, X_wide = fitted(3)
    with pytest.raises(ValueError, match=r"two columns; this one has 3.*HierarchyDisplay"):
        PartitionDisplay.from_estimator(wide, X_wide)
    HierarchyDisplay.from_estimator(wide)
    with pytest.raises(ValueError, match=r"shape \(300, 3\)"):
        PartitionDisplay.from_estimator(model, X_wide)
    with pytest.raises(ValueError, match="not finite"):
        PartitionDisplay.from_estimator(model, np.full_like(X, np.nan))
    with pytest.raises(ValueError, match=r"Level 3 has no neurons.*levels \[1, 2\]"):
        PartitionDisplay.from_estimator(model, X, level=3)
    with pytest.raises(ValueError, match="Level 0 has no neurons"):
        PartitionDisplay.from_estimator(model, X, level=0)


def test_columns_of_a_frame():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(table()[0], columns=["east", "north"])
    assert PartitionDisplay(by_hand(), X).names == ("east", "north")
    with pytest.raises(ValueError, match="the model knows"):
        PartitionDisplay(by_hand(), X, names=["north", "east"])
