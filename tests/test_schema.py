import numpy as np
import pandas as pd
import pytest

from lifenet import FeatureSchema
from lifenet.schema import check_finite

X = np.array([[1.0, 5.0], [3.0, 4.0]])


def test_ranges_names_and_groups_are_read_from_a_table():
    schema = FeatureSchema.of(X, ["age", "income"])
    assert schema.names == ("age", "income")
    assert schema.lower == (1.0, 4.0)
    assert schema.upper == (3.0, 5.0)
    assert schema.groups == (("age", (0,)), ("income", (1,)))
    assert FeatureSchema.of(X).names == ("x0", "x1")


def test_dummies_can_share_a_group():
    schema = FeatureSchema.of(X, ["sex=F", "sex=M"], [("sex", [0, 1])])
    assert schema.groups == (("sex", (0, 1)),)


def test_cells_outside_the_training_range_are_flagged():
    outside = FeatureSchema.of(X).outside(np.array([[0.9, 4.5], [3.0, 5.1]]))
    assert outside.tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"names": ["a", "a"]}, "a came twice"),
        ({"names": ["a"]}, "1 entries for 2 columns"),
        ({"groups": [("a", ["z"])]}, "'a' has a column 'z'; there are x0, x1"),
        ({"groups": [("a", [2])]}, "'a' has a column 2; there are x0, x1"),
        ({"groups": [("a", [])]}, "'a' has no columns"),
        ({"groups": [("a", [0, 1]), ("b", [1])]}, "hold columns \\[0, 1, 1\\]"),
    ],
)
def test_parts_that_disagree_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        FeatureSchema.of(X, **settings)


def test_nan_and_shapes_are_seen_when_asking_what_lies_outside():
    schema = FeatureSchema.of(X, ["age", "income"])
    assert schema.outside([[np.nan, 4.5]]).tolist() == [[True, False]]
    with pytest.raises(ValueError, match=r"2 columns \(age, income\); it has shape \(1, 1\)"):
        schema.outside([[1.0]])


def test_names_come_with_a_frame_and_the_value_can_be_hashed():
    schema = FeatureSchema.of(pd.DataFrame(X, columns=["age", "income"]))
    assert schema.names == ("age", "income")
    assert hash(schema) == hash(FeatureSchema.of(X, ["age", "income"]))


@pytest.mark.parametrize(
    ("value", "kind", "remedy"),
    [
        (np.nan, "NaN", "SimpleImputer"),
        (-np.inf, "infinity", "Replace it"),
        (1e200, r"a value too large \(1e\+200\)", "Rescale the column"),
    ],
)
def test_the_first_bad_cell_is_named(value, kind, remedy):
    table = np.zeros((70_000, 3))  # not in the first block of rows
    table[69_000, 1] = value
    table[69_500, 0] = value
    with pytest.raises(ValueError, match=f"{kind}: column 'b' .*row 69000.*{remedy}"):
        check_finite(table, ["a", "b", "c"])
    with pytest.raises(ValueError, match="column 'x1'"):
        check_finite(table)


def test_groups_name_columns_or_number_them_and_leave_the_rest_alone():
    X = np.zeros((3, 4))
    names = ["age", "job=A", "job=B", "income"]
    plain = FeatureSchema.of(X, names)
    expected = (("age", (0,)), ("job", (1, 2)), ("income", (3,)))
    assert FeatureSchema.of(X, names, [("job", ["job=A", "job=B"])]).groups == expected
    assert plain.grouped({"job": [1, 2]}).groups == expected
    turned = {"income": [3], "job": [1, 2], "age": [0]}
    assert [name for name, _ in plain.grouped(turned).groups] == ["income", "job", "age"]
    assert plain.grouped({"job": ["job=A", 2]}).grouped({}).groups == plain.groups
    with pytest.raises(ValueError, match="exactly one group"):
        plain.grouped({"job": [1, 2], "work": [2]})
