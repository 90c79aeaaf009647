"""A real Jupyter server for browser tests, which touches nothing of the user's."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from tools import clean_environment

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
    """A Jupyter server that a command starts, with all its own files below `home`.

    Args:
        home: an empty folder.
        command: what starts the server: `python -m jupyterlab`, `make lab`, ...
        root: the folder it serves; None if the command says so itself.
        cwd: where the command runs.
        own: the command is what is tested: we set no more than the port, and take the
            address from what it prints, as a reader would.

    All else goes through a configuration file, so that any command can be used as it is.
    """

    def __init__(
        self,
        home: Path,
        command: Sequence[str | os.PathLike[str]] = (sys.executable, "-m", "jupyterlab"),
        root: Path | None = None,
        cwd: Path | None = None,
        own: bool = False,
        seconds: float = 60,
    ) -> None:
        self.home = home
        self.root = root or home
        self.port = free_port()
        self.token = "" if own else secrets.token_hex(8)
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = home / "server.log"
        self._own = own
        self._configure(root)
        self._process = self._start(command, cwd)
        self._wait_until_up(seconds)

    def _configure(self, root: Path | None) -> None:
        server: dict[str, Any] = {
            "ip": "127.0.0.1",
            "port": self.port,
            "port_retries": 0,
            "allow_root": True,
            "open_browser": False,
        }
        if root:
            root.mkdir(parents=True, exist_ok=True)
            server["root_dir"] = str(root)
        app: dict[str, Any] = {"expose_app_in_browser": True}
        if not self._own:
            settings = self.home / "settings"
            settings.mkdir(parents=True)
            (settings / "overrides.json").write_text(json.dumps(NO_NEWS))
            app["app_settings_dir"] = str(settings)
        config = {
            "ServerApp": server,
            "IdentityProvider": {} if self._own else {"token": self.token},
            "LabApp": app,
            "JupyterNotebookApp": app,
        }
        (self.home / "config").mkdir(parents=True)
        (self.home / "config" / "jupyter_server_config.json").write_text(json.dumps(config))

    def leave_out(self, *extensions: str) -> None:
        """Pages opened from now on go without these extensions of JupyterLab's."""
        page = self.home / "config" / "labconfig" / "page_config.json"
        page.parent.mkdir(exist_ok=True)
        page.write_text(json.dumps({"disabledExtensions": dict.fromkeys(extensions, True)}))

    def _start(
        self, command: Sequence[str | os.PathLike[str]], cwd: Path | None
    ) -> subprocess.Popen[bytes]:
        env = clean_environment() if self._own else dict(os.environ)
        env |= {
            "JUPYTER_CONFIG_DIR": str(self.home / "config"),
            "JUPYTER_RUNTIME_DIR": str(self.home / "runtime"),
            "JUPYTER_DATA_DIR": str(self.home / "data"),
            "JUPYTERLAB_SETTINGS_DIR": str(self.home / "user-settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(self.home / "workspaces"),
            "JUPYTER_PREFER_ENV_PATH": "1",
            "IPYTHONDIR": str(self.home / "ipython"),
        }
        return subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=self.log.open("wb"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _wait_until_up(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            self.token = self.token or self._printed_token()
            try:
                self.api("GET", "status")
            except OSError:
                time.sleep(0.1)
            else:
                return
        self.stop()
        raise RuntimeError(f"the Jupyter server did not start:\n{self.log.read_text()[-3000:]}")

    def _printed_token(self) -> str:
        log = self.log.read_text(errors="replace")
        found = re.search(rf"http://127\.0\.0\.1:{self.port}/\S*\?token=(\w+)", log)
        return found[1] if found else ""

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

    def clean(self, but: Collection[str] = ()) -> None:
        """Shuts every kernel down `but` those of these notebooks; and forgets the layout and
        settings that a page saved."""
        for session in self.sessions():
            if session["path"] in but:
                continue
            try:
                self.api("DELETE", f"sessions/{session['id']}")
            except urllib.error.HTTPError as error:  # gone already
                if error.code != 404:
                    raise
        for name in ("workspaces", "user-settings"):
            shutil.rmtree(self.home / name, ignore_errors=True)

    def stop(self) -> None:
        """Ends the command and all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
