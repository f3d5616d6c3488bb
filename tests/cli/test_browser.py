"""`strop serve` in headless Chromium: what a person sees and clicks. Skipped where Chromium or Selenium is not there."""

import json
import os
import pathlib
import shutil
import tempfile
import unittest

from tests.cli.strop_cli import wait_until
from tests.cli.test_serve import Served

try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None
DRIVER = shutil.which("chromedriver")


def browser(folder, width=1280, height=1100):
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-device-scale-factor=1",
                 f"--window-size={width},{height}", f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))


@unittest.skipIf(webdriver is None or DRIVER is None, "Chromium or Selenium is not installed")
class Browser(Served):
    def setUp(self):
        super().setUp()
        place = tempfile.TemporaryDirectory(prefix="strop-browser-")
        self.addCleanup(place.cleanup)
        self.browser = browser(place.name)
        self.addCleanup(self.browser.quit)
        self.browser.set_page_load_timeout(60)

    def find(self, css):
        return self.browser.find_element(By.CSS_SELECTOR, css)

    def button(self, words):
        return self.browser.find_element(By.XPATH, f"//button[normalize-space()='{words}']")

    def text(self, css="body"):
        """Empty where there is none. In one step: the page may be replaced between two."""
        return self.browser.execute_script("return document.querySelector(arguments[0])?.innerText ?? ''", css)

    def complaints(self):
        """What the browser refused or could not do: a policy that was broken, a script's error."""
        return [entry["message"] for entry in self.browser.get_log("browser") if "favicon" not in entry["message"]]

    def keep(self, name):
        """A picture for the documentation, where its folder is named."""
        folder = os.environ.get("STROP_PICTURES")
        if folder:
            self.browser.save_screenshot(str(pathlib.Path(folder) / f"{name}.png"))

    def test_a_live_run_is_followed_stopped_and_resumed(self):
        problem = self.problem("shifted")
        self.browser.get(self.serve())
        self.assertIn("There is no run yet", self.text())
        self.find("input[name=problem]").send_keys(str(problem))
        budget = self.find("input[name=budget]")
        budget.clear()
        budget.send_keys("60s", Keys.ENTER)    # by the keyboard alone
        self.assertTrue(wait_until(lambda: "/runs/shifted-" in self.browser.current_url))
        self.assertIn("Running", self.text("h1"))

        mark = "window.theSamePage = true"
        self.browser.execute_script(mark)

        def evaluations():
            return self.text("#progress td.label") and self.text("#progress .lead")

        self.assertTrue(wait_until(evaluations, 90))
        first = evaluations()
        self.assertTrue(wait_until(lambda: evaluations() != first, 60), "it follows the run")
        self.assertTrue(self.browser.execute_script("return window.theSamePage"), "without loading the page again")
        self.keep("serve_running")

        self.button("Stop").click()
        self.assertTrue(wait_until(lambda: self.browser.find_elements(By.XPATH, "//button[.='Resume']"), 90))
        self.assertIn("Interrupted", self.text("h1"))
        self.find("input[name=budget]").send_keys("5s")
        self.button("Resume").click()
        self.assertTrue(wait_until(lambda: "Shape by shape" in self.text(), 240))
        self.keep("serve_run")

        self.browser.find_element(By.CSS_SELECTOR, "#kernels ~ .scroll td a").click()
        self.assertIn("Source", self.text())
        self.button("Profile").click()
        self.assertTrue(wait_until(lambda: "Its profile" in self.text(), 120))
        self.keep("serve_kernel")
        self.browser.find_element(By.LINK_TEXT, "Its profile").click()
        self.assertIn("Where the time of", self.text("h1"))
        self.find("details summary").click()    # a hot loop's instructions
        self.assertRegex(self.text(), r"\b(v?mov|v?add|v?fma|v?mul|lea|ld1|fmla)")
        self.keep("serve_profile")
        self.assertEqual(self.complaints(), [])

    def test_what_is_known_is_found(self):
        problem = self.problem("shifted")
        address = self.serve()
        self.post(address, "runs", problem=str(problem), budget="4s")
        self.assertTrue(wait_until(
            lambda: json.loads(self.ask(address + "api/runs")[2])[0]["outcome"] in ("improved", "no_improvement"), 180))
        self.browser.get(address)
        self.browser.find_element(By.LINK_TEXT, "Experience").click()
        self.assertIn("What runs found", self.text())
        self.find("input[name=hardware]").send_keys("no-such-hardware", Keys.ENTER)
        self.assertTrue(wait_until(lambda: "Nothing fits" in self.text()))
        self.assertEqual(self.complaints(), [])


if __name__ == "__main__":
    unittest.main()
