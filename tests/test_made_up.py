"""Made-up tables have the layout of the real ones: what they stand in for."""

import pandas as pd
import pytest

from lifenet import datasets
from lifenet.datasets import registry
from lifenet.datasets.fingerprints import expected, fingerprint
from made_up import EMPTY, GAPS, LAYOUTS, both, table

FILES = {recipe.file: recipe for recipe in registry.RECIPES.values()}


def test_every_file_has_a_layout():
    assert set(LAYOUTS) == set(FILES)


@pytest.mark.parametrize("which", both(LAYOUTS))
def test_columns_dtypes_labels_and_gaps_are_those_of_the_layout(which, home_of):
    origin, file = which
    recipe, layout = FILES[file], LAYOUTS[file]
    found = pd.read_parquet(home_of(origin) / f"{file}.parquet")
    assert list(found) == list(layout)
    assert set(found.columns[found.isna().any()]) == set(GAPS.get(file, ()))
    for name, kind in layout.items():
        if not isinstance(kind, tuple):
            assert found[name].dtype == kind
        elif isinstance(kind[0], str) and name not in recipe.drop:
            assert set(found[name].dropna()) == set(kind)
        elif not isinstance(kind[0], str):
            assert found[name].dtype == pd.Series(kind).dtype
            assert set(found[name]) <= set(kind)


@pytest.mark.parametrize("name", datasets.available())
def test_what_is_made_of_it_has_the_stored_names(name, made_up_home):
    """Columns, target and classes are hashed: they are those of the real data, to the letter."""
    found = fingerprint(datasets.load(name, data_home=made_up_home))
    wanted = expected(name)
    assert found.names == wanted.names
    assert found.shape[1] == wanted.shape[1]
    assert found.any_order != wanted.any_order


def test_only_rows_without_a_record_or_complete_predictors_are_left_out(made_up_home):
    for name, recipe in registry.RECIPES.items():
        n_left_out = len(EMPTY) if name in {"heloc", "breast_cancer"} else 0
        data = datasets.load(name, data_home=made_up_home)
        assert len(data.X) == len(table(recipe.file)) - n_left_out
