"""Photograph the page of `featuresieve demo` for the documentation.

python tests/page_pictures.py    # docs/images/report.png; needs Chromium
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from featuresieve.cli import main
from featuresieve.cli._demo import demo_file
from headless_browser import NAMES, QUIET

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "report.png"


def photograph():
    """Select from the demo's table, and save the first screen of the page."""
    browser = next(filter(None, map(shutil.which, NAMES)))
    with demo_file() as table, tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        words = ["select", str(table), "--target", "diagnosis", "--test", "0.3"]
        assert main([*words, "--report", str(page), "--quiet"]) == 0
        camera = (f"--screenshot={PICTURE}", "--window-size=1180,1130")
        profile = f"--user-data-dir={folder}/profile"
        command = [browser, *QUIET, profile, "--hide-scrollbars", *camera]
        subprocess.run([*command, page.as_uri()], check=True)


if __name__ == "__main__":
    photograph()
