"""What is compared, as data: sets and their halves, models as they are and models tuned."""

from __future__ import annotations

from benchmarks.life.claims import BLOW_UPS, N_SPLITS
from benchmarks.paper.experiments import TABLES as OF_PAPER
from benchmarks.paper.experiments import Table
from benchmarks.peers.models import BEST, LIFE, MODELS, SMALL

FILE = "peers-runs.jsonl"
#: Names of the tables, in the order in which they are run.
DEFAULT, SPLITS, TUNED = "default", "splits", "tuned"

# The halves were fixed before any rule of the presets was made: rules are made on the first, and
# what they are worth is read from the second. Earlier defaults, those of `scripts/bench life` and
# `scripts/bench paper`, were made in view of sets of both.
DECIDING = (
    "california_housing",
    "bike_sharing",
    "magic",
    "abalone",
    "airfoil",
    "breast_cancer",
    "german_credit",
    "heloc",
    "higgs_atlas_10k",
    "lending_club",
)
CONFIRMING = (
    "casp",
    "electrical_grid",
    "aquatic_toxicity",
    "bank_marketing",
    "ringnorm",
    "higgs_uci_35k",
    "hmeq",
    "taiwan_credit",
    "give_me_some_credit",
    "mushroom",
)
HALVES = {"deciding": DECIDING, "confirming": CONFIRMING}
#: Sets on which LIFE is to have the lowest error.
NAMED = (
    "abalone",
    "airfoil",
    "aquatic_toxicity",
    "bike_sharing",
    "california_housing",
    "casp",
    "electrical_grid",
    "bank_marketing",
    "breast_cancer",
    "magic",
    "ringnorm",
    "higgs_atlas_10k",
    "higgs_uci_35k",
)
#: Sets whose errors are next to nothing: judged by AUC, and in no mean of ratios.
BY_AUC = ("mushroom",)

DATA = {
    data.name: data
    for table in ("real_reg", "real_cla")
    for data in OF_PAPER[table].present
    if data.name in DECIDING + CONFIRMING
}
_ALL = (
    Table(
        DEFAULT,
        "Default settings",
        tuple(DATA.values()),
        (LIFE, SMALL, "XGBoost", "LightGBM", "CatBoost", "EBM", "MLP", "linear"),
        tuned=False,
        most_seeds=5,
    ),
    Table(
        SPLITS,
        "Many splits, default settings",
        tuple(DATA[name] for name in BLOW_UPS),
        (LIFE,),
        tuned=False,
        n_seeds=N_SPLITS,
    ),
    Table(
        TUNED,
        "Tuned",
        tuple(DATA.values()),
        (BEST, "XGBoost", "LightGBM", "CatBoost", "RandomForest", "EBM", "MLP"),
        most_seeds=5,
        as_given=tuple(name for name, model in MODELS.items() if model.space is None),
    ),
)
#: Every table by its name in records.
TABLES: dict[str, Table] = {table.name: table for table in _ALL}
