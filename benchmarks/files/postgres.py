"""A private PostgreSQL server on loopback, from Debian's package, and models that predict in it.

    apt-get install postgresql
    python -m benchmarks.files.postgres

The server has a folder, a port and a password of its own and is gone afterwards. It runs as the
user `postgres` where this process is root's, since PostgreSQL refuses to run as root.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmarks.files.databases import held
from lifenet.export.sql_dialects import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lifenet.export import SqlExport

_TYPES = {"b": "boolean", "i": "bigint", "u": "bigint", "f": "double precision", "M": "timestamp"}
_SECONDS = 600


def programs() -> Path | None:
    """The folder of the newest server's programs; None where none is installed."""
    folders = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    found = sorted((one.parent for one in folders), key=lambda one: int(one.parent.name))
    return found[-1] if found else None


@dataclass(frozen=True)
class Server:
    """A running server."""

    folder: Path
    port: int
    password: str

    def execute(self, script: str) -> str:
        """What `psql` prints for a script, as CSV."""
        names = {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGPASSWORD": self.password}
        names |= {"PGUSER": "owner", "PGDATABASE": "postgres"}
        done = subprocess.run(
            [str(_programs() / "psql"), "-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1", "-f", "-"],
            input=script,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **names},
        )
        if done.returncode:
            raise RuntimeError(f"psql failed: {done.stderr[:2_000]}")
        return done.stdout

    def fill(self, frame: pd.DataFrame, name: str = "t") -> None:
        """Create a table with the rows of a frame."""
        way, found = DIALECTS["postgresql"], held(frame)
        table = way.named(name)
        columns = ", ".join(
            f"{way.named(one)} {_TYPES.get(found[one].dtype.kind, 'text')}" for one in found
        )
        rows = (", ".join(_literal(one) for one in row) for row in found.itertuples(index=False))
        values = ",\n".join(f"({row})" for row in rows)
        self.execute(
            f"DROP TABLE IF EXISTS {table};\nCREATE TABLE {table} ({columns});\n"
            f"INSERT INTO {table} VALUES\n{values};\n"
        )

    def run(self, export: SqlExport) -> pd.DataFrame:
        """The result of all statements of a model."""
        with tempfile.TemporaryFile("w+") as file:
            file.write(self.execute(str(export)))
            file.seek(0)
            return pd.read_csv(file, float_precision="round_trip", keep_default_na=False)


def _literal(value: Any) -> str:
    """A cell as a literal whose type the column decides."""
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return "NULL"
    text = value.isoformat(" ") if isinstance(value, pd.Timestamp) else str(value)
    return DIALECTS["postgresql"].quoted(text)


def _programs() -> Path:
    found = programs()
    if found is None:
        raise RuntimeError("PostgreSQL is not installed: apt-get install postgresql")
    return found


@contextmanager
def server() -> Iterator[Server]:
    """A server that runs as long as the block does."""
    folder = Path(tempfile.mkdtemp(prefix="lifenet-postgres-"))
    password = secrets.token_hex(16)
    (folder / "password").write_text(password)
    who = "postgres" if os.geteuid() == 0 else None
    if who is not None:
        for path in (folder, folder / "password"):
            shutil.chown(path, who, who)
    data = folder / "data"
    try:
        auth = ["-A", "scram-sha-256", "--pwfile", str(folder / "password")]
        more = ["--locale=C.UTF-8", "-E", "UTF8", "-U", "owner"]
        _call("initdb", "-D", str(data), *auth, *more, user=who)
        port = _free_port()
        options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder} -c fsync=off"
        log = str(folder / "log")
        _call("pg_ctl", "-D", str(data), "-w", "-l", log, "-o", options, "start", user=who)
        try:
            yield Server(folder, port, password)
        finally:
            _call("pg_ctl", "-D", str(data), "-w", "-m", "immediate", "stop", user=who)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _call(program: str, *arguments: str, user: str | None) -> None:
    """Run a program of the server, as another user where this one is root."""
    done = subprocess.run(
        [str(_programs() / program), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=_SECONDS,
        cwd="/",
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
    )
    if done.returncode:
        raise RuntimeError(f"{program} failed: {done.stderr[:2_000]}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


if __name__ == "__main__":
    with server() as running:
        print(running.execute("SELECT version()"))
