"""Writes the fixtures of the newest format; those of past formats are never written again."""

import json
from pathlib import Path

import numpy as np
from benchmarks.files.fuzz_archive import models, tables

from lifenet.archive import FORMAT


def main() -> None:
    _, mixed, _ = tables()
    for name, (model, _) in zip(("", "lla", "paper", "fast"), models(), strict=True):
        if name:
            path = Path(__file__).parent / f"format-{FORMAT}-{name}.life"
            model.save(path)
            X = [[number, *map(str, rest)] for number, *rest in mixed[10:19]]
            score = model.network_.score(model._check_input(np.array(X, dtype=object)))
            known = {"X": X, "score": score.tolist()}
            path.with_suffix(".json").write_text(json.dumps(known) + "\n")


if __name__ == "__main__":
    main()
