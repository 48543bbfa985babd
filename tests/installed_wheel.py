"""The wheel works where nothing but its dependencies is installed: `make test-wheel`.

python tests/installed_wheel.py FRESH_PYTHON CONSTRAINTS [options of pip]
"""

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"
MAKE_TABLE = """
import csv, random
random.seed(0)
with open("table.csv", "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["size", "noise", "label"])
    for _ in range(200):
        size = random.gauss(0, 1)
        rows.writerow([size, random.gauss(0, 1), "big" if size > 0 else "small"])
"""


def run(*command, folder):
    """Return what a command prints; it must succeed, and see no source tree."""
    done = subprocess.run(
        [*map(str, command)], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{command} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def check_files(wheel):
    """Compare the wheel's files with the source tree's."""
    is_cache = re.compile(r"__pycache__|\.egg-info")
    sources = {path.relative_to(SRC).as_posix() for path in SRC.rglob("*.*")}
    wanted = {name for name in sources if not is_cache.search(name)}
    found = set(zipfile.ZipFile(wheel).namelist())
    if missing := {name for name in wanted if (SRC / name).is_file()} - found:
        sys.exit(f"not in the wheel: {sorted(missing)}")
    if not any(name.endswith("licenses/LICENSE") for name in found):
        sys.exit("the licence is not in the wheel")


def check_readme(python, folder):
    """Run the README's first example and compare what it prints."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, output = re.search(
        r"```python\n(.*?)```\s*```text\n(.*?)```", text, re.DOTALL
    ).groups()
    printed = run(python, "-I", "-c", code, folder=folder)
    if printed != output:
        sys.exit(f"the README's example prints {printed!r}, not {output!r}")


def check_command(python, folder):
    """Select from a file by the command that the wheel installs."""
    command = Path(python).with_name("featuresieve")
    run(python, "-I", "-c", MAKE_TABLE, folder=folder)
    words = ["select", "table.csv", "--target", "label", "--seed", "0"]
    words += ["--out", "small.csv", "--report", "page.html", "--test", "0"]
    printed = run(command, *words, folder=folder)
    header = (folder / "small.csv").read_text().splitlines()[0].replace('"', "")
    page = (folder / "page.html").read_text(encoding="utf-8")
    if "kept 1 of 2" not in printed or header != "size,label" or "1 of 2" not in page:
        sys.exit(f"the command wrote {header!r} and printed:\n{printed}")


def main():
    """Install the wheel of dist/, then with the extras of the command; check both."""
    python, constraints = (Path(word).absolute() for word in sys.argv[1:3])
    install = [python, "-m", "pip", "install", "--disable-pip-version-check", "-q"]
    install += [*sys.argv[3:], "-c", constraints]
    (wheel,) = (ROOT / "dist").glob("*.whl")
    check_files(wheel)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(*install, wheel, folder=folder)
        check_readme(python, folder)
        run(python.with_name("featuresieve"), "--version", folder=folder)
        run(*install, f"{wheel}[cli,report]", folder=folder)
        check_command(python, folder)


if __name__ == "__main__":
    main()
