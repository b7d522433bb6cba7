"""What all estimators share: input at the border, scores, and the way back to the user's units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from lifenet.data.inputs import Inputs, check_sample_weight, check_target, encode_classes
from lifenet.data.origin import Origin
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.data.units import Units
from lifenet.estimators._reading import (
    categorical_columns,
    read_new,
    read_training,
    warn_of_numbers_as_text,
)
from lifenet.estimators._saving import save_model
from lifenet.losses import Logistic, Loss, Multinomial, SquaredError
from lifenet.network import ReluNetwork
from lifenet.schema import FeatureSchema
from lifenet.tables import Targets, learn_coding

if TYPE_CHECKING:
    import os

    import numpy.typing as npt

    from lifenet._typing import Floats
    from lifenet.data.coded_rows import CodedRows
    from lifenet.network import CodedNetwork
    from lifenet.tables import CrossFitted, Table, TableCoding

__all__ = ["NetworkClassifier", "NetworkEstimator", "NetworkRegressor", "constant_network"]


class NetworkEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator whose result is one network."""

    random_state: int | np.random.RandomState | None

    categorical_features: Any

    network_: ReluNetwork | CodedNetwork
    schema_: FeatureSchema
    table_: TableCoding
    origin_: Origin

    _categorical_constraint: ClassVar[list[Any]] = [StrOptions({"from_dtype"}), "array-like", None]

    def _prepare(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> Inputs:
        """Check the data; `reset` where they are the first that the estimator sees."""
        raise NotImplementedError

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _rows(
        self, X: Floats, target: Floats, weight: Floats | None, *, reset: bool
    ) -> ArrayRows | CodedRows:
        """Rows to train on: the columns of numbers, unless an estimator has codes of them."""
        return ArrayRows.of(X, target, weight)

    def _keep(self, network: ReluNetwork | CodedNetwork, data: Inputs, seed: int) -> None:
        """Keep a network of the user's units, and what is known of columns, rows and seed."""
        self.network_ = network
        self.schema_ = self._schema(data)
        self.origin_ = Origin.of(data, seed)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted model to a file that `lifenet.load` reads, in later versions too.

        The file holds numbers and texts only; reading it runs no code. A process that is killed
        while it writes leaves the old file, or none. `docs/files.md` has its format.

        Parameters
        ----------
        path : str or path
            Such as "m.life".
        overwrite : bool, default=False
            Whether a file of that name is replaced.

        Raises
        ------
        NotStorableError
            Where a parameter is an object of the user's own, or the estimator is.
        FileExistsError
            Where there is such a file, and it is not to be replaced.
        """
        check_is_fitted(self)
        save_model(self, path, overwrite=overwrite)

    def _schema(self, data: Inputs) -> FeatureSchema:
        assert data.table is not None
        # Rows that were trained on have codes that leave their own targets out.
        X = data.X if data.crossfitted is None else self.table_.encode(data.table)
        index = data.rows.index
        present = X if index is None else X[index]
        return FeatureSchema.of_table(self.table_, present, data.rows.weight)

    def _read_fit(
        self, X: Any, y: Any, *, y_numeric: bool, reset: bool = True
    ) -> tuple[Table, Any]:
        """The table and the target, checked."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        check_target(y, numeric=y_numeric)
        if not reset:
            return read_new(self, self.table_, X, y, y_numeric=y_numeric, ensure_min_samples=2)
        given = self.categorical_features
        chosen = not (isinstance(given, str) and given == "from_dtype")
        table, y = read_training(self, X, y, y_numeric=y_numeric)
        warn_of_numbers_as_text(table, chosen=chosen)
        return table, y

    def _learn_table(
        self, table: Table, targets: Targets, weight: Floats | None, *, reset: bool
    ) -> tuple[Floats, CrossFitted | None]:
        """Columns of numbers to train on, and those of them that folds have of their own."""
        weight = np.ones(table.n_rows) if weight is None else weight
        if reset:
            named = hasattr(self, "feature_names_in_")
            categorical = categorical_columns(self.categorical_features, table.names, named=named)
            self.table_ = learn_coding(table, categorical, weight, targets, named=named)
        X = self.table_.encode(table)
        fitted = self.table_.crossfitted(table, targets, weight)
        return (X if fitted is None else fitted.table(X)), fitted

    def _check_input(self, X: Any) -> Floats:
        """New rows as columns of numbers."""
        check_is_fitted(self)
        table, _ = read_new(self, self.table_, X)
        return self.table_.encode(table)

    def _score(self, X: Any) -> Floats:
        """Raw scores of new rows, (n_samples, n_outputs)."""
        X = self._check_input(X)
        return self.network_.score(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags


class NetworkRegressor(RegressorMixin, NetworkEstimator):  # type: ignore[misc]
    """Squared error, unless an estimator has another loss."""

    def _loss(self) -> Loss:
        """The loss of the standardised target."""
        return SquaredError()

    def _prepare(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> Inputs:
        """Standardised rows and target; a constant target has spread one."""
        table, y = self._read_fit(X, y, y_numeric=True, reset=reset)
        weight = _counting(check_sample_weight(sample_weight, table.n_rows))
        target = np.asarray(y, dtype=np.float64)
        targets = Targets(target[:, None], ("target",))
        X, fitted = self._learn_table(table, targets, weight, reset=reset)
        rows = self._rows(X, target, weight, reset=reset)
        center, spread = _mean_and_spread(rows.target, rows.weight)
        rows = rows.with_target((rows.target - center) / spread).standardised()
        assert rows.scaling is not None
        units, loss = Units(rows.scaling, center, spread), self._loss()
        if not np.all(loss.accepts(rows.target)):
            raise ValueError(
                f"loss={loss!r} is not defined for this target: brought to mean zero and deviation "
                f"one, as a regressor does, it must be {loss.accepted}."
            )
        return Inputs(
            X,
            Problem(rows, loss),
            rows,
            units,
            table=table,
            coding=self.table_,
            crossfitted=fitted,
            target=target,
        )

    def predict(self, X: Any) -> Floats:
        """Predicted target of each row, (n_samples,)."""
        return self._score(X)[:, 0]


class NetworkClassifier(ClassifierMixin, NetworkEstimator):  # type: ignore[misc]
    """Log-loss of two or more classes."""

    _class_weight_constraint: ClassVar[list[Any]] = [StrOptions({"balanced"}), dict, None]

    class_weight: Any
    classes_: npt.NDArray[Any]

    def _prepare(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> Inputs:
        """Standardised rows and class codes. Sets `classes_`, unless it is not to be reset."""
        table, y = self._read_fit(X, y, y_numeric=False, reset=reset)
        check_classification_targets(y)
        weight = check_sample_weight(sample_weight, table.n_rows)
        known = None if reset else self.classes_
        classes, codes, weight = encode_classes(y, weight, self.class_weight, known)
        weight = _counting(weight)
        X, fitted = self._learn_table(table, _indicators(classes, codes), weight, reset=reset)
        rows = self._rows(X, codes, weight, reset=reset).standardised()
        assert rows.scaling is not None
        loss = Logistic() if len(classes) == 2 else Multinomial(len(classes))
        self.classes_ = classes
        return Inputs(
            X,
            Problem(rows, loss),
            rows,
            Units(rows.scaling),
            classes,
            table=table,
            coding=self.table_,
            crossfitted=fitted,
            target=codes,
        )

    def decision_function(self, X: Any) -> Floats:
        """Raw scores: log-odds of the second class, (n_samples,), or (n_samples, n_classes)."""
        score = self._score(X)
        return score[:, 0] if score.shape[1] == 1 else score

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, (n_samples, n_classes)."""
        score = self._score(X)
        if score.shape[1] > 1:
            return Multinomial(score.shape[1]).mean(score)
        loss = Logistic()
        return np.hstack([loss.mean(-score), loss.mean(score)])

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of the probability of each class, (n_samples, n_classes), without underflow."""
        score = self._score(X)
        if score.shape[1] == 1:
            score = np.column_stack([np.zeros(len(score)), score[:, 0]])
        return np.asarray(special.log_softmax(score, axis=1))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The likeliest class of each row, (n_samples,)."""
        score = self._score(X)
        codes = score[:, 0] > 0 if score.shape[1] == 1 else score.argmax(axis=1)
        return self.classes_[np.asarray(codes, dtype=np.intp)]


def _indicators(classes: npt.NDArray[Any], codes: Floats) -> Targets:
    """Whether each row is of each class but the first."""
    rest = np.arange(1, len(classes))
    return Targets((codes[:, None] == rest).astype(np.float64), tuple(map(str, classes[1:])))


def _counting(weight: Floats | None) -> Floats | None:
    """Weights that can count rows: brought to mean one where their mean is below.

    Counts of rows are never below one on average. Weights that are, such as shares that sum to
    one, only say how rows compare.
    """
    if weight is None:
        return None
    mean = float(weight.sum()) / max(int(np.count_nonzero(weight)), 1)
    return weight / mean if mean < 1.0 else weight


def _mean_and_spread(values: Floats, weight: Floats) -> tuple[float, float]:
    """Weighted mean and deviation; deviation one where all values are the same."""
    if values.min() == values.max():
        return float(values[0]), 1.0
    total = weight.sum()
    center = float(weight @ values / total)
    return center, float(np.sqrt(weight @ np.square(values - center) / total))


def constant_network(value: float, n_features: int) -> ReluNetwork:
    """The network without neurons."""
    return ReluNetwork(
        weights=np.zeros((0, n_features)), bias=np.zeros(0), beta=np.zeros((0, 1)), intercept=value
    )
