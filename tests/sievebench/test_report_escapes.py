"""Names show every sign they have, in each format of a table."""

import pandas as pd
import pytest
from made_runs import whole_study

from sievebench.report import gather
from sievebench.report.tables import Table, latex, markdown
from sievebench.report.writing import html_page

HOSTILE = "a|b `c` <b>_d_ e_f &amp; 5% \\x [l](u) *m* ~s~ {g} #h ^i $j$\nk\x1b"


def hostile(name=HOSTILE):
    """Return a table with one name in its title, header, cells and notes."""
    data = pd.DataFrame({name: [name]})
    return Table("t", name, data, (name,), ((name,), ("[p]",)), notes=(name,))


def test_markdown_shows_every_sign_of_a_name():
    shown = (
        r"a\|b \`c\` \<b>\_d\_ e_f \&amp; 5% \\x \[l\](u) \*m\* \~s\~ {g} #h ^i $j$ k "
    )
    title, _, header, _, first, last, _, note = markdown(hostile()).splitlines()
    assert title == f"## {shown}"
    assert header == f"| {shown} |"
    assert first == header
    assert last.startswith(r"| \[p\] ")
    assert note == f"- {shown}"


def test_latex_shows_every_sign_of_a_name():
    shown = (
        r"a\textbar{}b \textasciigrave{}c\textasciigrave{} \textless{}b\textgreater{}"
        r"\_d\_ e\_f \&amp; 5\% \textbackslash{}x {[}l{]}(u) {*}m{*} "
        r"\textasciitilde{}s\textasciitilde{} \{g\} \#h \textasciicircum{}i \$j\$ k "
    )
    lines = latex(hostile()).splitlines()
    assert lines[4] == lines[6] == rf"{shown} \\"
    assert lines[7] == r"{[}p{]} \\"
    assert lines[0] == lines[1] == f"% {' '.join(HOSTILE.splitlines())[:-1]} "


@pytest.mark.parametrize("name", ["lasso:a/../../b", "lasso:a\nb", "lasso:\x1b[2J"])
def test_runs_with_names_that_no_file_can_have_are_refused(name):
    runs = whole_study()
    runs["selector"] = runs["selector"].replace("lasso", name)
    with pytest.raises(ValueError, match="column 'selector' must hold names that can"):
        gather(runs)


def test_page_shows_every_sign_of_a_name():
    page = html_page(gather(whole_study()), [("Scores", [hostile()])], {}, {})
    assert "<b>" not in page
    assert page.count("&lt;b&gt;_d_ e_f &amp;amp; 5%") == 4
