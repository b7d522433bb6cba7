"""Where trials are kept: in memory, or in a journal file that a killed search goes on from."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifenet._extras import require
from lifenet.tuning.result import TrialRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from optuna import Study

__all__ = ["RECORD", "claim", "import_optuna", "open_study", "quiet", "records"]

# Names of what is kept with a study and with each of its trials.
_IDENTITY, RECORD = "identity", "record"
_STUDY = "lifenet"
# How the first line of a journal begins: no other file is ever changed.
_HEAD = b'{"op_code"'


def import_optuna() -> Any:
    """The search engine, or which extra brings it."""
    return require("optuna", extra="tune", purpose="Tuning")


@contextmanager
def quiet(optuna: Any) -> Iterator[None]:
    """Only warnings of the engine; its level is put back."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(max(before, optuna.logging.WARNING))
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def open_study(journal: str | os.PathLike[str] | None, n_startup: int) -> Study:
    """A study that maximises, new or from its journal; trials that a kill cut short are dropped."""
    optuna = import_optuna()
    study: Study = optuna.create_study(
        storage=None if journal is None else _storage(optuna, Path(journal)),
        study_name=_STUDY,
        direction="maximize",
        pruner=optuna.pruners.MedianPruner(n_startup_trials=n_startup),
        load_if_exists=True,
    )
    states = optuna.trial.TrialState
    for cut_short in study.get_trials(deepcopy=False, states=(states.RUNNING,)):
        study.tell(cut_short.number, state=states.FAIL)
    return study


def claim(study: Study, identity: Mapping[str, Any]) -> None:
    """Write down whose study this is, or refuse where it is another search's."""
    kept = study.user_attrs.get(_IDENTITY)
    if kept is None:
        study.set_user_attr(_IDENTITY, dict(identity))
        return
    for name, value in identity.items():
        if kept.get(name) != value:
            raise ValueError(
                f"The journal is another search's: its {name} was {kept.get(name)}, now it is "
                f"{value}. Name another file, or remove it; shuffled folds need a random_state."
            )


def kept_seed(study: Study) -> int | None:
    """The seed of a study that was begun before."""
    identity = study.user_attrs.get(_IDENTITY)
    return None if identity is None else int(identity["seed"])


def records(study: Study) -> tuple[TrialRecord, ...]:
    """All finished trials, in order."""
    states = import_optuna().trial.TrialState
    finished = study.get_trials(deepcopy=False, states=(states.COMPLETE, states.PRUNED))
    return tuple(
        TrialRecord(
            number=number,
            values=dict(trial.params),
            **{
                **trial.user_attrs[RECORD],
                "fold_scores": tuple(trial.user_attrs[RECORD]["fold_scores"]),
            },
        )
        for number, trial in enumerate(finished)
    )


def _storage(optuna: Any, path: Path) -> Any:
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"The folder of the journal does not exist: {path.parent}")
    if path.exists():
        _mend(path)
    backend = import_backend()
    try:
        return optuna.storages.JournalStorage(
            backend.JournalFileBackend(str(path), backend.JournalFileOpenLock(str(path)))
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"The journal {path} is damaged ({error}). Name another file, or remove it."
        ) from error


def import_backend() -> Any:
    """The engine's journal files."""
    return require("optuna.storages.journal", extra="tune", purpose="A journal")


def _mend(path: Path) -> None:
    """Cut off a last line that a kill left half-written."""
    content = path.read_bytes()
    if content and not content.startswith(_HEAD) and not _HEAD.startswith(content):
        raise ValueError(f"The journal {path} is no journal of a search. Name another file.")
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(path, whole)
