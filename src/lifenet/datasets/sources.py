"""What OpenML calls the datasets, and how its columns and codes translate into ours.

Sets without an entry are not on OpenML in a form known to equal ours (a repaired or partial copy,
or one that was cleaned or renamed there), and come from the local folder only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifenet.datasets.openml import OpenMLSource

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SOURCES"]


def _normalise_weather(table: pd.DataFrame) -> pd.DataFrame:
    """Undo the units of OpenML's bike sharing: UCI divides by the largest value, then rounds."""
    return table.assign(
        temp=(table["temp"] / 41.0).round(2),
        atemp=(table["atemp"] / 50.0).round(4),
        windspeed=(table["windspeed"] / 67.0).round(4),
    )


def _to_bytes(table: pd.DataFrame) -> pd.DataFrame:
    return table.astype("uint8")


def _images(first: int, last: int) -> OpenMLSource:
    """MNIST is one table on OpenML: 60000 images to train on, then 10000 to test with."""
    pixels = (f"pixel{j}" for j in range(784))
    columns = (*pixels, "label")
    return OpenMLSource(554, columns, by_place=True, rows=(first, last), adjust=_to_bytes)


def _codes(letter: str, *labels: str) -> dict[str, str]:
    """UCI's codes of the German credit data: the column's number, then 1, 2, ... for the labels."""
    return {label: f"{letter}{place}" for place, label in enumerate(labels, start=1)}


_TRUTH = {"False": 0, "True": 1}
_BANK = (
    *("age", "job", "marital", "education", "default", "balance", "housing", "loan", "contact"),
    *("day", "month", "duration", "campaign", "pdays", "previous", "poutcome", "y"),
)
_BANK_TEXT = ("job", "marital", "education", "default", "housing", "loan", "contact", "month")
_MUSHROOM = (
    *("cap-shape", "cap-surface", "cap-color", "bruises", "odor", "gill-attachment"),
    *("gill-spacing", "gill-size", "gill-color", "stalk-shape", "stalk-root"),
    *("stalk-surface-above-ring", "stalk-surface-below-ring", "stalk-color-above-ring"),
    *("stalk-color-below-ring", "veil-type", "veil-color", "ring-number", "ring-type"),
    *("spore-print-color", "population", "habitat", "class"),
)
_GERMAN_CODES: dict[str, dict[str, Any]] = {
    "checking_status": _codes("A1", "<0", "0<=X<200", ">=200", "no checking"),
    "credit_history": {
        "no credits/all paid": "A30",
        "all paid": "A31",
        "existing paid": "A32",
        "delayed previously": "A33",
        "critical/other existing credit": "A34",
    },
    "purpose": {
        "new car": "A40",
        **_codes("A4", "used car", "furniture/equipment", "radio/tv", "domestic appliance"),
        "repairs": "A45",
        "education": "A46",
        "vacation": "A47",
        "retraining": "A48",
        "business": "A49",
        "other": "A410",
    },
    "savings_status": _codes(
        "A6", "<100", "100<=X<500", "500<=X<1000", ">=1000", "no known savings"
    ),
    "employment": _codes("A7", "unemployed", "<1", "1<=X<4", "4<=X<7", ">=7"),
    "personal_status": _codes(
        "A9", "male div/sep", "female div/dep/mar", "male single", "male mar/wid", "female single"
    ),
    "other_parties": _codes("A10", "none", "co applicant", "guarantor"),
    "property_magnitude": _codes(
        "A12", "real estate", "life insurance", "car", "no known property"
    ),
    "other_payment_plans": _codes("A14", "bank", "stores", "none"),
    "housing": _codes("A15", "rent", "own", "for free"),
    "job": _codes(
        *("A17", "unemp/unskilled non res", "unskilled resident", "skilled"),
        "high qualif/self emp/mgmt",
    ),
    "own_telephone": _codes("A19", "none", "yes"),
    "foreign_worker": _codes("A20", "yes", "no"),
    "class": {"good": 1, "bad": 2},
}

SOURCES = {
    "abalone": OpenMLSource(
        183,
        (
            *("Sex", "Length", "Diameter", "Height", "Whole weight", "Shucked weight"),
            *("Viscera weight", "Shell weight", "Rings"),
        ),
        by_place=True,
        text=("Sex",),
    ),
    "airfoil": OpenMLSource(
        44957,
        (
            *("frequency", "attack-angle", "chord-length", "free-stream-velocity"),
            *("suction-side-displacement-thickness", "scaled-sound-pressure"),
        ),
        by_place=True,
    ),
    "bike_sharing": OpenMLSource(
        42712,
        (
            *("season", "yr", "mnth", "hr", "holiday", "weekday", "workingday", "weathersit"),
            *("temp", "atemp", "hum", "windspeed", "cnt"),
        ),
        by_place=True,
        codes={
            "season": {"spring": 1, "summer": 2, "fall": 3, "winter": 4},
            "holiday": _TRUTH,
            "workingday": _TRUTH,
            "weathersit": {"clear": 1, "misty": 2, "rain": 3, "heavy_rain": 4},
        },
        adjust=_normalise_weather,
    ),
    "california_housing": OpenMLSource(
        537,
        (
            *("longitude", "latitude", "housing_median_age", "total_rooms", "total_bedrooms"),
            *("population", "households", "median_income", "median_house_value"),
        ),
    ),
    "casp": OpenMLSource(44963, ("RMSD", *(f"F{j}" for j in range(1, 10)))),
    "electrical_grid": OpenMLSource(
        44973,
        (
            *("tau1", "tau2", "tau3", "tau4", "p2", "p3", "p4"),
            *("g1", "g2", "g3", "g4", "stab"),
        ),
    ),
    "bank_marketing": OpenMLSource(
        1461,
        _BANK,
        by_place=True,
        codes={"y": {"1": "no", "2": "yes"}},
        text=(*_BANK_TEXT, "poutcome"),
    ),
    "breast_cancer": OpenMLSource(
        15,
        (
            *("Clump_thickness", "Uniformity_of_cell_size", "Uniformity_of_cell_shape"),
            *("Marginal_adhesion", "Single_epithelial_cell_size", "Bare_nuclei"),
            *("Bland_chromatin", "Normal_nucleoli", "Mitoses", "Class"),
        ),
        by_place=True,
        codes={"Class": {"benign": 2, "malignant": 4}},
    ),
    "magic": OpenMLSource(
        1120,
        (
            *("fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym", "fM3Long", "fM3Trans"),
            *("fAlpha", "fDist", "class"),
        ),
        text=("class",),
    ),
    "mushroom": OpenMLSource(24, _MUSHROOM, text=_MUSHROOM, missing={"stalk-root": "?"}),
    "ringnorm_keel": OpenMLSource(
        1496,
        (*(f"A{j}" for j in range(1, 21)), "target"),
        by_place=True,
        codes={"target": {"1": 0, "2": 1}},
    ),
    "mnist": _images(0, 60_000),
    "mnist_test": _images(60_000, 70_000),
    "taiwan_credit": OpenMLSource(
        42477,
        (
            *("LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE"),
            *("PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6"),
            *(f"BILL_AMT{j}" for j in range(1, 7)),
            *(f"PAY_AMT{j}" for j in range(1, 7)),
            "default_payment_next_month",
        ),
        by_place=True,
    ),
    "german_credit": OpenMLSource(
        31,
        (
            *("checking_status", "duration", "credit_history", "purpose", "credit_amount"),
            *("savings_status", "employment", "installment_commitment", "personal_status"),
            *("other_parties", "residence_since", "property_magnitude", "age"),
            *("other_payment_plans", "housing", "existing_credits", "job", "num_dependents"),
            *("own_telephone", "foreign_worker", "class"),
        ),
        codes=_GERMAN_CODES,
    ),
}
