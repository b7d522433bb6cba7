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
