"""What the command does when something is wrong, or when it is stopped."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import featuresieve
from featuresieve.cli import main
from made_files import plain_text

COMMAND = [sys.executable, "-m", "featuresieve"]
QUICK = ("--balance", "price", "--epochs", "3")


@pytest.fixture
def strange_files():
    """Write a file without a header, and one with spaces between its cells."""
    Path("bare.csv").write_text("1,2.5\n3,4.5\n")
    Path("spaces.txt").write_text("x y\n1 2\n")


def files():
    return sorted(path.name for path in Path().iterdir())


def refused(capsys, *words):
    """Run a command that must be refused in one line, and return the line."""
    assert main(words) == 2
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert line.startswith("featuresieve: error: ")
    assert captured.out == ""
    return line


PLAIN = "select plain.csv --target label"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "say which command: 'select', 'apply', 'demo', 'doctor' (see"),
        ("selct", "there is no command 'selct'; did you mean 'select'?"),
        ("plain.csv --target a", "no command 'plain.csv'; there are 'select', 'apply'"),
        ("--taget", "there is no option --taget; did you mean '--target'?"),
        ("--taget=a select plain.csv", "no option --taget; did you mean '--target'?"),
        ("select -x plain.csv --target a", "there is no option -x (see"),
        ("--target a select plain.csv", "--target stands after the command"),
        ("select", "required: FILE"),
        ("select --target a --keep b plain.csv", "FILE, which stands before the"),
        ("select plain.csv", "--target is required"),
        ("select none.csv --target y", "there is no file none.csv"),
        ("select . --target y", "is a folder"),
        ("select https://a.org/t.csv?x=1 --target y", "an address, and only files are"),
        ("select s3://bucket/t.parquet --target y", "read: download it first."),
        ("select plain.csv --target lable", "did you mean 'label'?"),
        ("select plain.csv --target LABEL", "did you mean 'label'?"),
        ("select plain.csv --target xyz", "there are 'a', 'b', 'c', 'd'"),
        (["select", "", "--target", "a"], "the path of a file must not be empty."),
        ([*PLAIN.split(), "--out", ""], "--out: the name of the file is empty."),
        (["select", "plain.csv", "--target", "--my y"], "is no column '--my y'"),
        (f"{PLAIN} --frobnicate", "no option --frobnicate (see featuresieve select "),
        (f"{PLAIN} --n-feature 3", "option --n-feature; did you mean '--n-features'?"),
        (f"{PLAIN} a.csv b.csv", "'a.csv' is one word too many; names with spaces and"),
        ("doctor --verbose", "there is no option --verbose (see featuresieve doctor "),
        (f"{PLAIN} --max-features 0", "must be a whole number >= 1, got '0' (see"),
        (f"{PLAIN} --max-features {2**31}", "must be a whole number <= 2147483647, "),
        (f"{PLAIN} --jobs 0", "--jobs: must be a whole number >= 1"),
        (f"{PLAIN} --max-time 0", "--max-time: must be a number of seconds"),
        (f"{PLAIN} --test 0.9", "--test: must be a number from 0 to 0.5"),
        (f"{PLAIN} --task ranking", "--task: invalid choice: 'ranking'"),
        (f"{PLAIN} --goal all", "--goal: invalid choice: 'all'"),
        (f"{PLAIN} --judge forest", "--judge: invalid choice: 'forest'"),
        (f"{PLAIN} --cost a", "--cost: must be NAME=NUMBER"),
        (f"{PLAIN} --cost q=1", "--cost: there is no column 'q'"),
        (f"{PLAIN} --keep e", "--keep: there is no column 'e'"),
        (f"{PLAIN} --drop label", "--drop: 'label' is the column of --target"),
        (f"{PLAIN} --keep label", "--keep: 'label' is the column of --target"),
        (f"{PLAIN} --cost label=2", "--cost: 'label' is the column of --target"),
        (f"{PLAIN} --weight a --drop a", "--drop: 'a' is the column of --weight"),
        (f"{PLAIN} --drop *", "there is no column left"),
        (f"{PLAIN} --weight w", "--weight: there is no column 'w'"),
        (f"{PLAIN} --row-group w", "--row-group: there is no column 'w'"),
        (f"{PLAIN} --time w", "--time: there is no column 'w'"),
        (f"{PLAIN} --class-weight maybe=2", "has no class 'maybe'"),
        (f"{PLAIN} --task regression", "'label' holds text such as 'no'"),
        (f"{PLAIN} --encoding utf-16", "plain.csv is not written in utf-16"),
        (f"{PLAIN} --delimiter ab", "--delimiter: must be one character"),
        (f"{PLAIN} --out no/out.csv", "--out: there is no folder 'no'"),
        (f"{PLAIN} --out out.xls", "--out: out.xls must end in .csv"),
        (f"{PLAIN} --json /proc/x.json", "--json: "),  # none may, root neither
        (f"{PLAIN} --out plain.csv", "plain.csv is read, and must not be written"),
        (f"{PLAIN} --plot p.gif", "--plot: p.gif must end in .png, .svg or .pdf"),
        (f"{PLAIN} --report p.pdf", "--report: p.pdf must end in .html or .htm"),
        (f"{PLAIN} --report -", "--report must name a file"),
        (f"{PLAIN} --out - --json -", "cannot both be standard output"),
        (f"{PLAIN} --out x.csv --json x.csv", "name the same file"),
        (f"{PLAIN} --config none.toml", "none.toml: No such file"),
        (f"{PLAIN} --drop a* --keep a", "--keep and --drop contradict each other"),
        (f"{PLAIN} --drop a --keep ?", "--drop contradict each other: both name 'a'."),
        (f"{PLAIN} --drop a* --group a b", "--group and --drop contradict each other"),
        (f"{PLAIN} --drop a* --cost a=2", "--cost and --drop contradict each other"),
        # What the estimator refuses is told in words of options.
        (f"{PLAIN} --quiet --n-features 9", "--n-features must be"),
        (
            f"{PLAIN} --quiet --goal all_relevant --balance 1",
            "with --goal='all_relevant'",
        ),
        (f"{PLAIN} --quiet --group a b --group b c", "--group must be disjoint"),
        ("select bare.csv --target y", "seems to be data"),
        ("select spaces.txt --target y", "name it with --delimiter"),
        ("apply none.sieve plain.csv", "there is no file none.sieve"),
        (
            "apply plain.csv plain.csv",
            "its header is none: it was not written by `save`.",
        ),
        ("select a\0b.csv --target y", r"must not hold a NUL character, got 'a\x00b"),
        (f"{PLAIN} --save a\0b", r"must not hold a NUL character, got 'a\x00b"),
        ("apply a\0b a.csv --out c.csv", r"not hold a NUL character, got 'a\x00b"),
    ],
)
@pytest.mark.usefixtures("strange_files")
def test_wrong_words_are_refused_in_one_line(capsys, words, message):
    words = words.split() if isinstance(words, str) else words
    assert message in refused(capsys, *words)
    assert files() == ["bare.csv", "plain.csv", "spaces.txt"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--device abacus", "--device: must be auto, cpu, cuda"),
        ("--encoding klingon", "there is no encoding 'klingon'"),
        ("--encoding hex", "there is no encoding 'hex'"),
        (
            "--n-features 5 --max-features 3",
            "--n-features must be at most --max-features, 3, got 5",
        ),
        (
            "--keep a b --n-features 1",
            "--n-features must be at least the number of columns that --keep names, 2",
        ),
        ("--keep a b --max-features 1", "--max-features must be at least"),
        ("--keep a --drop b a", "--keep and --drop contradict each other"),
        ("--weight label", "--weight and --target are both 'label'"),
        ("--row-group label", "--row-group and --target are both 'label'"),
        ("--time label", "--time and --target are both 'label'"),
        ("--time a --row-group b", "--time and --row-group exclude each other"),
        (
            "--task regression --class-weight balanced",
            "--class-weight is for classification",
        ),
        ("--quiet --verbose", "exclude each other"),
    ],
)
def test_what_no_file_can_fix_is_refused_before_it_is_read(capsys, words, message):
    line = refused(capsys, *f"select none.csv --target label {words}".split())
    assert message in line


NUMERIC = (
    *("--balance", "--max-features", "--n-features", "--test", "--seed", "--max-time"),
    *("--epochs", "--skip", "--cost", "--class-weight"),
)
ODD = ("inf", "nan", "-1", "1e400", "0x10", "1_0", "", " 3", "\u0663", "1,5", "x")
ODD += ("1" + "0" * 400,)


@pytest.mark.parametrize("option", NUMERIC)
def test_odd_numbers_are_refused_with_what_was_given(capsys, option):
    name = "a=" if option in ("--cost", "--class-weight") else ""
    for word in ODD:
        words = ("select", "none.csv", "--target", "y", f"{option}={name}{word}")
        line = refused(capsys, *words)
        assert f"{option}: must be " in line
        assert len(word) > 99 or f"got {name + word!r}" in line
        if not name and word in ("inf", "nan", ODD[-1]):
            Path("c.toml").write_text(f"target = 'y'\n{option[2:]} = {word}")
            line = refused(capsys, "select", "none.csv", "--config", "c.toml")
            assert f"{option}: must be " in line


@pytest.mark.parametrize("name", ["cuda", "cuda:1", "mps"])
def test_device_that_is_not_there_is_refused_before_the_file_is_read(
    monkeypatch, capsys, name
):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    words = ("select", "not there.csv", "--target", "label", "--device", name)
    assert f"--device: there is no {name} here" in refused(capsys, *words)


def in_another_process(code):
    words = [sys.executable, "-c", f"import sys; {code}"]
    return subprocess.run(words, capture_output=True, text=True)


@pytest.mark.parametrize("name", ["auto", "cpu"])
def test_device_that_is_there_does_not_load_torch_before_the_file(name):
    done = in_another_process(
        "from featuresieve.cli import main;"
        f"main(['select', 'none.csv', '--target', 'y', '--device', {name!r}]);"
        "sys.exit('torch' in sys.modules)"
    )
    assert done.returncode == 0
    assert "there is no file none.csv" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("targte = 'label'", "no option 'targte'; did you mean 'target'?"),
        ("file = 'x.csv'", "no option 'file'"),
        ("target = [", "is not TOML"),
        ("target = 'label'\nseed = -1", "--seed: must be a whole number"),
        ("target = 'label'\nkeep = 3", "keep must be a list of names"),
        ("target = 'label'\ncost = ['a']", "cost must be a table of numbers"),
        ("target = 'label'\nquiet = 'yes'", "quiet must be true or false"),
        ("target = 'label'\ngroup = 'a'", "group must be a list of lists"),
        ("target = true", "target must be a text or a number"),
    ],
)
def test_wrong_configuration_is_refused(capsys, text, message):
    Path("c.toml").write_text(text)
    assert message in refused(capsys, "select", "plain.csv", "--config", "c.toml")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([None] * 60, "is missing in every row"),
        (["x"] * 60, "is 'x' in every row"),
        ([0] * 60, "'y' is 0 in every row"),
        ([2.5] * 60, "'y' is 2.5 in every row"),
        ([True] * 60, "'y' is True in every row"),
        ([f"name {row}" for row in range(60)], "60 different values in 60 rows"),
        (pa.array([0] * 60, pa.date32()), "holds date32"),
    ],
)
def test_columns_that_are_no_target_are_refused(capsys, values, message):
    parquet.write_table(pa.table({"x": range(60), "y": values}), "t.parquet")
    assert message in refused(capsys, "select", "t.parquet", "--target", "y")


def test_repeated_target_is_refused(capsys):
    Path("t.csv").write_text("y,y,x\n1,2,3\n")
    line = refused(capsys, "select", "t.csv", "--target", "y")
    assert "has 2 columns named 'y'" in line


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "picture.png", "s.sieve"])
def test_error_while_writing_leaves_nothing(monkeypatch, capsys, name):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(featuresieve.AutoNFSClassifier, "to_json", fail)
    option = {"png": "--plot", "sieve": "--save"}.get(name.split(".")[1], "--out")
    words = [*PLAIN.split(), *QUICK, option, name, "--json", "x.json"]
    assert main(words) == 2
    assert "x.json cannot be written: the disk is full" in capsys.readouterr().err
    assert files() == ["plain.csv"]


def test_interrupt_while_writing_leaves_the_old_file(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    Path("out.csv").write_text("before")
    monkeypatch.setattr(featuresieve.AutoNFSClassifier, "to_json", interrupt)
    assert main([*PLAIN.split(), *QUICK, "--out", "out.csv", "--json", "x.json"]) == 130
    assert files() == ["out.csv", "plain.csv"]
    assert Path("out.csv").read_text() == "before"


def test_interrupt_that_python_wrapped_is_an_interrupt(monkeypatch, capsys):
    class Name:
        def __set_name__(self, *_):
            raise KeyboardInterrupt

    def make_a_class(*_):
        type("Made", (), {"name": Name()})

    with pytest.raises(BaseException) as wrapped:
        make_a_class()
    monkeypatch.setattr(featuresieve.AutoNFSClassifier, "fit", make_a_class)
    assert main([*PLAIN.split(), *QUICK, "--quiet"]) == 130
    assert capsys.readouterr().err == "featuresieve: interrupted\n"
    is_wrapped = sys.version_info < (3, 12)
    assert wrapped.type is (RuntimeError if is_wrapped else KeyboardInterrupt)


def test_failed_run_has_status_one(monkeypatch, capsys):
    def diverge(*_):
        raise featuresieve.TrainingDivergedError("the loss is not finite.")

    monkeypatch.setattr(featuresieve.AutoNFSClassifier, "fit", diverge)
    assert main([*PLAIN.split(), "--quiet", "--json", "x.json"]) == 1
    assert capsys.readouterr().err == "featuresieve: error: the loss is not finite.\n"
    assert files() == ["plain.csv"]


def test_missing_package_is_named_with_what_installs_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    line = refused(capsys, *PLAIN.split(), "--plot", "p.png")
    assert line.endswith("this needs matplotlib: pip install 'featuresieve[plot]'")
    done = in_another_process(
        "sys.modules['pyarrow'] = None; from featuresieve.cli import main;"
        "sys.exit(main(['select', 'plain.csv', '--target', 'label']))"
    )
    assert done.returncode == 2
    assert done.stderr == (
        "featuresieve: error: this needs pyarrow: pip install 'featuresieve[cli]'\n"
    )


def test_help_is_quick_because_no_large_library_is_imported():
    done = in_another_process(
        "from featuresieve.cli import main; main(['select', '--help']);"
        "large = {'torch', 'sklearn', 'pandas', 'numpy', 'scipy', 'pyarrow'};"
        "sys.exit(bool(large & set(sys.modules)))"
    )
    assert done.returncode == 0, done.stderr


def test_module_runs_as_a_command():
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, featuresieve.__version__)


def test_broken_pipe_is_quiet():
    Path("plain.csv").write_text(plain_text(6000))  # more than a pipe holds
    words = [*PLAIN.split(), *QUICK, "--quiet", "--out", "-"]
    with subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() != b""
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


@pytest.mark.parametrize("outputs", [(), ("--out", "small.csv", "--save", "s.sieve")])
def test_files_are_written_though_nobody_reads_the_screen(outputs):
    words = [*PLAIN.split(), *QUICK, *outputs]
    with subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline().startswith("plain.csv: 120 rows")
        process.stdout.close()
        error = process.stderr.read()
        assert process.wait() == (0 if outputs else 141)
    assert "wrote small.csv" in error or not outputs
    assert files() == ["plain.csv", *(["s.sieve", "small.csv"] if outputs else [])]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for a child")
@pytest.mark.parametrize("wait", [0.03, 4])  # modules are loaded; a fit
def test_interrupt_ends_with_one_line_and_no_files(wait):
    Path("large.csv").write_text(plain_text(20_000))
    words = ["select", "large.csv", "--target", "label", "--out", "out.csv"]
    words += ["--epochs", "100000"]  # it is at work for as long as this may take
    with subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while not process.stdout.readline().startswith("classes"):
            pass
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        try:
            _, error = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == -signal.SIGINT
    assert error.splitlines()[-1] == "featuresieve: interrupted"
    assert "Traceback" not in error
    assert files() == ["large.csv", "plain.csv"]


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
@pytest.mark.parametrize("option", ["--out", "--json", "--save", "--plot", "--report"])
def test_link_that_leads_to_itself_is_refused_before_any_work(tmp_path, capsys, option):
    loops = [tmp_path / "one.csv", tmp_path / "two.csv"]
    loops[0].symlink_to(loops[1])
    loops[1].symlink_to(loops[0])
    assert main(["select", "none.csv", "--target", "y", option, str(loops[0])]) == 2
    assert "one.csv is a link that leads to itself" in capsys.readouterr().err
