"""What people see of results: a line or two, and a small table in notebooks."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from benchmarks.recipe.models import QUICK

from lifenet import LIFEClassifier, LIFERegressor, explain
from lifenet._shown import shown


@shown
@dataclass(frozen=True, eq=False)
class Result:
    name: str
    share: float
    few: np.ndarray
    many: np.ndarray
    parts: tuple[float, ...]
    hidden: str = field(default="secret", repr=False)

    def to_frame(self):
        pandas = pytest.importorskip("pandas")
        return pandas.DataFrame({"part": self.parts, "html": "<b>"})


RESULT = Result("x" * 100, 1 / 3, np.array([1.0, 2.5]), np.zeros((40, 3)), tuple(range(20)))


def test_long_things_are_summed_up():
    text = repr(RESULT)
    assert text == (
        f"Result(name='{'x' * 56}..., share=0.3333, few=[1, 2.5], many=array of shape (40, 3), "
        "parts=(20 of int))"
    )


def test_a_notebook_has_the_fields_and_the_first_rows_and_nothing_runs():
    page = RESULT._repr_html_()
    assert "array of shape" not in page  # the table has it
    assert "<th style='text-align:left'>share</th>" in page
    assert page.count("<tr>") == 4 + 12  # fields and rows
    assert "and 8 more rows" in page
    assert "secret" not in page
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    return LIFEClassifier(preset=QUICK, random_state=0).fit(X, X[:, 0] + X[:, 1] > 0), X


def test_everything_public_of_a_fit_is_short_enough_to_read(model):
    fitted, _ = model
    names = ["network_", "recipe_", "coding_", "members_", "hierarchy_", "record_", "folds_"]
    for name in (*names, "stacked_", "schema_", "table_"):
        assert len(repr(getattr(fitted, name))) < 3_000, name


@pytest.mark.parametrize(
    "read",
    [
        lambda m, X: explain.accumulated_effects(m, X),
        lambda m, X: explain.partial_dependence(m, X),
        lambda m, X: explain.feature_importance(m, X),
        lambda m, X: explain.interaction_strength(m, X),
        lambda m, X: explain.decompose(m, X),
        lambda m, X: explain.coefficient_signs(m, X),
        lambda m, X: explain.varying_coefficients(m, X),
        lambda m, X: explain.local_regions(m, X),
        lambda m, X: explain.explain_row(m, X[0], X=X),
        lambda m, X: explain.equation_fidelity(m, X),
    ],
)
def test_every_explanation_is_short_enough_to_read(model, read):
    pytest.importorskip("pandas")
    found = read(*model)
    assert len(repr(found)) < 2_000
    assert repr(found).startswith(type(found).__name__)
    assert len(found._repr_html_()) < 40_000


def test_a_model_of_a_regression_is_a_page_in_a_notebook():
    X = np.random.default_rng(0).normal(size=(200, 3))
    fitted = LIFERegressor(preset=QUICK, random_state=0).fit(X, X[:, 0])
    assert "LIFERegressor" in fitted._repr_html_()
