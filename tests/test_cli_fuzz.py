"""Random arguments on random bytes end in a result or a named error; the benchmark runs many."""

from benchmarks.files.fuzz_cli import fuzz


def test_no_command_crashes():
    ends = fuzz(150, seed=1)
    assert "crash" not in ends
    assert ends["done"] > 10
    assert ends["refused (1)"] > 10
    assert ends["refused (2)"] > 10
