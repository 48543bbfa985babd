"""A page is opened in headless Chromium, a script uses it, and what it saw comes back.

The page is in a frame of a second page, which counts errors and requests, and leaves
the answer in its own text: `--dump-dom` prints it, and no driver is needed.
"""

import html
import json
import re
import shutil
import subprocess

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-sync"),
    *("--disable-component-update", "--disable-dev-shm-usage"),
)
HARNESS = """<!DOCTYPE html><iframe id="frame" style="width: WIDTHpx; height: 800px">
</iframe><pre id="answer"></pre><script>
var errors = [];
const probe = `<script>
addEventListener("error", (event) => parent.errors.push(event.message));
console.error = (...words) => parent.errors.push(words.join(" "));
</scr` + `ipt>`;
const frame = document.getElementById("frame");
frame.onload = () => {
  const inner = frame.contentWindow, page = frame.contentDocument;
  let seen = null;
  try { seen = (STEPS)(page, inner); } catch (error) { errors.push(String(error)); }
  const requests = inner.performance.getEntriesByType("resource").map((r) => r.name);
  const width = page.documentElement.scrollWidth;
  const answer = JSON.stringify({ seen, errors, requests, width });
  document.getElementById("answer").textContent = answer;
};
frame.srcdoc = PAGE.replace("<head>", "<head>" + probe);
</script>"""


def use_page(text, steps, folder, *, width=1280):
    """Run `steps`, a function of (document, window), on a page; return what came of it.

    A dict of what the steps returned (seen), errors, requests, and the page's width.
    """
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        pytest.skip("there is no Chromium")
    page = json.dumps(text).replace("<", "\\u003c")
    harness = HARNESS.replace("WIDTH", str(width)).replace("STEPS", steps)
    path = folder / "harness.html"
    path.write_text(harness.replace("PAGE", page, 1), encoding="utf-8")
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [browser, *QUIET, profile, "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    dump = done.stdout.decode()
    answer = re.search(r'<pre id="answer">(.*?)</pre>', dump, re.DOTALL)[1]
    return json.loads(html.unescape(answer))
