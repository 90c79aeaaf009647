#!/bin/sh
# Installs ngram-core from the folder that this script is in, with no network:
#     sh install.sh [WHERE]       by default into ~/ngram-core-class
# PYTHON=python3.12 chooses another Python; it must be the one that the folder was made with.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
where=${1:-$HOME/ngram-core-class}
"${PYTHON:-python3}" -m venv "$where"
where=$(cd "$where" && pwd)
"$where/bin/python" -m pip --disable-pip-version-check -q install --no-index \
    --find-links "$here/wheels" 'ngram-core[lab,test]' || {
    echo "The wheels in $here do not fit this Python; make the folder anew with it." >&2
    exit 1
}
echo "Open the lessons:  $where/bin/ngram-core lab my-lessons"
echo "Run the tests:     cd $here/ngram-core && $where/bin/python -m pytest"
