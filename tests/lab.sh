#!/bin/sh
# `make lab`: opens JupyterLab on the given notebook; without a screen, prints the address.

notebook=$1
set -- --ServerApp.root_dir="$PWD" --LabApp.default_url="/lab/tree/$notebook"

# The reader's own JupyterLab keeps its layout: ours is stored in .venv.
JUPYTERLAB_WORKSPACES_DIR="$PWD/.venv/share/jupyter/lab/workspaces"
export JUPYTERLAB_WORKSPACES_DIR

if [ "$(id -u)" -eq 0 ]; then
    set -- "$@" --allow-root
fi
if [ "$(uname)" != Darwin ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    set -- "$@" --no-browser
    echo "No screen here. Open one of the addresses below in a browser on this machine;"
    echo "over ssh, forward its port first:  ssh -L 8888:localhost:8888 user@host"
else
    echo "JupyterLab opens in your browser; the addresses below lead to it, too."
fi
echo "Stop it with Ctrl-C, twice."
exec .venv/bin/python -m jupyterlab --ServerApp.log_level=WARN "$@"
