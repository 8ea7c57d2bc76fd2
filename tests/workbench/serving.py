"""A server of its own for a test, as a person starts it, and a browser on its page."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from tests.report.browser import Browser


class Serving:
    """`bayescout serve` in a process; use as a context manager."""

    def __init__(self, folder, *arguments, port=0, project="project"):
        self.folder = folder
        self.arguments = [*arguments, "--project", str(folder / project), "--port", str(port), "--no-open"]
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bayescout", "serve", *self.arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.process.stderr.read()
        self.port = int(self.address.split(":")[2].split("/")[0])

    def kill(self):
        self.process.kill()
        self.process.wait(20)
        self.close()

    def close(self):
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        self.close()


class Person:
    """What a person does at the page, in the browser."""

    def __init__(self, browser: Browser, serving: Serving, width=1280, height=720):
        self.browser = browser
        self.serving = serving
        browser.size(width, height)
        browser.theme("light")
        self.come()

    def come(self):
        self.browser.driver.get("about:blank")  # the page of a server that has ended still asks for it
        self.browser.complaints()
        self.browser.driver.get(self.serving.address)
        self.until("Boolean(window.served)")

    def run(self, script, *arguments):
        return self.browser.run(script, *arguments)

    def until(self, condition, seconds=60.0):
        self.browser.until(condition, seconds)

    def click(self, selector):
        self.browser.run("document.querySelector(arguments[0]).scrollIntoView({block: 'nearest'})", selector)
        self.browser.click(selector)

    def text(self, selector):
        return self.browser.text(selector)

    def unfold(self, part):
        self.run("document.getElementById(arguments[0]).open = true", f"part-{part}")

    def choose(self, selector, value):
        script = "const e = document.querySelector(arguments[0]); e.value = arguments[1];"
        self.run(script + "e.dispatchEvent(new Event('change', {bubbles: true}))", selector, value)

    def put(self, selector, value):
        script = "const e = document.querySelector(arguments[0]); e.value = arguments[1];"
        script += "for (const name of ['input', 'change']) e.dispatchEvent(new Event(name, {bubbles: true}))"
        self.run(script, selector, value)

    def search(self, name="hill-climb", score="bic", pace=""):
        before = self.run("return served.runs.map(run => run.id)")
        self.choose("#search-name", name)
        self.choose("#score-name", score)
        self.choose("#play-pace", pace)
        self.click("#start")
        self.until(f"served.source.run && !{before}.includes(served.source.run.id)")

    def ended(self, seconds=120.0):
        self.until("served.source.run && ['ended', 'failed'].includes(served.source.run.state)", seconds)
        self.until("!served.fetching && served.source.run.positions && !served.app.drawing.gliding")
        assert self.run("return served.source.run.state") == "ended", self.text("#run-state")

    def arcs(self):
        """The arcs that are drawn, as pairs of names."""
        script = "const {names} = served.app.net;"
        script += "return served.app.drawing.list.map(l => [names[l.a], names[l.b]])"
        return {tuple(pair) for pair in self.run(script)}

    def place(self, name):
        """Where a variable is on the screen."""
        script = """
        const d = served.app.drawing, [x, y] = d.net.boxes[d.net.index.get(arguments[0])];
        const {left, top} = d.room();
        return [left + x * d.place.scale + d.place.x, top + y * d.place.scale + d.place.y];
        """
        return self.run(script, name)

    def drag(self, start, *stops):
        moves = [{"x": start[0], "y": start[1], "press": True}]
        moves += [{"x": x, "y": y} for x, y in stops]
        moves[-1]["release"] = True
        self.browser.pointer(*moves)

    def twice(self, place):
        """A double click."""
        x, y = place
        press = {"x": x, "y": y, "press": True, "release": True}
        self.browser.pointer(press, press)
