"""A real browser without a window, spoken to through Chromium's own debugging pipe; no library needed."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager

EXECUTABLE = shutil.which("chromium")
PATIENCE = 60  # seconds for one answer; a busy machine is slow to start a browser


class Tab:
    """One page: what it asks the network for and what it complains about is collected in `events`."""

    def __init__(self, process, commands, answers):
        self._process, self._commands, self._answers = process, commands, answers
        self._ids, self._buffer, self.events = itertools.count(1), b"", []
        target = self.ask("Target.createTarget", session=False, url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", session=False, targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method, session=True, **params):
        number = next(self._ids)
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = self.session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.events.append(answer)

    def _next(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0, deadline - time.monotonic()))
            assert ready, "chromium does not answer"
            read = os.read(self._answers, 2**20)
            assert read, "chromium has ended"
            self._buffer += read
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, url, width=1280, scheme="light"):
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.ask("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())
        self.run("document.fonts.ready")

    def run(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def screenshot(self, path):
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True, fromSurface=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def requests(self):
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def complaints(self):
        heard = {"Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"}
        return [event["params"] for event in self.events if event.get("method") in heard]


@contextmanager
def tab():
    """Open a browser with one page, and close it afterwards."""
    to_browser, commands = os.pipe()
    answers, from_browser = os.pipe()
    folder = tempfile.mkdtemp()
    flags = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--remote-debugging-pipe",
        f"--user-data-dir={folder}",
    ]
    # the browser reads from descriptor 3 and writes to descriptor 4
    script = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
    process = subprocess.Popen(
        ["/bin/bash", "-c", script, EXECUTABLE, *flags],
        pass_fds=(to_browser, from_browser),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser)
    os.close(from_browser)
    try:
        yield Tab(process, commands, answers)
    finally:
        os.close(commands)  # the browser ends when its pipe does
        os.close(answers)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
        shutil.rmtree(folder, ignore_errors=True)
