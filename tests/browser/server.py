"""One real Jupyter server for all browser tests, which touches nothing of the user's."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

NO_NEWS = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    }
}


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class JupyterServer:
    """`jupyter lab` or `jupyter notebook`, with settings and a work folder below `home`.

    `command` is the module to run; `python` lets the Binder test start another
    environment's server, and `root` serve another folder.
    """

    def __init__(
        self,
        home: Path,
        root: Path | None = None,
        python: str = sys.executable,
        command: str = "jupyterlab",
    ) -> None:
        self.home = home
        self.root = root or home / "work"
        self.port = free_port()
        self.token = secrets.token_hex(8)
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = home / "server.log"
        self._process = self._start(python, command)
        self._wait_until_up()

    def _start(self, python: str, command: str) -> subprocess.Popen[bytes]:
        self.root.mkdir(parents=True, exist_ok=True)
        settings = self.home / "share" / "lab" / "settings"
        settings.mkdir(parents=True)
        (settings / "overrides.json").write_text(json.dumps(NO_NEWS))
        env = os.environ | {
            "JUPYTER_CONFIG_DIR": str(self.home / "config"),
            "JUPYTER_RUNTIME_DIR": str(self.home / "runtime"),
            "JUPYTER_DATA_DIR": str(self.home / "data"),
            "JUPYTERLAB_SETTINGS_DIR": str(self.home / "user-settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(self.home / "workspaces"),
            "JUPYTER_PREFER_ENV_PATH": "1",
            "IPYTHONDIR": str(self.home / "ipython"),
        }
        arguments = [
            "--no-browser",
            "--allow-root",
            "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={self.port}",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={self.root}",
            f"--LabApp.app_settings_dir={settings}",
            f"--JupyterNotebookApp.app_settings_dir={settings}",
            "--LabApp.expose_app_in_browser=True",
            "--JupyterNotebookApp.expose_app_in_browser=True",
        ]
        return subprocess.Popen(
            [python, "-m", command, *arguments],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=self.log.open("wb"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _wait_until_up(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                self.api("GET", "status")
            except OSError:
                time.sleep(0.1)
            else:
                return
        self.stop()
        raise RuntimeError(f"the Jupyter server did not start:\n{self.log.read_text()[-3000:]}")

    def api(self, method: str, path: str) -> Any:
        """One call of the server's REST interface."""
        request = urllib.request.Request(
            f"{self.url}/api/{path}",
            method=method,
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def sessions(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.api("GET", "sessions")
        return found

    def clean(self) -> None:
        """Shuts every kernel down and forgets the layout and settings that a page saved."""
        for session in self.sessions():
            try:
                self.api("DELETE", f"sessions/{session['id']}")
            except urllib.error.HTTPError as error:  # gone already
                if error.code != 404:
                    raise
        for name in ("workspaces", "user-settings"):
            shutil.rmtree(self.home / name, ignore_errors=True)

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
