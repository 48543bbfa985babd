"""Files of tables for the tests of the command."""

import csv
import io

import numpy as np

MESSY_HEADINGS = (
    *("customer id", "", "Größe (cm)", 'the "b" value', " city ", "age"),
    *("signed up", "currency", "zip", "flag", "mixed", "nothing", "income", "churned?"),
)


def messy_rows(n_rows=240, seed=1):
    """Return cells: mixed types, gaps in many spellings, an imbalanced text target.

    "Größe (cm)" and " city " decide the target.
    """
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n_rows)
    city = rng.choice(["Köln", "Paris", "São Paulo", "x, y"], n_rows)
    risk = 2 * size + 2 * (city == "Paris")
    is_yes = risk > np.quantile(risk, 0.9)

    def some(value, gap, share):
        return gap if rng.random() < share else value

    return [
        [
            f"C-{row:05d}",
            row + 1,
            some(f"{size[row]:.3f}", "", 0.1),
            f"{rng.normal():.4f}",
            some(city[row], " ?", 0.05),
            some(rng.integers(18, 90), "unknown", 0.03),
            f"2020-01-{1 + row % 28:02d}",
            "EUR",
            f"{rng.integers(0, 99):05d}",
            rng.choice(["true", "false"]),
            rng.choice(["a", "1", "2.5"]),
            "",
            f"${rng.integers(1, 5000):,}",
            some("yes" if is_yes[row] else "no", "NA", 0.02),
        ]
        for row in range(n_rows)
    ]


def messy_text(n_rows=240):
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(MESSY_HEADINGS)
    writer.writerows(messy_rows(n_rows))
    return text.getvalue()


def plain_columns(n_rows=120, seed=0):
    """Return five columns, of which a and b decide the classes "no" and "yes"."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.normal(size=n_rows).round(3) for name in "abcd"}
    label = np.where(columns["a"] + columns["b"] > 0, "yes", "no")
    return {**columns, "label": label}


def plain_text(n_rows=120, delimiter=","):
    columns = plain_columns(n_rows)
    lines = [delimiter.join(columns)]
    lines += [delimiter.join(map(str, row)) for row in zip(*columns.values())]  # noqa: B905
    return "\n".join(lines) + "\n"
