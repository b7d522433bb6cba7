"""What is said of arguments, models and tables that are at fault, and the exit codes."""

import json
import sys

import pytest

import lifenet.cli.application as application
from cli_cases import changed, done, loans, run, write

COMMANDS = ("fit", "predict", "explain", "export", "simplify", "info", "compare", "demo")

#: Arguments, the exit code, and how the error begins; {home} is the folder with the files,
#: {t} the table of loans, {m} a model of the amount, {d} one of the default.
CASES = [
    ("", 2, "COMMAND is missing. See lifenet --help."),
    ("nope", 2, "COMMAND cannot be 'nope'; it may be 'fit', 'predict', 'explain'"),
    ("fit", 2, "data, --target are missing. See lifenet fit --help."),
    ("fit {t} --target amount", 2, "-o/--output is missing: the file for the model."),
    ("fit {t} --target amount -o -", 2, "A model goes to a file"),
    ("fit {t} --targt amount", 2, "--target is missing."),
    ("fit {t} --target amount --tsk x", 2, "There is no option --tsk here. Is --task"),
    ("fit {t} b --target amount", 2, "b is one argument too many."),
    ("fit {t} --target", 2, "--target needs a value."),
    ("fit x --target y --preset z", 2, "--preset cannot be 'z'; it may be 'fast', 'best'"),
    ("fit x --target y --test-share 1", 2, "--test-share must be a share of the rows, from 0 to"),
    ("fit x --target y --test-share x", 2, "--test-share must be a number; it is 'x'."),
    ("fit x --target y --test-share 0 --no-refit -o {home}/q", 2, "--no-refit needs rows that are"),
    ("fit x --target y --time-limit 0", 2, "--time-limit must be above 0; it is 0."),
    ("fit x --target y --smoothness -1", 2, "--smoothness must not be below 0; it is -1."),
    ("fit x --target y --jobs 0 -o {home}/q", 2, "--jobs must not be 0."),
    ("fit x --target y --seed a", 2, "--seed must be a whole number from 0 to 4294967295"),
    ("fit x --target y --split-by day", 2, "--split-by must be group=COL or time=COL"),
    ("fit x --target y --delimiter ab", 2, "--delimiter must be one mark, such as ';', or 'tab'"),
    ("fit x --target y --encoding rot13", 2, "--encoding is no encoding that is known: 'rot13'."),
    ("fit x --target y --decimal , --dry-run", 2, "The delimiter and the decimal mark are both"),
    ("fit {home}/no.csv --target y --dry-run", 1, "There is no file {home}/no.csv."),
    ("fit {home} --target y --dry-run", 1, "{home} is a folder. Give a file."),
    ("fit {t} --target y --dry-run", 1, "{t} has no column 'y', which"),
    ("fit {t} --target age --drop y --dry-run", 1, "{t} has no column 'y'"),
    ("fit {t} --target age --text y --dry-run", 1, "{t} has no column 'y'"),
    ("fit {t} --target age --categories y --dry-run", 1, "{t} has no col"),
    ("fit {t} --target age --weight y --dry-run", 1, "{t} has no column"),
    ("fit {t} --target age --weight age --dry-run", 2, "--weight names the target"),
    ("fit {t} --target age --split-by time=purpose --dry-run", 1, "{t}, col"),
    ("fit {t} --target purpose --task regression --dry-run", 1, "{t}, line"),
    ("fit {home}/few.csv --target age --dry-run", 1, "{home}/few.csv has 3 rows with a target"),
    ("predict {home}/no.life x", 1, "There is no file {home}/no.life."),
    ("predict {home} x", 1, "{home} is a folder. Give the file of a model."),
    ("predict {t} {m}", 1, "{t} is no model. Give a file"),
    ("predict {home}/damaged.life x", 1, "{home}/damaged.life: "),
    ("predict {m} {home}/numbers.csv", 1, "{home}/numbers.csv has no column 'income'"),
    ("predict {m} {t} --keep y", 1, "{t} has no column 'y'"),
    ("predict {m} {home}/text.csv", 1, "{home}/text.csv, line 5, column 'age': 'old'"),
    ("predict {m} {home}/day.csv", 1, "{home}/day.csv, line 5, column 'opened': 'May'"),
    ("predict {m} {t} --json", 2, "--json and the predictions would"),
    ("predict {m} {home}/kept.csv --keep prediction", 2, "--keep names 'prediction'"),
    ("explain {m} {t} why", 2, "what cannot be 'why'; it may be 'rows'"),
    ("explain {m} {t} rows --row 999", 1, "{t} has 120 rows;"),
    ("explain {m} {t} rows --row 0", 2, "--row must be a whole number"),
    ("explain {m} {t} effects --row 1", 2, "--row is of rows and equat"),
    ("explain {m} {t} effects --format png", 2, "--format is of files;"),
    ("explain {m} x equations --output {home}/r --format png", 2, "Equations have no"),
    ("explain {m} {t} rows --output {home}/few.csv", 2, "{home}/few.csv is"),
    ("explain {home}/plain.life {home}/numbers.csv interactions", 1, "{home}/numbers.csv: The"),
    ("export {m} --to xls -o -", 2, "--to cannot be 'xls'; it may be "),
    ("export {m} --to json --table t -o -", 2, "--table is for --to sql; --to is json"),
    ("export {m} --to json -o - --json", 2, "--json and the export would both"),
    ("export {m} --to sql --dialect x -o -", 1, "{m} cannot be exported"),
    ("simplify {m} {t} --target amount -o -", 2, "A model goes to a file"),
    ("simplify {m} x --target y --neurons 9999 -o {home}/q", 1, "{m} has"),
    ("simplify {m} x --target y --neurons 0 -o {home}/q", 2, "--neurons must be a"),
    ("compare {m} {d} x --target y", 1, "{m} predicts num"),
    ("compare {d} {d} {t} --target purpose", 1,
     "{t}, line 2, column 'purpose': the model does not know the class "),
]  # fmt: skip


@pytest.fixture(scope="module")
def home(cli_home, tmp_path_factory):
    folder = tmp_path_factory.mktemp("errors")
    for path in cli_home.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    write(folder / "few.csv", loans(3))
    write(folder / "text.csv", changed(loans(), 5, "age", "old"))
    write(folder / "day.csv", changed(loans(), 5, "opened", "May"))
    kept = [f"{line},{at or 'prediction'}" for at, line in enumerate(loans())]
    write(folder / "kept.csv", kept)
    data = bytearray((folder / "amount.life").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (folder / "damaged.life").write_bytes(bytes(data))
    return folder


@pytest.mark.parametrize(("argv", "code", "said"), CASES, ids=[case[0] for case in CASES])
def test_an_error_names_what_is_wrong(argv, code, said, home):
    names = {"t": home / "loans.csv", "m": home / "amount.life", "d": home / "default.life"}
    words = [word.format(home=home, **names) for word in argv.split()]
    ended = run(*words)
    assert (ended.code, ended.out) == (code, "")
    assert ended.error.startswith(said.format(home=home, **names)), ended.error
    assert ended.error.endswith("."), "no sentence"


def test_errors_are_json_for_machines(home):
    ended = run("info", home / "no.life", "--json")
    said = json.loads(ended.err)
    assert said == {"error": f"There is no file {home / 'no.life'}.", "exit_code": 1}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_of_each_command(command, capsys):
    done_ = run(command, "--help")
    assert done_.code == 0
    assert f"example:\n  lifenet {command}" in done_.out
    assert f"  {command} " in run("--help").out


def test_faults_of_our_own_have_no_traceback_unless_asked_for(monkeypatch, cli_home):
    def fail(model, name):
        raise KeyError("a fault")

    monkeypatch.setattr("lifenet.cli.info._report", fail)
    monkeypatch.delenv("LIFENET_DEBUG", raising=False)
    ended = run("info", cli_home / "amount.life")
    assert (ended.code, ended.out) == (1, "")
    assert ended.error.startswith("lifenet failed, which is its own fault: KeyError: 'a fault'.")
    monkeypatch.setenv("LIFENET_DEBUG", "1")
    assert "Traceback" in run("info", cli_home / "amount.life").err


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (MemoryError(), 1, "The memory does not suffice."),
        (OSError(28, "No space left on device", "m.life"), 1, "m.life: No space left on device."),
        (BrokenPipeError(), 0, None),
    ],
)
def test_what_ends_a_command_from_outside(error, code, said, monkeypatch, cli_home):
    def fail(model, name):
        raise error

    monkeypatch.setattr("lifenet.cli.info._report", fail)
    monkeypatch.setattr(application, "_close_standard_output", lambda: None)
    ended = run("info", cli_home / "amount.life")
    assert ended.code == code
    assert ended.err == "" if said is None else ended.error.startswith(said)


def test_without_pyarrow_the_remedy_is_named(monkeypatch, cli_home):
    for name in ("pyarrow", "pyarrow.csv"):
        monkeypatch.setitem(sys.modules, name, None)
    ended = run("predict", cli_home / "plain.life", cli_home / "numbers.csv")
    assert ended.code == 1
    assert "pip install 'lifenet[cli]'" in ended.error


def test_progress_is_told_in_lines_and_can_be_silenced(cli_home, tmp_path):
    common = ("fit", cli_home / "numbers.csv", "--target", "amount", "--preset", "paper")
    ended = done(*common, "--test-share", "0", "-o", tmp_path / "m.life")
    lines = ended.err.splitlines()
    assert lines[0].startswith("Fit to 120 rows, level 1")
    assert all(line.startswith("Fit to 120 rows") for line in lines)
    assert done(*common, "--test-share", "0", "--quiet", "-o", tmp_path / "n.life").err == ""
