"""The page as text, and what a notebook shows; the only file that needs jinja2."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from featuresieve.errors import did_you_mean
from featuresieve.problem import ClassEncoder, EncodedProblem, ValueScaler
from featuresieve.storage.page._content import (
    answer,
    feature_rows,
    notes_of,
    page_content,
)
from featuresieve.storage.page._fit_data import FitData
from featuresieve.storage.page._worth import SCORE_FIELDS, held_out_gain, how_sure

FACTS = ("title", "target", "file", "command", "score", "notes", "warnings")


def check_facts(facts: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return what is to be said besides, or name what nobody would read."""
    for name in facts or {}:
        if name not in FACTS:
            hint = did_you_mean(str(name), FACTS)
            raise ValueError(f"facts must hold what the page shows, got {name!r}{hint}")
    score = (facts or {}).get("score")
    missing = [] if score is None else [n for n in SCORE_FIELDS if n not in score]
    if missing:
        raise ValueError(
            f"facts['score'] must hold {', '.join(SCORE_FIELDS)}, got no {missing[0]}."
        )
    return facts or {}


def page_text(
    estimator: Any,
    prepared: EncodedProblem | None,
    code: ClassEncoder | ValueScaler,
    facts: Mapping[str, Any],
) -> str:
    """Return the page about a fitted estimator, as HTML."""
    template = _environment().get_template("page.html")
    data = None if prepared is None else FitData(prepared, code)
    return str(template.render(page_content(estimator, data, facts)))


def notebook_text(estimator: Any) -> str:
    """Return the answer with its best columns as a piece of HTML."""
    template = _environment().get_template("notebook.html")
    rows = feature_rows(estimator)
    content = {
        **answer(estimator, rows, "the target"),
        "rows": rows[:10],
        "sure": how_sure(estimator, rows, held_out_gain(estimator)),
        "notes": notes_of(estimator, {}),
    }
    return str(template.render(content))


def _environment() -> Any:
    """Return the templates, which escape everything, or say what to install."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            "the report needs jinja2, which the extra 'report' installs: "
            "pip install 'featuresieve[report]'"
        ) from error
    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": lambda share: "<1%" if 0 < share < 0.01 else f"{share:.0%}",
        "gain": lambda value: f"{value:.1%}".replace("-", "−"),
        "capitalise": lambda text: f"{text[:1].upper()}{text[1:]}",
        "cut": lambda text, most: text if len(text) <= most else f"{text[: most - 1]}…",
    }
    return environment
