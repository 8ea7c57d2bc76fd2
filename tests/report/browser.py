"""A real browser, Debian's Chromium, driven by Selenium."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from unittest.mock import patch

from selenium.webdriver import ActionChains, Chrome, ChromeOptions, Keys
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb", "--window-size=1280,900"),
]
SHIFT, ENTER, LEFT, RIGHT = Keys.SHIFT, Keys.ENTER, Keys.ARROW_LEFT, Keys.ARROW_RIGHT


class Browser:
    """One session of headless Chromium; use as a context manager."""

    def __init__(self) -> None:
        options = ChromeOptions()
        options.binary_location = _needed("chromium")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        for flag in FLAGS:
            options.add_argument(flag)
        with patch.dict(os.environ, no_proxy="localhost"):
            self.driver = Chrome(options, Service(_needed("chromedriver")))

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.driver.quit()

    # ---- pages

    def open(self, path: Path) -> None:
        self.driver.get(path.as_uri())

    def devtools(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

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
        return self.driver.execute_script(script, *arguments)

    def text(self, selector) -> str:
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def count(self, selector) -> int:
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    # ---- hands

    def click(self, selector) -> None:
        """Where the pointer of a person would be: an element that something covers is not clicked."""
        self.driver.find_element(By.CSS_SELECTOR, selector).click()

    def type(self, selector, keys) -> None:
        self.driver.find_element(By.CSS_SELECTOR, selector).send_keys(keys)

    def pointer(self, *moves, keys="") -> None:
        """Pointer actions ({"x": , "y": , "press": , "release": }) while keys are held."""
        chain = ActionChains(self.driver, duration=0)
        for key in keys:
            chain.key_down(key)
        for move in moves:
            chain.w3c_actions.pointer_action.move_to_location(round(move["x"]), round(move["y"]))
            chain.w3c_actions.key_action.pause()
            if move.get("press"):
                chain.click_and_hold()
            if move.get("release"):
                chain.release()
        for key in keys:
            chain.key_up(key)
        chain.perform()

    def wheel(self, x, y, by) -> None:
        origin = ScrollOrigin.from_viewport(round(x), round(y))
        ActionChains(self.driver, duration=0).scroll_from_origin(origin, 0, by).perform()

    def keys(self, text) -> None:
        """Keys pressed one after another where the focus is."""
        ActionChains(self.driver, duration=0).send_keys(text).perform()

    # ---- what the browser says

    def complaints(self) -> list[str]:
        """Errors and warnings of the console since last asked."""
        entries = self.driver.get_log("browser")
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self) -> list[str]:
        """Addresses that were asked for since last asked."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [address for address in asked if not address.startswith("data:")]

    def until(self, condition, seconds=5.0) -> None:
        """Wait for a script's value to be true."""
        wait = WebDriverWait(self.driver, seconds, poll_frequency=0.02)
        wait.until(lambda _: self.run(f"return {condition}"), f"still not so: {condition}")


def _needed(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise RuntimeError(
            f"{program} is not installed, which the tests of the pages need: "
            f"apt-get install chromium chromium-driver"
        )
    return found
