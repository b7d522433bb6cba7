"""Scorecards add up to the model's log-odds, as near as steps can be."""

import csv
import datetime as dt
import io
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from exported_models import QUICK, QUOTED, asked, case, close, table
from lifenet import LIFEClassifier, LLAClassifier
from lifenet.export import to_scorecard
from lifenet.export.bins import best_bins


@cache
def additive():
    """A model of two classes that is a sum of effects of single columns, and its rows."""
    frame = table(120)
    y = frame["count"] + 1.5 * np.sin(frame["number"] / 900) + 2 * (frame["zone"] == 3)
    y += frame["due"].dt.day_of_week / 3 + 0.5 * np.random.default_rng(0).normal(size=len(frame))
    labels = np.where(y > np.median(y), "good", "bad")
    settings = {"preset": QUICK, "interaction_cst": "no_interactions", "random_state": 0}
    return LIFEClassifier(**settings).fit(frame, labels), frame


def model_points(model, X, good=True):
    """600 at odds of 50, 20 more for twice the odds."""
    log_odds = model.decision_function(X) * (1 if good else -1)
    return 600 + 20 * (log_odds - np.log(50)) / np.log(2)


@pytest.mark.parametrize("good", ["good", "bad"])
def test_with_a_bin_for_each_value_points_are_those_of_the_model(good):
    model, frame = additive()
    card = to_scorecard(model, frame, good=good, max_bins=1_000, decimals=None)
    close(card.points(frame), model_points(model, frame, good == "good"), 1e-7)
    assert card.largest_difference < 1e-4
    share = model.predict_proba(frame)[:, model.classes_.tolist().index(good)]
    close(card.probability(frame), share, 1e-7)


def test_gaps_and_levels_that_training_did_not_have_are_the_models():
    model, frame = additive()
    card = to_scorecard(model, max_bins=1_000, decimals=None, good="good")
    new = asked()
    same = ["number", QUOTED, "count", "owner", "day", "due", "wait"]
    known = frame.iloc[np.arange(len(new)) % len(frame)].reset_index(drop=True)
    new[same] = known[same]
    new[QUOTED] = np.where(np.arange(len(new)) % 3 == 0, np.nan, new[QUOTED])
    new["day"] = new["day"].where(np.arange(len(new)) % 4 != 0, pd.NaT)
    assert (model.schema_.outside(new)).any()
    close(card.points(new), model_points(model, new), 1e-7)


def test_the_card_says_how_far_it_is_from_the_model():
    model, frame = additive()
    card = to_scorecard(model, frame, good="good")
    apart = np.abs(card.points(frame) - model_points(model, frame))
    close(card.largest_difference, apart.max())
    close(card.mean_difference, apart.mean())
    assert f"{apart.mean():.2f} points on average and by {apart.max():.2f} at most" in card.meaning
    assert apart.max() > 0.5
    assert np.isnan(to_scorecard(model, good="good").mean_difference)
    coarse = to_scorecard(model, frame, max_bins=2, good="good")
    assert coarse.mean_difference > 2 * card.mean_difference


def test_points_are_whole_numbers_unless_told_otherwise():
    model, frame = additive()
    points = np.array([row[2] for row in to_scorecard(model, good="good").rows()])
    assert np.all(points == np.round(points))
    assert not np.any(np.signbit(points) & (points == 0))
    tenths = np.array([row[2] for row in to_scorecard(model, decimals=1, good="good").rows()])
    assert np.any(tenths != np.round(tenths))
    assert to_scorecard(model, frame, decimals=1, good="good").mean_difference < 20


def test_points_double_the_odds():
    model, frame = additive()
    base = {"max_bins": 1_000, "decimals": None}
    one = to_scorecard(model, points_to_double=40, base_points=0, base_odds=1, **base, good="good")
    odds = np.exp(model.decision_function(frame))
    close(2 ** (one.points(frame) / 40), odds, 1e-6)


def test_every_feature_has_mean_zero_over_the_training_rows():
    model, frame = additive()
    card = to_scorecard(model, decimals=None, good="good")
    for one in card.features:
        close(one.share.sum(), 1.0)
        close(one.share @ one.points, 0.0, 1e-6)
        assert len(one.labels) == len(one.points) == len(one.share)
    close(card.points(frame).mean(), card.base, 1e-6)


def test_bins_say_what_is_in_them():
    model, frame = additive()
    card = to_scorecard(model, good="good")
    by_name = {one.name: one for one in card.features}
    count = by_name["count"]
    middle = [f"{n} to below {n + 1}" for n in range(1, 5)]
    assert count.labels == ("below 1", *middle, "5 and above")
    expected = np.bincount(frame["count"], minlength=6) / len(frame)
    close(count.share, expected)
    assert by_name[QUOTED].labels[-1] == "missing"
    close(by_name[QUOTED].share[-1], frame[QUOTED].isna().mean())
    assert by_name["owner"].labels == ("false", "true")
    for cut in by_name["due"].labels[0].removeprefix("below ").split():
        dt.date.fromisoformat(cut)
    assert all(len(label) < 30 for label in by_name["number"].labels)
    shares = dict(zip(by_name["zone"].labels, by_name["zone"].share, strict=True))
    close(shares["10"], (frame["zone"] == 10).mean())
    assert {"another level", "missing"} <= set(shares)


def test_frames_csv_and_html_hold_every_row():
    model, frame = additive()
    card = to_scorecard(model, frame, good="good")
    rows = list(card.rows())
    shown = card.to_frame()
    assert shown.columns.tolist() == ["feature", "value", "points", "share"]
    assert list(shown.itertuples(index=False, name=None)) == rows
    assert str(card) == card.to_csv()
    head, *read = csv.reader(io.StringIO(card.to_csv()))
    assert head == shown.columns.tolist()
    assert [(a, b, float(p), float(s)) for a, b, p, s in read] == rows
    page = card.to_html()
    assert page.count("<tr>") == len(rows) + 1
    assert "x&quot;); DROP TABLE t; --" in page
    assert 'x"); DROP' not in page
    assert card.meaning.replace("'", "&#x27;") in page
    assert "Scorecard(" in repr(card)


def test_models_that_no_card_can_hold_are_named():
    with pytest.raises(ValueError, match="interaction_cst='no_interactions'"):
        to_scorecard(case("two classes").model)
    with pytest.raises(ValueError, match="it was given a model of 3 classes"):
        to_scorecard(case("three classes").model)
    with pytest.raises(ValueError, match="it was given a regression"):
        to_scorecard(case("quick").model)
    model, _ = additive()
    with pytest.raises(
        ValueError, match=r"\['bad', 'good'\]. Name the one whose odds .* good='bad'"
    ):
        to_scorecard(model)
    with pytest.raises(ValueError, match="good='best' is no class"):
        to_scorecard(model, good="best")
    with pytest.raises(ValueError, match="points_to_double is 0; it must be positive"):
        to_scorecard(model, points_to_double=0, good="good")
    with pytest.raises(ValueError, match="base_odds is -1; it must be positive"):
        to_scorecard(model, base_odds=-1, good="good")
    with pytest.raises(ValueError, match="max_bins is 0"):
        to_scorecard(model, max_bins=0, good="good")


def test_a_plain_table_of_one_column_needs_no_constraint():
    x = np.random.default_rng(0).normal(size=(80, 1))
    model = LLAClassifier(3, max_iter=5, random_state=0).fit(x, x[:, 0] + x[:, 0] ** 2 > 0.5)
    card = to_scorecard(model, x, max_bins=100, decimals=None, good=True)
    close(card.points(x), model_points(model, x), 1e-6)
    assert [one.name for one in card.features] == ["x0"]


@pytest.mark.parametrize("most", [1, 2, 3, 5, 9])
def test_bins_are_the_best_of_all_that_so_many_can_be(most):
    rng = np.random.default_rng(most)
    effect, weight = rng.normal(size=9), rng.integers(1, 5, 9).astype(float)

    def cost(starts):
        parts = zip(starts, [*starts[1:], 9], strict=True)
        spans = [slice(*part) for part in parts]
        means = [np.average(effect[one], weights=weight[one]) for one in spans]
        return sum(
            weight[one] @ (effect[one] - mean) ** 2 for one, mean in zip(spans, means, strict=True)
        )

    found = best_bins(effect, weight, most, 0.0)
    every = min(cost([0, *rest]) for rest in combinations(range(1, 9), most - 1))
    close(cost(found.tolist()), every)
    assert len(found) == most


def test_bins_are_as_few_as_are_near_enough():
    effect = np.array([0.0, 0.1, 5.0, 5.1, 5.0])
    assert best_bins(effect, np.ones(5), 5, 0.1).tolist() == [0, 2]
    assert best_bins(effect, np.ones(5), 5, 0.0).tolist() == [0, 1, 2, 3, 4]
    assert best_bins(effect, np.ones(5), 1, 0.1).tolist() == [0]
