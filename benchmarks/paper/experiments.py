"""The paper's experiments as data: which tables there are, on which data, with which models.

Nothing here computes or reads a file; `samples` draws the rows, `models` makes the estimators.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

REGRESSION, CLASSIFICATION = "regression", "classification"
#: Names that the paper gives to the error and to the second figure.
METRICS = {REGRESSION: ("RMSE", "R2"), CLASSIFICATION: ("logloss", "AUC")}
#: Models of the paper that go by another name there.
PAPER_MODELS = {"RandomForest": "RF"}

TUNED = ("LIFE(LLA)", "LLA", "LIFE(Adam)", "Adam", "FFNN", "XGBoost", "RandomForest")
#: Models that are fitted as given, too: what tuning gains, and what it costs.
UNTUNED = tuple(f"{one} untuned" for one in ("LIFE(LLA)", "LLA", "LIFE(Adam)", "Adam", "XGBoost"))
#: What knows the truth of a simulation: the noisy truth, and what a model of x can attain.
ORACLE, ATTAINABLE = "Oracle", "Attainable"
SCHEMES = ("NN projection", "Random projection", "Bootstrapping")
SINGLE = "LLA or Adam"
RESNETS = ("ResNet18", "ResNet18_LIFE", "ResNet18_XGBoost", "ResNet18_Adam")


@dataclass(frozen=True)
class Data:
    """One row group of a table.

    Attributes
    ----------
    name : in records
    title : the paper's name, or ours where the paper does not have it
    source : a name of `lifenet.datasets.load`, or of `lifenet.datasets.simulate`
    task : "regression" or "classification"
    n_rows : training and test part together
    predictors : of a simulation, "normal" or "laplace"; empty for real data
    standardised : whether errors are those of a standardised response, as in the paper
    in_paper : whether the paper has a row of this title
    stands_for : what the paper has in its place
    absent : why it can not be run, where it can not
    """

    name: str
    title: str
    source: str
    task: str
    n_rows: int
    predictors: str = ""
    standardised: bool = False
    in_paper: bool = True
    stands_for: str = ""
    absent: str = ""

    @property
    def simulated(self) -> bool:
        return bool(self.predictors)


@dataclass(frozen=True)
class Table:
    """One table of the paper.

    Attributes
    ----------
    name : label in the paper
    title : what it shows
    data : rows, those that can not be run included
    models : columns
    tuned : whether models are tuned first
    n_seeds : replications; None leaves it to the size of the data
    most_seeds : replications of small data, where it is left to the size
    large_seeds : replications of more than 20,000 rows, likewise
    as_given : models that are never tuned
    """

    name: str
    title: str
    data: tuple[Data, ...]
    models: tuple[str, ...]
    tuned: bool = True
    n_seeds: int | None = None
    most_seeds: int = 10
    large_seeds: int = 3
    as_given: tuple[str, ...] = (ORACLE, ATTAINABLE, *UNTUNED)

    @property
    def present(self) -> tuple[Data, ...]:
        """Rows that can be run."""
        return tuple(one for one in self.data if not one.absent)

    def find(self, data: str) -> Data:
        """One row by its name."""
        for one in self.data:
            if one.name == data:
                return one
        raise KeyError(f"{self.name} has no data {data!r}; it has {[d.name for d in self.data]}")

    def models_of(self, data: Data) -> tuple[str, ...]:
        """Columns of one row: in regression the noisy truth is the response itself, no bound."""
        return tuple(m for m in self.models if m != ATTAINABLE or data.task == CLASSIFICATION)

    def seeds_of(self, data: Data) -> range:
        """Many replications where they are cheap."""
        if self.n_seeds is not None:
            return range(self.n_seeds)
        large = self.large_seeds
        by_size = 10 if data.n_rows <= 5_000 else 5 if data.n_rows <= 20_000 else large
        return range(min(by_size, self.most_seeds))


@dataclass(frozen=True, order=True)
class Cell:
    """One fit: a model on one replication of a data set."""

    table: str
    data: str
    model: str
    seed: int


def cells(table: Table) -> list[Cell]:
    """All fits of a table."""
    return [
        Cell(table.name, data.name, model, seed)
        for data in table.present
        for model, seed in product(table.models_of(data), table.seeds_of(data))
    ]


def untuned(model: str) -> str:
    """The name of a model as given."""
    return f"{model} untuned"


def needs_tuning(table: Table, model: str) -> bool:
    """Whether a model is tuned before it is fitted."""
    return table.tuned and model not in table.as_given


def _simulations(name: str, task: str, predictors: str, title: str) -> Table:
    data = tuple(
        Data(source.upper(), source.upper(), source, task, 20_000, predictors)
        for source in ("gam", "aim", "mim")
    )
    return Table(name, title, data, (ORACLE, ATTAINABLE, *UNTUNED, *TUNED), n_seeds=5)


def _real(name: str, title: str, n_rows: int, task: str = REGRESSION) -> Data:
    return Data(name, title, name, task, n_rows)


def _classes(name: str, title: str, n_rows: int) -> Data:
    return _real(name, title, n_rows, CLASSIFICATION)


def _instead(data: Data, of: str = "Home Lending") -> Data:
    return replace(data, in_paper=False, stands_for=of)


_CALIFORNIA = _real("california_housing", "California Housing", 20_640)
_MAGIC = _classes("magic", "MAGIC Gamma Telescope", 19_020)

_REAL_REGRESSION = (
    _real("aquatic_toxicity", "Aquatic Toxicity", 546),
    replace(_real("airfoil", "Airfoil", 1_503), standardised=True),
    _real("abalone", "Abalone", 4_177),
    _real("electrical_grid", "Electrical Grid", 10_000),
    _real("bike_sharing", "Bike Sharing", 17_379),
    _CALIFORNIA,
    _real("casp", "CASP", 45_730),
    _instead(_real("lending_club", "Lending Club (interest rate)", 10_000)),
)
_REAL_CLASSIFICATION = (
    _classes("breast_cancer", "Breast Cancer Wisconsin", 683),
    _classes("ringnorm", "Ringnorm", 7_400),
    _classes("mushroom", "Mushroom", 8_124),
    _MAGIC,
    _classes("bank_marketing", "Bank Marketing", 45_211),
    replace(
        _classes("higgs_boson", "Higgs Boson", 818_238),
        absent="the file of 818,238 rows could not be had",
    ),
    _instead(_classes("higgs_atlas_10k", "Higgs ATLAS, 10k rows", 9_998), "Higgs Boson"),
    _instead(_classes("higgs_uci_35k", "Higgs UCI, 35k rows", 35_298), "Higgs Boson"),
    replace(_classes("home_lending", "Home Lending", 0), absent="private"),
    _instead(_classes("german_credit", "German Credit", 1_000)),
    _instead(_classes("hmeq", "HMEQ", 5_960)),
    _instead(_classes("heloc", "HELOC", 9_871)),
    _instead(_classes("taiwan_credit", "Taiwan Credit", 30_000)),
    _instead(_classes("give_me_some_credit", "Give Me Some Credit", 150_000)),
)
# The rows of MIM are those of sim_reg2 and sim_cal2 (erratum 12).
_SAMPLING = (
    Data("MIM (Regression)", "MIM (Regression)", "mim", REGRESSION, 20_000, "laplace"),
    _CALIFORNIA,
    Data("MIM (Classification)", "MIM (Classification)", "mim", CLASSIFICATION, 20_000, "laplace"),
    replace(_MAGIC, title="Gamma Telescope"),
)

_ALL = (
    _simulations("sim_reg1", REGRESSION, "normal", "Simulated regression, normal predictors"),
    _simulations("sim_reg2", REGRESSION, "laplace", "Simulated regression, Laplace predictors"),
    _simulations("sim_cal1", CLASSIFICATION, "normal", "Simulated classes, normal predictors"),
    _simulations("sim_cal2", CLASSIFICATION, "laplace", "Simulated classes, Laplace predictors"),
    Table(
        "real_reg",
        "Real data, regression",
        _REAL_REGRESSION,
        (*UNTUNED, *TUNED),
        large_seeds=5,
    ),
    Table(
        "real_cla",
        "Real data, classification",
        _REAL_CLASSIFICATION,
        (*UNTUNED, *TUNED),
        large_seeds=5,
    ),
    Table(
        "data_sample",
        "Schemes of sampling",
        _SAMPLING,
        (*SCHEMES, SINGLE),
        tuned=False,
        n_seeds=5,
    ),
    Table(
        "MNIST_ResNet18",
        "MNIST, with the features of a ResNet18",
        (Data("MNIST", "MNIST", "mnist", CLASSIFICATION, 70_000),),
        RESNETS,
        tuned=False,
        n_seeds=10,
    ),
)
#: Every table by the paper's label.
TABLES: dict[str, Table] = {table.name: table for table in _ALL}
