"""Writing files: whole or not at all, and never over another file unless told to."""

import functools
import os
import signal
import subprocess
import sys

import pytest

from cli_cases import done, loans, run, write
from lifenet.cli.errors import CommandError, UsageError
from lifenet.cli.outputs import Output


class TestOutput:
    def test_a_file_is_replaced_only_with_force(self, tmp_path):
        path = tmp_path / "a"
        Output.checked(str(path), force=False).write(b"one")
        with pytest.raises(UsageError, match=r"exists already\. Pass --force"):
            Output.checked(str(path), force=False)
        Output.checked(str(path), force=True).write(b"two")
        assert path.read_bytes() == b"two"
        assert list(tmp_path.iterdir()) == [path]

    def test_a_file_that_came_to_be_meanwhile_is_left_alone(self, tmp_path):
        path = tmp_path / "a"
        output = Output.checked(str(path), force=False)
        path.write_bytes(b"theirs")
        with pytest.raises(CommandError, match="came to be there while the command ran"):
            output.write(b"ours")
        assert path.read_bytes() == b"theirs"

    def test_places_that_cannot_be_written_to_are_refused_at_once(self, tmp_path):
        for name, said in (
            (tmp_path, "is a folder"),
            (tmp_path / "no" / "a", "there is no folder"),
        ):
            with pytest.raises(UsageError, match=said):
                Output.checked(str(name), force=True)

    def test_a_link_is_followed_and_a_device_is_written_to(self, tmp_path):
        (tmp_path / "a").write_bytes(b"one")
        (tmp_path / "link").symlink_to(tmp_path / "a")
        Output.checked(str(tmp_path / "link"), force=True).write(b"two")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "a").read_bytes() == b"two"
        Output.checked(os.devnull, force=False).write(b"gone")
        assert not os.path.isfile(os.devnull)


def test_predictions_replace_a_file_only_with_force(cli_home, tmp_path):
    table, out = cli_home / "loans.csv", tmp_path / "p.csv"
    done("predict", cli_home / "amount.life", table, "-o", out)
    before = out.read_bytes()
    ended = run("predict", cli_home / "amount.life", table, "-o", out)
    assert (ended.code, out.read_bytes()) == (2, before)
    assert ended.error.endswith(
        "p.csv exists already. Pass --force to replace it, or another name."
    )
    done("predict", cli_home / "amount.life", table, "-o", out, "--force")


def test_the_output_is_checked_before_anything_is_read(tmp_path):
    ended = run("fit", tmp_path / "no.csv", "--target", "y", "-o", tmp_path)
    assert (ended.code, "is a folder" in ended.error) == (2, True)


# ------------------------------------------------------------------ in processes of their own


def start(*argv, **options):
    command = [sys.executable, "-m", "lifenet.cli", *map(str, argv)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # Shells start what runs in the background with Ctrl-C ignored, and processes inherit that.
    heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(command, preexec_fn=heed, **{**pipes, **options})


def until_fitting(process):
    """Wait until the first network is fitted, as the progress on standard error tells."""
    line = process.stderr.readline()
    while b"Fit to" not in line:
        assert line, "the fit ended"
        line = process.stderr.readline()


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL])
def test_a_fit_that_is_stopped_leaves_what_was_there(kind, tmp_path):
    table = write(tmp_path / "loans.csv", loans(600))
    model = tmp_path / "m.life"
    model.write_bytes(b"the old one")
    options = ("--preset", "paper", "--drop", "id", "default", "--force", "-o", model)
    with start("fit", table, "--target", "amount", *options) as process:
        until_fitting(process)
        process.send_signal(kind)
        _, err = process.communicate(timeout=60)
    assert model.read_bytes() == b"the old one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loans.csv", "m.life"]
    if kind == signal.SIGINT:
        assert process.returncode == 130
        assert b"Error: Interrupted." in err
        assert b"Traceback" not in err


def test_a_reader_that_has_read_enough_is_no_error(cli_home, tmp_path):
    lines = loans(40)
    table = write(tmp_path / "many.csv", [lines[0], *lines[1:] * 400])
    with start("predict", cli_home / "amount.life", table, "--contributions") as process:
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait(timeout=120) == 0
    assert b"Error" not in err
    assert b"Broken" not in err


def test_the_command_runs_as_a_module_and_reads_pipes(cli_home):
    with start("predict", cli_home / "plain.life", "-", stdin=subprocess.PIPE) as process:
        out, err = process.communicate(b"age\n30\n40\n", timeout=60)
    assert process.returncode == 0, err
    assert out.decode().splitlines()[0] == "prediction"
    assert len(out.decode().splitlines()) == 3
