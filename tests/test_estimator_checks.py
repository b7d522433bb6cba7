"""scikit-learn's own checks, none of them expected to fail."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from lifenet import LLAClassifier, LLARegressor

ESTIMATORS = [
    LLARegressor(random_state=0),
    LLAClassifier(random_state=0),
    LLARegressor(5, start="least-squares", ridge=0.1, n_restarts=2, random_state=0),
    LLAClassifier(5, start="least-squares", ridge=0.1, random_state=0),
]


def cases():
    for estimator in ESTIMATORS:
        for number, (_, check) in enumerate(estimator_checks_generator(estimator)):
            name = getattr(check, "func", check).__name__
            yield pytest.param(estimator, check, id=f"{estimator!r}-{number}-{name}")


@pytest.mark.filterwarnings("default")  # the checks provoke scikit-learn's own warnings
@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_scikit_learn_check(estimator, check):
    check(estimator)
