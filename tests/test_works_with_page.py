import re
import tomllib

from test_readme import read

ROW = re.compile(r"^\| \[([\w-]+)\]\([\w.#-]+\) \| ([\d.]+) \|", re.MULTILINE)
# Not packages that anybody works with, but what makes another one run.
LEFT_OUT = {"setuptools"}


def normal(name):
    return name.lower().replace("_", "-")


def pins():
    lines = read("constraints-ecosystem.txt").splitlines()
    pairs = (line.split("==") for line in lines if not line.startswith("#"))
    return {normal(name): version for name, version in pairs}


def named_on_the_page():
    return {normal(name): v for name, v in ROW.findall(read("docs/works_with.md"))}


def test_versions_on_the_page_are_those_of_the_environment():
    found = pins()
    expected = {name: found[name] for name in named_on_the_page()}
    assert named_on_the_page() == expected


def test_sentences_on_the_page_name_the_versions_of_the_environment():
    text, found = " ".join(read("docs/works_with.md").split()), pins()
    for name in ("scikit-learn", "torch"):
        assert f"{name} {found[name]}" in text
    assert f"pyarrow is {found['pyarrow']}" in text


def test_page_lists_every_package_of_the_extra():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    extra = project["optional-dependencies"]["ecosystem"]
    linux = [line for line in extra if "!= 'linux'" not in line]
    names = {normal(re.match(r"[\w-]+", line)[0]) for line in linux} - LEFT_OUT
    assert set(named_on_the_page()) == names
