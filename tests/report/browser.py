"""Chromium without a window: pictures of a page, its measurements after loading, its pages in print, what it logs."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser")
SCHEMES = {"dark": "0", "light": "1"}  # of Blink's setting preferredColorScheme

MEASURE = """
<script>
addEventListener('load', () => {
  const rgb = (text) => { const m = text.match(/[\\d.]+/g) || [0, 0, 0, 0]; return m.map(Number); };
  const luminance = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const worst = { ratio: 99 };
  for (const element of document.body.querySelectorAll('*')) {
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (!own || element.closest('desc, title, style, script')) continue;
    const style = getComputedStyle(element);
    const colour = element.closest('svg') ? style.fill : style.color;
    if (colour === 'none') continue;
    const [a, b] = [luminance(rgb(colour)), luminance(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < worst.ratio) Object.assign(worst, { ratio, text: element.textContent.slice(0, 40), colour });
  }
  const root = document.documentElement;
  parent.postMessage({
    width: root.clientWidth, scrolls: root.scrollWidth, worst, pwned: String(window.pwned),
    dark: matchMedia('(prefers-color-scheme: dark)').matches, title: document.title,
    resources: performance.getEntriesByType('resource').map(entry => entry.name),
    wide: [...document.querySelectorAll('.wide')].filter(box => box.scrollWidth > box.clientWidth).length,
    past: [...document.querySelectorAll('body *')].filter(one => !one.closest('.wide') &&
      one.getBoundingClientRect().right > root.clientWidth + 1)
      .map(one => one.tagName + '.' + one.className).slice(0, 5),
    outside: [...document.querySelectorAll('table')].filter(one => !one.closest('.wide')).length,
  }, '*');
});
</script>
"""
OUTER = """<!DOCTYPE html><meta charset="utf-8"><title>frames</title><body>
<script>
const found = [];
addEventListener('message', (event) => {
  found.push(event.data);
  document.getElementById('found').textContent = JSON.stringify(found);
});
</script>
<pre id="found">[]</pre>
{frames}
"""


def find_chromium() -> str | None:
    """Return the command, or None where there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@dataclass(frozen=True)
class Browser:
    """``home`` is a folder of its own, for profile and answers."""

    command: str
    home: Path

    def ask(self, page: Path, *flags: str, scheme: str = "light") -> subprocess.CompletedProcess[str]:
        """Open a page and return what was printed; scripts, if any, have run by then."""
        words = [
            *(self.command, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"),
            *("--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking"),
            *(f"--user-data-dir={self.home / 'profile'}", "--window-size=1200,900", "--force-device-scale-factor=1"),
            *("--enable-logging=stderr", f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}"),
            *(*flags, page.as_uri()),
        ]
        env = {**os.environ, "HOME": str(self.home)}
        done = subprocess.run(words, capture_output=True, text=True, timeout=180, env=env, check=False)
        assert done.returncode == 0, done.stderr
        return done

    def picture(self, page: Path, scheme: str = "light") -> tuple[Path, list[str]]:
        """Return a PNG of the top of the page, and what the page wrote to the console."""
        path = self.home / f"{page.stem}-{scheme}.png"
        done = self.ask(page, f"--screenshot={path}", scheme=scheme)
        return path, [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    def printed(self, page: Path) -> bytes:
        """Return the page printed to PDF."""
        path = self.home / f"{page.stem}.pdf"
        self.ask(page, f"--print-to-pdf={path}", "--no-pdf-header-footer")
        return path.read_bytes()

    def measured(self, page: Path, *widths: int, scheme: str = "light") -> list[dict[str, Any]]:
        """Return what a script finds in copies of the page of some widths, narrowest first.

        The copies lack the page's content security policy, which forbids every script and every request.
        """
        text = page.read_text(encoding="utf-8")
        without, policies = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        assert policies == 1
        copy = html.escape(without.replace("</body>", f"{MEASURE}</body>"))
        frames = "\n".join(
            f'<iframe width="{width}" height="900" style="border:0" srcdoc="{copy}"></iframe>' for width in widths
        )
        outer = self.home / "outer.html"
        outer.write_text(OUTER.replace("{frames}", frames), encoding="utf-8")
        dom = self.ask(outer, "--dump-dom", "--virtual-time-budget=20000", scheme=scheme).stdout
        answer = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
        assert answer is not None
        found: list[dict[str, Any]] = json.loads(html.unescape(answer[1]))
        assert len(found) == len(widths)
        return sorted(found, key=lambda one: one["width"])
