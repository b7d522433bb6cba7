"""Settings that must precede every import, and the folders of made-up and of real data."""

import os

# scikit-learn skips its array API check unless this is set before scipy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest


@pytest.fixture(scope="session")
def made_up_home(tmp_path_factory):
    """A folder with made-up tables in the layout of all real files."""
    import made_up

    return made_up.write(tmp_path_factory.mktemp("made-up"))


@pytest.fixture(scope="session")
def home_of(made_up_home):
    """The folder of the made-up or of the real data, by its name."""
    import made_up

    return {"made-up": made_up_home, "real": made_up.real_folder()}.__getitem__


@pytest.fixture(scope="session")
def cli_home(tmp_path_factory):
    """A folder with loans.csv, and models: amount, default, plain (of ages), purpose."""
    import pyarrow.csv

    from cli_cases import FAST, done, loans, write
    from lifenet import LLAClassifier

    home = tmp_path_factory.mktemp("cli")
    table = write(home / "loans.csv", loans())
    common = (*FAST, "--test-share", "0", "--text", "zip", "--drop", "id")
    done("fit", table, "--target", "amount", *common, "default", "-o", home / "amount.life")
    done("fit", table, "--target", "default", *common, "amount", "-o", home / "default.life")
    plain = [",".join((*line.split(",")[1:2], line.split(",")[6])) for line in loans()]
    numbers = write(home / "numbers.csv", plain)
    options = (*FAST, "--test-share", "0", "-o", home / "plain.life")
    done("fit", numbers, "--target", "amount", *options)
    rows = pyarrow.csv.read_csv(table)
    model = LLAClassifier(n_neurons=2, random_state=0)
    model.fit(rows.select(["age", "income", "amount"]), rows["purpose"].to_pylist())
    model.save(home / "purpose.life")
    return home
