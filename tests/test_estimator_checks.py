"""scikit-learn's own checks, none of them expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from lifenet import LLAClassifier, LLARegressor

ESTIMATORS = [
    LLARegressor(random_state=0),
    LLAClassifier(random_state=0),
    LLARegressor(5, start="least-squares", ridge=0.1, n_restarts=2, random_state=0),
    LLAClassifier(5, start="least-squares", ridge=0.1, random_state=0),
]


@pytest.mark.filterwarnings("default")  # the checks provoke scikit-learn's own warnings
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
