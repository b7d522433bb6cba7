"""Tables from files: what is read, and what is said of files that cannot be read."""

import datetime
import gzip
import io
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cli_cases import _Standard
from lifenet.cli.csv_text import CsvFormat
from lifenet.cli.errors import CommandError
from lifenet.cli.files import format_of, read_source, table_bytes


@pytest.fixture
def read(tmp_path):
    """Read bytes as a file of a name."""

    def read(data, name="t.csv", types=None, told=False, **how):
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return read_source(str(path), CsvFormat(**how), types, told=told)

    return read


def wrong(read, data, *args, **options):
    """What is said of a file that cannot be read, without the folder."""
    with pytest.raises(CommandError) as found:
        read(data, *args, **options)
    return str(found.value).replace(str(found.value).split("/t.")[0] + "/", "")


class TestCells:
    def test_cells_are_numbers_text_dates_truth_values_or_missing(self, read):
        source = read(
            "n,t,d,b,x\n1,a,2024-02-29,true,1e3\n,,,,\nNA,null,NaN,n/a,nan\n-2,b,2024-03-01,false,.5\n"
        )
        day = datetime.date
        assert source.table.to_pydict() == {
            "n": [1, None, None, -2],
            "t": ["a", None, None, "b"],
            "d": [day(2024, 2, 29), None, None, day(2024, 3, 1)],
            "b": [True, None, None, False],
            "x": [1000.0, None, None, 0.5],
        }

    def test_what_stands_in_quotation_marks_is_never_missing(self, read):
        table = read('a,b\n"",1\n"NA",2\n,3\n').table
        assert table["a"].to_pylist() == ["", "NA", None]

    def test_numbers_stay_numbers_in_quotation_marks(self, read):
        assert read('"a","b"\n"1","x"\n').table.to_pylist() == [{"a": 1, "b": "x"}]

    def test_a_decimal_comma_needs_another_delimiter_and_is_read(self, read):
        table = read("a;b\n1,5;x\n2;y\n", delimiter=";", decimal=",").table
        assert table["a"].to_pylist() == [1.5, 2.0]

    def test_other_marks_of_missing_cells_are_heeded(self, read):
        assert read("a\n?\n1\n", missing=("?",)).table["a"].to_pylist() == [None, 1]

    def test_columns_can_be_forced_to_be_text(self, read):
        assert read("zip\n00123\n7\n", text=("zip",)).table["zip"].to_pylist() == ["00123", "7"]
        assert read("a\n1\n", types={"a": pa.string()}).table["a"].to_pylist() == ["1"]

    def test_quoted_cells_may_hold_delimiters_and_line_breaks(self, read):
        table = read('a,b\n"x,\n""y""",1\n').table
        assert table.to_pylist() == [{"a": 'x,\n"y"', "b": 1}]


class TestFormats:
    def test_the_same_table_comes_out_of_every_format(self, read):
        day = datetime.date(2024, 1, 31)
        table = pa.table({"a": [1, None], "t": ["x", ""], "d": [day, None], "b": [True, False]})
        for name in ("t.csv", "t.tsv", "t.parquet", "t.arrow"):
            data = table_bytes(table, format_of(name))
            assert read(data, name).table.to_pydict() == table.to_pydict()
            # The first bytes say what it is, whatever the name.
            if name not in ("t.csv", "t.tsv"):
                assert read(data, "t.dat").table.to_pydict() == table.to_pydict()

    def test_feather_streams_and_gzip_are_read(self, read, tmp_path):
        table = pa.table({"a": [1, 2]})
        pyarrow.feather.write_feather(table, tmp_path / "f")
        assert read((tmp_path / "f").read_bytes(), "t.feather").table.equals(table)
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        assert read(sink.getvalue(), "t.arrow").table.equals(table)
        assert read(gzip.compress(b"a\n1\n2\n"), "t.csv.gz").table.equals(table)

    def test_standard_input_is_read_in_any_format(self, monkeypatch):
        for data in (b"a\n1\n", table_bytes(pa.table({"a": [1]}), "parquet")):
            monkeypatch.setattr("sys.stdin", _Standard(data))
            source = read_source("-", CsvFormat())
            assert (source.name, source.table.to_pydict()) == ("standard input", {"a": [1]})

    @pytest.mark.parametrize(
        ("data", "encoding"),
        [
            ("é,b\nü,1\n".encode("latin-1"), "latin-1"),
            ("é,b\nü,1\n".encode("utf-16"), "utf-8"),  # its first bytes say so
            ("é,b\nü,1\n".encode("utf-8-sig"), "utf-8"),
        ],
    )
    def test_encodings(self, read, data, encoding):
        assert read(data, encoding=encoding).table.to_pylist() == [{"é": "ü", "b": 1}]

    def test_text_is_written_so_that_it_is_read_again(self, read):
        table = pa.table({"a,b": ['x"y', "", "NA", None, " z\n"], 'c"': [1.5, 2, None, 4, 5]})
        assert read(table_bytes(table, "csv")).table.equals(table)

    def test_categories_are_written_as_their_levels(self, read):
        table = pa.table({"a": pa.array(["x", "y", "x"]).dictionary_encode()})
        assert read(table_bytes(table, "csv")).table["a"].to_pylist() == ["x", "y", "x"]


class TestPlaces:
    def test_rows_know_their_line_whatever_stands_between(self, read):
        source = read('a,b\n\n1,"x\ny"\n\n2,z\n')
        assert [source.place(row) for row in range(2)] == ["line 3", "line 6"]
        assert source.take(np.array([1])).located("row 0 is odd") == "line 6 is odd"
        assert source.take(np.array([False, True])).place(0) == "line 6"

    def test_rows_of_other_formats_count_from_one(self, read):
        source = read(table_bytes(pa.table({"a": [1, 2]}), "parquet"), "t.parquet")
        assert source.located("row 1 is odd") == "row 2 is odd"


class TestNotes:
    def test_a_column_without_a_name_is_left_out(self, read):
        source = read(",a\n0,1\n")
        assert source.names == ["a"]
        (note,) = source.notes
        assert note.startswith("Column 1 of ")
        assert note.endswith(" has no name of its own, and is left out.")

    def test_row_labels_of_pandas_are_left_out(self, read):
        table = pa.table({"a": [1], "__index_level_0__": [7]})
        assert read(table_bytes(table, "parquet"), "t.parquet").names == ["a"]

    def test_a_slip_among_numbers_is_told_and_text_is_not(self, read):
        data = "a,b,c\n1,x,2024-01-01\n2,1,2024-13-01\n?,y,2024-01-02\n"
        notes = read(data, told=True).notes
        assert [note.split(" is text")[0] for note in notes] == ["Column 'a'", "Column 'c'"]
        assert "2 of its 3 cells are numbers, and 1 is not; the first is '?' on line 4" in notes[0]
        assert "'2024-13-01' on line 3" in notes[1]
        assert read(data, told=True, text=("a", "c")).notes == ()


class TestFaults:
    @pytest.mark.parametrize(
        ("data", "said"),
        [
            (b"", "t.csv is empty."),
            (b"\n\n", "t.csv is empty."),
            (b"a,b", "t.csv has names of columns and no rows."),
            (b"a,b\n", "t.csv has names of columns and no rows."),
            (b"a,b\n1,2\n3\n", "t.csv, line 3: 1 cell in a table of 2 columns."),
            (b"a\n1\n2,3\n", "t.csv, line 3: 2 cells in a table of 1 column."),
            (b'a,b\n1,2\n"3,4\n5,6\n', "t.csv, line 3: 1 cell in a table of 2 columns."),
            (b"a,b,a\n1,2,3\n", "t.csv: several columns are called 'a'."),
            (b"a\nx\n\xff\n", "t.csv, line 3: the byte 0xff is no utf-8 text. Pass --encoding"),
            (b"a\n1\n\x00\n", "t.csv, line 3: a byte is zero"),
            (b"\x1f\x8bnonsense", "t.csv is a damaged gzip file"),
            (b"PAR1nonsense", "t.csv is a damaged parquet file"),
            (b"ARROW1nonsense", "t.csv is a damaged arrow file"),
        ],
    )
    def test_a_fault_is_told_with_its_line(self, read, data, said):
        assert wrong(read, data).startswith(said)

    def test_a_cell_that_does_not_fit_the_model_is_named(self, read):
        said = wrong(read, "a,b\n1,2\n\nx,3\n", types={"a": pa.float64()})
        assert said.startswith("t.csv, line 4, column 'a': 'x' is no number, which the model has")

    def test_files_that_are_not_what_their_name_says(self, read):
        assert wrong(read, b"a\n1\n", "t.parquet").startswith("t.parquet is no Parquet file")
        sink = io.BytesIO()
        with zipfile.ZipFile(sink, "w") as file:
            file.writestr("a", "b")
        assert "is a zip file, such as a spreadsheet" in wrong(read, sink.getvalue())

    def test_files_that_are_not_there(self, tmp_path):
        for name, said in ((tmp_path / "no.csv", "There is no file"), (tmp_path, "is a folder")):
            with pytest.raises(CommandError, match=said):
                read_source(str(name), CsvFormat())

    def test_a_missing_column_is_named_and_another_delimiter_proposed(self, read):
        source = read("a;b\n1;2\n")
        with pytest.raises(CommandError, match=r"no column 'b', which x\. .*--delimiter ';'"):
            source.require(["b"], "x")

    def test_without_pyarrow_the_remedy_is_named(self, read, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
        monkeypatch.setitem(__import__("sys").modules, "pyarrow.csv", None)
        with pytest.raises(ImportError, match=r"pip install 'lifenet\[cli\]'"):
            read("a\n1\n")


CELLS = st.text(st.sampled_from('ab1,;"\n\r\t -.é\0'), max_size=6)


@settings(max_examples=150, deadline=None)
@given(
    data=st.binary(max_size=60) | st.lists(CELLS, max_size=12).map(lambda t: ",".join(t).encode())
)
@example(data=b'a,b\n"')
@example(data=b"\xff\xfe")
@example(data=b'"\n"')
@example(data=b"a\r1\r")
@example(data=b" \n1\n")
def test_any_bytes_are_a_table_or_a_named_error(data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(data)
    try:
        source = read_source(str(path), CsvFormat(), told=True)
    except CommandError as error:
        source, said = None, str(error)
    assert "any.csv" in said if source is None else source.n_rows > 0
    if source is not None:
        assert all(source.place(row) for row in range(source.n_rows))


@settings(max_examples=100, deadline=None)
@given(
    texts=st.lists(
        st.none()
        | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5),
        min_size=1,
        max_size=6,
    ),
    seed=st.integers(0, 99),
)
def test_a_table_that_is_written_is_read_again(texts, seed, tmp_path_factory):
    numbers = np.random.default_rng(seed).normal(size=len(texts))
    table = pa.table({"text": pa.array(texts, pa.string()), "number": numbers})
    path = tmp_path_factory.getbasetemp() / "again.csv"
    path.write_bytes(table_bytes(table, "csv"))
    found = read_source(str(path), CsvFormat(text=("text",)))
    assert found.table["text"].to_pylist() == texts
    assert found.table["number"].to_pylist() == numbers.tolist()
    assert len(found.text.lines) == len(texts)
