"""A real browser, driven over the W3C WebDriver protocol with nothing but the standard library."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb"),
]
SHIFT, ENTER, LEFT, RIGHT = "\ue008", "\ue007", "\ue012", "\ue014"
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Browser:
    """One session of headless chromium; use as a context manager."""

    def __init__(self) -> None:
        self.profile = tempfile.mkdtemp(prefix="bayescout-browser-")
        self.driver = subprocess.Popen(
            [_needed("chromedriver"), "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.root = f"http://127.0.0.1:{self._port()}"
        options = {
            "binary": _needed("chromium"),
            "args": [*FLAGS, f"--user-data-dir={self.profile}", "--window-size=1280,900"],
        }
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.root += f"/session/{made['sessionId']}"

    def _port(self) -> int:
        """The port that the driver says it has taken."""
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return int(line.rstrip().rstrip(".").split()[-1])
        raise RuntimeError("chromedriver ended before it listened")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(timeout=10)
            self.driver.stdout.close()
            shutil.rmtree(self.profile, ignore_errors=True)

    def _ask(self, method, path, body=None):
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.root + path, content, {"Content-Type": "application/json"}, method=method
        )
        try:
            with DIRECT.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            with error:
                raise AssertionError(json.load(error)["value"]["message"]) from None

    # ---- pages

    def open(self, path: Path) -> None:
        self._ask("POST", "/url", {"url": path.as_uri()})

    def devtools(self, command, **parameters):
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width: int, height: int) -> None:
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def theme(self, name: str) -> None:
        """Light or dark, and no smooth scrolling, so that what is clicked stands still."""
        wanted = {"prefers-color-scheme": name, "prefers-reduced-motion": "reduce"}
        features = [{"name": key, "value": value} for key, value in wanted.items()]
        self.devtools("Emulation.setEmulatedMedia", features=features)

    def run(self, script, *arguments):
        """The value of a script that returns one."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, selector):
        return self._ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def text(self, selector) -> str:
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def count(self, selector) -> int:
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def screenshot(self, path, whole=False) -> None:
        taken = self.devtools("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        Path(path).write_bytes(base64.b64decode(taken))

    # ---- hands

    def click(self, selector) -> None:
        """Where the pointer of a person would be: an element that something covers is not clicked."""
        self._ask("POST", f"/element/{self.find(selector)}/click", {})

    def type(self, selector, keys) -> None:
        self._ask("POST", f"/element/{self.find(selector)}/value", {"text": keys})

    def pointer(self, *moves, keys="") -> None:
        """Pointer actions ({"x": , "y": , "press": , "release": }) while keys are held."""
        steps = []
        for move in moves:
            steps.append({"type": "pointerMove", "duration": 0, "x": round(move["x"]), "y": round(move["y"])})
            if move.get("press"):
                steps.append({"type": "pointerDown", "button": 0})
            if move.get("release"):
                steps.append({"type": "pointerUp", "button": 0})
        held = [{"type": "keyDown", "value": key} for key in keys]
        if held:
            self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": held}]})
        self._ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": steps}]})
        if held:
            let_go = [{"type": "keyUp", "value": key} for key in keys]
            self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": let_go}]})

    def wheel(self, x, y, by) -> None:
        turn = {"type": "scroll", "x": round(x), "y": round(y), "deltaX": 0, "deltaY": by, "duration": 0}
        self._ask("POST", "/actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [turn]}]})

    def keys(self, text) -> None:
        """Keys pressed one after another where the focus is."""
        pressed = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": pressed}]})

    # ---- what the browser says

    def complaints(self) -> list[str]:
        """Errors and warnings of the console since last asked."""
        entries = self._ask("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self) -> list[str]:
        """Addresses that were asked for since last asked."""
        entries = self._ask("POST", "/se/log", {"type": "performance"})
        events = [json.loads(entry["message"])["message"] for entry in entries]
        asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [address for address in asked if not address.startswith("data:")]

    def until(self, condition, seconds=5.0) -> None:
        """Wait for a script's value to be true."""
        end = time.monotonic() + seconds
        while not self.run(f"return {condition}"):
            assert time.monotonic() < end, f"still not so: {condition}"
            time.sleep(0.02)


def _needed(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise RuntimeError(
            f"{program} is not installed, which the tests of the pages need: "
            f"apt-get install chromium chromium-driver"
        )
    return found
