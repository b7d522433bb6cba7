"""A reader of a few lines, written from docs/export.md alone, predicts from JSON."""

import datetime as dt
import json
import math

import numpy as np
import pytest
from benchmarks.files.exports import rows_of

from exported_models import NAMES, as_frame, case, close, default, expanded
from lifenet.export import to_json

DAY = dt.timedelta(days=1)
EPOCH = dt.datetime(1970, 1, 1)


def as_number(value, kind):
    if kind == "date":
        moment = value if isinstance(value, dt.datetime) else dt.datetime.fromisoformat(str(value))
        return (moment - EPOCH) // dt.timedelta(microseconds=1) / 86_400e6
    return value / DAY if kind == "duration" else float(value)


def numbers_of(field, value):
    """Columns of numbers of one value."""
    gone = value is None or value != value
    if field["kind"] == "category":
        if gone:
            return field["missing"]
        value = value if field["level_kind"] == "text" else as_number(value, field["level_kind"])
        if value not in field["levels"]:
            return field["unseen"]
        return field["patterns"][field["levels"].index(value)]
    x = field["neutral"] if gone else as_number(value, field["kind"])
    found = [x, float(gone)] if field["gaps"] else [x]
    parts = [one["neutral"] if gone else part_of(value, one["part"]) for one in field["parts"]]
    return found + parts


def part_of(moment, part):
    if part == "hour":
        seconds = moment.second + moment.microsecond / 1e6
        return round(moment.hour + moment.minute / 60 + seconds / 3600, 6)
    return float(moment.month if part == "month" else moment.isoweekday())


def read_score(model, row):
    columns = []
    for field in model["fields"]:
        assert len(columns) == field["columns"][0]
        columns += numbers_of(field, row[field["name"]])
    codes = [
        float(np.interp(columns[one["column"]], one["knots"], one["values"]))
        if one["knots"]
        else columns[one["column"]]
        for one in model["codes"]
    ]
    scores = list(model["intercept"])
    for part in model["linear"]:
        for output, value in enumerate(part["coefficients"]):
            scores[output] += value * codes[part["code"]]
    for neuron in model["neurons"]:
        terms = zip(neuron["codes"], neuron["weights"], strict=True)
        height = neuron["bias"] + math.fsum(weight * codes[code] for code, weight in terms)
        for output, value in enumerate(neuron["coefficients"]):
            scores[output] += value * max(0.0, height)
    return scores


def read_prediction(model, scores):
    if model["link"] == "identity":
        return scores[0]
    if model["link"] == "logit":
        return model["classes"][scores[0] > 0]
    return model["classes"][int(np.argmax(scores))]


def check(one):
    text = to_json(one.model)
    model = json.loads(text)
    scores = [read_score(model, row) for row in rows_of(one.model, one.rows)]
    close(scores, one.scores)
    found = [read_prediction(model, score) for score in scores]
    if model["classes"] is None:
        close(found, one.predictions)
    else:
        assert found == one.predictions.tolist()
    assert [one["name"] for one in model["fields"]] == list(as_frame(one).columns)


@pytest.mark.parametrize("name", NAMES)
def test_a_reader_predicts_as_the_model_does(name):
    check(case(name))


def test_a_default_model_is_read_as_well():
    check(default(False))


def test_numbers_have_all_their_digits():
    network = case("quick").model.network_
    model = json.loads(to_json(case("quick").model))
    codes = [(one["column"], one["knots"], one["values"]) for one in model["codes"]]
    entries = [
        (number, code, weight)
        for number, one in enumerate(model["neurons"])
        for code, weight in zip(one["codes"], one["weights"], strict=True)
    ]
    exact = network.network.dense().weights.astype(float)
    np.testing.assert_array_equal(expanded(network, codes, entries), exact)
    for column, knots, _ in codes:
        assert set(knots) <= set(network.coding.knots[column].tolist())


def test_the_file_says_what_it_is():
    model = json.loads(to_json(case("three classes").model, indent=1))
    assert (model["format"], model["version"], model["link"]) == ("lifenet", 1, "softmax")
    assert model["classes"] == ["high", "low", "mid'dle"]
    assert [one["name"] for one in model["features"]][:2] == ["number", "in\"come's"]
