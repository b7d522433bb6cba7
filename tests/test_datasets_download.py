"""Downloads from a server of our own, which answers scikit-learn as OpenML does."""

from __future__ import annotations

import hashlib
import io
import json
import logging
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest

from lifenet import datasets
from lifenet.datasets import cache, fingerprints, registry
from lifenet.datasets.openml import DownloadError, translate
from lifenet.datasets.sources import SOURCES


def write_arff(frame):
    """The table as OpenML serves it: labels in quotes, missing values as "?"."""

    def write(value):
        if value is None or value != value:
            return "?"
        return f"'{value}'" if isinstance(value, str) else repr(value)

    lines = ["@RELATION served", "% a comment", "@DATA"]
    rows = zip(*(frame[name].tolist() for name in frame), strict=True)
    return "\n".join([*lines, *(",".join(map(write, row)) for row in rows)]).encode() + b"\n"


class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        openml = self.server.openml
        openml.requests.append(self.path)
        parts = self.path.strip("/").split("/")
        kind = parts[-2] if parts[-2] in {"features", "qualities"} else parts[0]
        status, body = openml.answer(kind, int(next(p for p in parts[-2:] if p.isdigit())))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if openml.breaks_off and kind == "data" else body)

    def log_message(self, *_):
        """Be silent."""


class FakeOpenML:
    """Tables by number, at the addresses that scikit-learn asks for."""

    def __init__(self):
        self.tables, self.requests = {}, []
        self.fails = self.breaks_off = False

    def answer(self, kind, number):
        if self.fails:
            return 503, b"out of order"
        if number not in self.tables:
            return 412, b'{"error": {"code": "111", "message": "Unknown dataset"}}'
        frame, hidden = self.tables[number]
        body = write_arff(frame)
        if kind == "data":
            return 200, body
        pages = {
            "features": {"data_features": {"feature": self.describe_columns(frame, hidden)}},
            "qualities": {"data_qualities": {"quality": []}},
            "api": {"data_set_description": self.describe(number, body)},
        }
        return 200, json.dumps(pages[kind]).encode()

    @staticmethod
    def describe(number, body):
        return {
            "id": str(number),
            "name": "served",
            "version": "1",
            "status": "active",
            "format": "ARFF",
            "file_id": str(number),
            "description": "",
            "licence": "Public",
            "url": f"https://www.openml.org/data/v1/download/{number}/served.arff",
            "md5_checksum": hashlib.md5(body).hexdigest(),
        }

    @staticmethod
    def describe_columns(frame, hidden):
        target = frame.columns[-1]
        return [
            {
                "index": str(place),
                "name": name,
                "is_ignore": "false",
                "data_type": "numeric" if frame[name].dtype.kind in "if" else "nominal",
                "is_target": json.dumps(name == target),
                "is_row_identifier": json.dumps(name in hidden),
                "number_of_missing_values": str(frame[name].isna().sum()),
            }
            for place, name in enumerate(frame)
        ]

    def serve(self, number, frame, hidden=()):
        self.tables[number] = frame, hidden


class Loopback(urllib.request.HTTPSHandler):
    """Sends what is meant for openml.org to this machine, and nothing anywhere else."""

    def __init__(self, port):
        super().__init__()
        self.port = port
        self.direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def https_open(self, req):
        address = urlsplit(req.full_url)
        assert address.hostname in {"www.openml.org", "api.openml.org"}
        try:
            return self.direct.open(f"http://127.0.0.1:{self.port}{address.path}")
        except urllib.error.HTTPError as error:
            # scikit-learn 1.6 leaves errors open while it tries again: let none hold a socket.
            with error:
                body = io.BytesIO(error.read())
            raise urllib.error.HTTPError(
                error.url, error.code, error.msg, error.headers, body
            ) from None


@pytest.fixture
def openml():
    """The server, in place of openml.org for this process."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        server.openml = FakeOpenML()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        handlers = (urllib.request.ProxyHandler({}), Loopback(server.server_port))
        urllib.request.install_opener(urllib.request.build_opener(*handlers))
        try:
            yield server.openml
        finally:
            urllib.request.install_opener(None)
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    """The cache folder, which does not exist yet; no data folder, and no word on downloads."""
    source = tmp_path / "parent" / "checkout" / "src" / "lifenet" / "datasets" / "registry.py"
    work = tmp_path / "elsewhere" / "work"
    work.mkdir(parents=True)
    monkeypatch.chdir(work)
    monkeypatch.setattr(registry, "__file__", str(source))
    monkeypatch.delenv("LIFENET_DATA", raising=False)
    monkeypatch.delenv("LIFENET_DOWNLOAD", raising=False)
    monkeypatch.setenv("LIFENET_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


TUMOURS = SOURCES["breast_cancer"].data_id


@pytest.fixture
def tumours(monkeypatch):
    """Five invented rows as OpenML has breast-w; what they become is known by that name."""
    frame = pd.DataFrame({f"Feature_{j}": [j, j + 1, j + 2, 1, 9] for j in range(9)})
    frame["Feature_5"] = [1.0, np.nan, 3.0, 4.0, 10.0]
    frame["Class"] = ["benign", "benign", "malignant", "benign", "malignant"]
    table = translate(frame.astype({"Class": "category"}), SOURCES["breast_cancer"])
    recipe = registry.RECIPES["breast_cancer"]
    known = fingerprints.fingerprint(registry.prepare("breast_cancer", recipe, table))
    monkeypatch.setattr(registry, "expected", {"breast_cancer": known}.__getitem__)
    return frame


class TestDownload:
    @pytest.fixture(autouse=True)
    def served(self, openml, tumours, store):
        self.openml, self.tumours, self.store = openml, tumours, store
        openml.serve(TUMOURS, tumours)

    def files(self):
        return sorted(path.name for path in self.store.glob("**/*"))

    def test_it_is_prepared_like_the_file(self):
        data = datasets.load("breast_cancer", download=True)
        expected = [[j + step for j in range(9)] for step in (0, 2)]
        expected[0][5], expected[1][5] = 1, 3  # the second row is incomplete
        np.testing.assert_array_equal(data.X[:2], expected)
        assert data.y.tolist() == [0, 1, 0, 1]
        assert data.classes == (2, 4)
        assert data.feature_names[5] == "Bare_nuclei"

    def test_the_second_time_it_comes_from_the_cache(self):
        first = datasets.load("breast_cancer", download=True)
        asked = len(self.openml.requests)
        assert asked >= 4  # description, features, qualities, data
        assert self.files() == ["breast_cancer_wisconsin.parquet"]
        for allowed in (True, False):
            again = datasets.load("breast_cancer", download=allowed)
            np.testing.assert_array_equal(again.X, first.X)
            np.testing.assert_array_equal(again.y, first.y)
            pd.testing.assert_frame_equal(again.frame, first.frame)
        assert len(self.openml.requests) == asked

    def test_it_says_what_it_does(self, caplog):
        with caplog.at_level(logging.WARNING, logger="lifenet.datasets"):
            datasets.load("breast_cancer", download=True)
            datasets.load("breast_cancer", download=True)
        (message,) = caplog.messages
        assert "Downloading 'breast_cancer' (OpenML data set 15)" in message
        assert str(self.store) in message

    @pytest.mark.parametrize("word", [None, "0", "", "no"])
    def test_it_must_be_allowed(self, monkeypatch, word):
        if word is not None:
            monkeypatch.setenv("LIFENET_DOWNLOAD", word)
        with pytest.raises(FileNotFoundError, match="downloads are not allowed") as caught:
            datasets.load("breast_cancer")
        for part in ("data set 15", "download=True", "LIFENET_DOWNLOAD", "LIFENET_DATA"):
            assert part in str(caught.value)
        for part in ("data_home", "breast_cancer_wisconsin.parquet", str(self.store)):
            assert part in str(caught.value)
        assert self.openml.requests == []

    def test_the_variable_allows_it_and_the_argument_has_the_last_word(self, monkeypatch):
        monkeypatch.setenv("LIFENET_DOWNLOAD", "1")
        with pytest.raises(FileNotFoundError):
            datasets.load("breast_cancer", download=False)
        assert len(datasets.load("breast_cancer").y) == 4

    def test_a_named_folder_is_taken_at_its_word(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="is not in the data folder"):
            datasets.load("breast_cancer", data_home=tmp_path, download=True)
        assert self.openml.requests == []

    def test_a_folder_without_the_file_is_passed_over(self, tmp_path, monkeypatch):
        monkeypatch.setenv("LIFENET_DATA", str(tmp_path))
        assert len(datasets.load("breast_cancer", download=True).y) == 4
        monkeypatch.setenv("LIFENET_DATA", str(tmp_path / "wrong"))
        with pytest.raises(FileNotFoundError, match=r"tried: .*wrong"):
            datasets.load("breast_cancer", download=True)

    def test_the_cache_may_be_named(self, tmp_path):
        datasets.load("breast_cancer", download=True, cache_dir=tmp_path / "mine")
        assert (tmp_path / "mine" / "breast_cancer_wisconsin.parquet").is_file()
        assert not self.store.exists()

    def test_other_values_are_refused_and_not_kept(self):
        self.tumours.loc[3, "Feature_0"] = 7
        message = r"data set 15 .*other values in the columns Clump_thickness\..*verify=False"
        with pytest.raises(ValueError, match=message):
            datasets.load("breast_cancer", download=True)
        assert datasets.load("breast_cancer", download=True, verify=False).X[2, 0] == 7.0
        assert self.files() == []

    def test_the_right_values_are_kept_even_if_nobody_asked_for_a_check(self):
        datasets.load("breast_cancer", download=True, verify=False)
        assert self.files() == ["breast_cancer_wisconsin.parquet"]

    def test_another_number_of_rows_is_refused(self):
        self.openml.serve(TUMOURS, self.tumours[:4])
        with pytest.raises(ValueError, match="3 rows and 9 columns, not 4 and 9"):
            datasets.load("breast_cancer", download=True)

    def test_rows_in_another_order_are_worth_a_warning(self):
        self.openml.serve(TUMOURS, self.tumours[::-1])
        for _ in range(2):  # also from the cache
            with pytest.warns(UserWarning, match="the same rows in another order"):
                data = datasets.load("breast_cancer", download=True)
            assert data.y.tolist() == [1, 0, 1, 0]
        assert data.feature_names[5] == "Bare_nuclei"

    def test_without_an_answer_the_error_says_what_to_do(self, monkeypatch):
        monkeypatch.setattr(time, "sleep", lambda _: None)  # between scikit-learn's attempts
        self.openml.fails = True
        with (
            pytest.warns(UserWarning, match="network error"),
            pytest.raises(
                FileNotFoundError, match=r"the download failed .*503.*try again"
            ) as caught,
        ):
            datasets.load("breast_cancer", download=True)
        assert isinstance(caught.value.__cause__, DownloadError)
        assert self.files() == []

    @pytest.mark.filterwarnings("ignore:Invalid cache, redownloading:RuntimeWarning")
    def test_a_download_that_breaks_off_leaves_nothing(self):
        self.openml.breaks_off = True
        with pytest.raises(FileNotFoundError, match="the download failed"):
            datasets.load("breast_cancer", download=True)
        assert self.files() == []
        self.openml.breaks_off = False
        assert len(datasets.load("breast_cancer", download=True).y) == 4

    def test_an_unknown_number_is_an_error(self):
        self.openml.tables.clear()
        with pytest.raises(FileNotFoundError, match="data_id 15 not found"):
            datasets.load("breast_cancer", download=True)

    def test_other_columns_are_an_error(self):
        self.openml.serve(TUMOURS, self.tumours.drop(columns="Feature_0"))
        with pytest.raises(FileNotFoundError, match="10 columns, but has 9 columns: Feature_1"):
            datasets.load("breast_cancer", download=True)

    @pytest.mark.parametrize("damage", [b"", b"PAR1 and no more", None])
    def test_a_damaged_cache_is_replaced(self, damage):
        path = self.store / "breast_cancer_wisconsin.parquet"
        self.store.mkdir()
        if damage is None:
            pd.DataFrame({"Class": [2, 4], "size": [1, 2]}).to_parquet(path)
        else:
            path.write_bytes(damage)
        with pytest.raises((ValueError, OSError)):
            datasets.load("breast_cancer")
        assert self.openml.requests == []
        assert len(datasets.load("breast_cancer", download=True).y) == 4
        assert len(datasets.load("breast_cancer").y) == 4

    def test_a_cached_file_that_differs_is_named(self):
        self.store.mkdir()
        path = self.store / "breast_cancer_wisconsin.parquet"
        pd.DataFrame({"Class": [2, 4], "size": [1, 2]}).to_parquet(path)
        with pytest.raises(ValueError, match=r"the cached file .*wisconsin.* Delete the file"):
            datasets.load("breast_cancer")
        assert datasets.load("breast_cancer", verify=False).X.tolist() == [[1.0], [2.0]]

    def test_a_cache_that_cannot_be_written_costs_a_warning_only(self, tmp_path):
        (tmp_path / "file").write_text("no folder")
        with pytest.warns(UserWarning, match=r"could not be kept .*LIFENET_CACHE"):
            data = datasets.load("breast_cancer", download=True, cache_dir=tmp_path / "file")
        assert len(data.y) == 4

    def test_an_interrupted_write_leaves_nothing(self, monkeypatch):
        def stop(frame, path, **_):
            with open(path, "wb") as file:
                file.write(b"PAR1 half")
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(pd.DataFrame, "to_parquet", stop)
            with pytest.raises(KeyboardInterrupt):
                datasets.load("breast_cancer", download=True)
        assert self.files() == []

    def test_several_loads_at_once_agree(self):
        with ThreadPoolExecutor(4) as pool:
            loads = [pool.submit(datasets.load, "breast_cancer", download=True) for _ in range(4)]
            arrays = [each.result().X for each in loads]
        for X in arrays[1:]:
            np.testing.assert_array_equal(X, arrays[0])
        assert self.files() == ["breast_cancer_wisconsin.parquet"]


def test_what_openml_does_not_have_must_come_from_a_folder(openml):
    absent = set(datasets.available()) - set(SOURCES)
    assert "ringnorm" in absent  # repaired; OpenML has the damaged copy
    for name in absent:
        with pytest.raises(FileNotFoundError, match=r"no copy .*LIFENET_DATA") as caught:
            datasets.load(name, download=True)
        assert "download=True" not in str(caught.value)
    assert openml.requests == []


def test_readers_never_see_half_a_file(tmp_path):
    tables = [pd.DataFrame({"x": np.full(20_000, value)}) for value in range(4)]
    path = tmp_path / "table.parquet"
    cache.write_table(tables[0], path)
    stop = threading.Event()

    def read():
        n_read = 0
        while not stop.is_set() or n_read == 0:
            column = cache.read_table(path)["x"]
            assert len(column) == 20_000
            assert column.nunique() == 1
            n_read += 1
        return n_read

    with ThreadPoolExecutor(6) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        writers = [pool.submit(cache.write_table, tables[j % 4], path) for j in range(40)]
        for writer in writers:
            writer.result()
        stop.set()
        assert all(reader.result() >= 1 for reader in readers)
    assert [file.name for file in tmp_path.glob("*.part")] == []


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, ".cache/lifenet"),
        ("linux", {"XDG_CACHE_HOME": "xdg"}, "xdg/lifenet"),
        ("darwin", {"XDG_CACHE_HOME": "xdg"}, "Library/Caches/lifenet"),
        ("win32", {}, "AppData/Local/lifenet"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/lifenet"),
        ("win32", {"LOCALAPPDATA": "local", "LIFENET_CACHE": "mine"}, "mine"),
    ],
)
def test_the_cache_is_where_the_platform_keeps_caches(
    tmp_path, monkeypatch, platform, variables, expected
):
    monkeypatch.setattr(cache.sys, "platform", platform)
    monkeypatch.setattr(cache.Path, "home", lambda: tmp_path)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "LIFENET_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    assert cache.cache_folder() == tmp_path / expected
    assert cache.cache_folder("here") == cache.Path("here")
