"""How fast is a large network drawn in the browser, and how many frames a second does moving it keep?

Learns munin (1,041 variables) by greedy climbing, draws it anew, and moves it for three seconds at several
zooms. Frames are counted as the browser shows them (requestAnimationFrame); painting is the time of the
page's own work in a frame, which a busy machine leaves as it is. Needs Chromium, as the tests of the page do.

    python benchmarks/page_frames.py [--example munin] [--rows 1000] [--width 1440] [--height 900]
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.report.browser import Browser  # noqa: E402
from tests.workbench.serving import Person, Serving  # noqa: E402

DRAWN = """
const {drawing} = served.app, {net} = drawing, began = performance.now();
drawing.painter = null;
drawing.show(net);
drawing.painter.paint?.();
return performance.now() - began;
"""
MOVED = """
const done = arguments[arguments.length - 1], {drawing} = served.app, frames = [], paints = [];
let last = performance.now();
drawing.zoom(arguments[0]);
const step = (now) => {
  frames.push(now - last);
  last = now;
  drawing.move(frames.length % 40 < 20 ? 9 : -9, frames.length % 40 < 20 ? 4 : -4);
  paints.push(drawing.painter.took || 0);
  if (frames.length < 180) { requestAnimationFrame(step); return; }
  drawing.fit();
  const sorted = (list) => list.slice(1).sort((a, b) => a - b), [f, p] = [sorted(frames), sorted(paints)];
  const at = (list, share) => list[Math.floor(share * (list.length - 1))];
  done([1000 * f.length / f.reduce((a, b) => a + b), at(f, 0.5), at(f, 0.95), at(p, 0.5), at(p, 0.95)]);
};
requestAnimationFrame(step);
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--example", default="munin")
    parser.add_argument("--rows", default="1000")
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--height", type=int, default=900)
    given = parser.parse_args()
    if shutil.which("chromedriver") is None:
        print("no browser here: apt-get install chromium chromium-driver")
        return
    with Browser() as browser, tempfile.TemporaryDirectory() as folder:
        browser.driver.set_script_timeout(120)
        with Serving(Path(folder), "--example", given.example, "--rows", given.rows) as serving:
            person = Person(browser, serving, given.width, given.height)
            person.search("hill-climb", "bic")
            person.ended(600)
            drawn = sorted(person.run(DRAWN) for _ in range(5))
            print(f"drawn in {drawn[2]:.0f} ms (median of 5, largest {drawn[4]:.0f})")
            print(f"{'zoom':>5}{'frames/s':>10}{'median':>9}{'95%':>8}{'painting':>10}{'95%':>8}   ms")
            for zoom in (1, 2, 6, 20):
                rate, *times = browser.driver.execute_async_script(MOVED, zoom)
                print(
                    f"{zoom:>5}{rate:>10.1f}{times[0]:>9.1f}{times[1]:>8.1f}{times[2]:>10.1f}{times[3]:>8.1f}"
                )
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
