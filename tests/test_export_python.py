"""Python modules without dependencies say what the model says."""

import ast
import datetime as dt
import math
import subprocess
import sys
import time
import types

import numpy as np
import pytest
from benchmarks.files.exports import rows_of

from exported_models import CLASSES, INJECTED, NAMES, QUOTED, case, close, default, expanded
from lifenet.export import to_python


def module_of(model):
    text = to_python(model)
    module = types.ModuleType("exported")
    exec(compile(text, "exported.py", "exec"), module.__dict__)
    return module


def check(one):
    module = module_of(one.model)
    rows = rows_of(one.model, one.rows)
    width = one.scores.shape[1]
    scores = np.array([module.score(row) for row in rows]).reshape(-1, width)
    close(scores, one.scores)
    predictions = [module.predict(row) for row in rows]
    if hasattr(one.model, "classes_"):
        assert predictions == one.predictions.tolist()
        shares = [list(module.probability(row).values()) for row in rows]
        close(shares, one.probabilities)
        assert list(module.probability(rows[0])) == one.model.classes_.tolist()
    else:
        close(predictions, one.predictions)
    expected, rest = one.contributions
    parts = [list(module.contributions(row).values()) for row in rows]
    close(np.reshape(parts, expected.shape), expected)
    close(np.reshape([module.local_intercept(row) for row in rows], rest.shape), rest)
    assert list(module.contributions(rows[0])) == [name for name, _ in one.model.schema_.groups]


@pytest.mark.parametrize("name", NAMES)
def test_scores_predictions_and_contributions_are_those_of_the_model(name):
    check(case(name))


@pytest.mark.parametrize("classes", [False, True])
def test_a_default_model_is_the_same_and_loads_at_once(classes):
    one = default(classes)
    check(one)
    text = to_python(one.model)
    start = time.process_time()
    exec(compile(text, "exported.py", "exec"), {})
    assert time.process_time() - start < 1.0


def test_contributions_are_those_of_the_network_where_no_neuron_is_on_its_kink():
    """The oracle of the tests is the network's own equation."""
    for name in ("paper", "single", "plain paper"):
        one = case(name)
        X = one.columns
        own = one.model.network_.contributions(X)
        by_feature = [own[:, list(c)].sum(axis=1) for _, c in one.model.schema_.groups]
        close(np.stack(by_feature, axis=1), one.contributions[0])
        close(one.model.network_.local_intercept(X), one.contributions[1])


def test_only_the_standard_library_is_imported():
    text = to_python(case("quick").model)
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.partition(".")[0])
    assert found <= set(sys.stdlib_module_names)
    assert "math" in found


def test_the_module_runs_by_itself(tmp_path):
    one = case("plain")
    (tmp_path / "model.py").write_text(to_python(one.model), encoding="utf-8")
    row = dict(zip(one.model.schema_.names, one.rows[0].tolist(), strict=True))
    command = f"import model; print(repr(model.predict({row!r})))"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, '.'); {command}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    close(float(ran.stdout), one.predictions[0])


def test_dates_may_be_dates_moments_or_text():
    one = case("quick")
    module, row = module_of(one.model), rows_of(one.model, one.rows)[20]
    day = row["due"]
    zone = dt.timezone(dt.timedelta(hours=5))
    same = [day.date(), day.isoformat(), day.date().isoformat(), day.replace(tzinfo=zone)]
    expected = module.score(row)
    for given in same:
        assert module.score({**row, "due": given}) == expected
    length = row["wait"] / dt.timedelta(days=1)
    close(module.score({**row, "wait": length}), expected)


def test_further_keys_are_passed_over_and_missing_ones_are_named():
    one = case("quick")
    module, row = module_of(one.model), rows_of(one.model, one.rows)[20]
    assert module.score({**row, "more": 1}) == module.score(row)
    with pytest.raises(ValueError, match=r"no column 'count'; give None"):
        module.score({name: value for name, value in row.items() if name != "count"})


@pytest.mark.parametrize(
    ("column", "value", "wanted"),
    [
        ("number", "3", "a number"),
        ("number", math.inf, "a finite number"),
        ("number", 1e200, "a finite number"),
        (QUOTED, dt.date(2020, 1, 1), "a number"),
        (INJECTED, 3, "text"),
        ("due", 3.0, "a date"),
        ("due", "yesterday", "a date"),
        ("wait", "long", "a number"),
        ("zone", "3", "a number"),
    ],
)
def test_a_value_of_another_kind_is_refused_by_its_column(column, value, wanted):
    one = case("quick")
    module, row = module_of(one.model), rows_of(one.model, one.rows)[20]
    with pytest.raises(ValueError, match=f"should hold {wanted}") as caught:
        module.score({**row, column: value})
    assert repr(column) in str(caught.value)


def test_numbers_are_written_to_the_last_bit():
    network = case("plain").model.network_
    module = module_of(case("plain").model)
    codes = []
    for column, first, steps, values in module.CODES:
        knots = module.KNOTS[column]
        part = knots[first : first + steps + 1] if steps else knots
        codes.append((column, part, range(steps + 1) if steps else values))
    readers, weights = module._MODEL.readers, module._MODEL.weights
    entries = [
        (neuron, code, weight)
        for code in range(len(codes))
        for neuron, weight in zip(readers[code], weights[code], strict=True)
    ]
    exact = network.network.dense().weights.astype(float)
    np.testing.assert_array_equal(expanded(network, codes, entries), exact)
    assert module._MODEL.bias == network.network.bias.tolist()
    assert len(entries) < np.count_nonzero(exact)


@pytest.mark.parametrize("name", CLASSES)
def test_classes_are_labels_of_the_user(name):
    labels = module_of(case(name).model).CLASSES
    expected = case(name).model.classes_.tolist()
    assert labels == expected
    assert [type(one) for one in labels] == [type(one) for one in expected]
