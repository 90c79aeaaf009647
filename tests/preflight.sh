#!/bin/sh
# Prints the path of a Python that can build this project, or says in one line what this
# machine lacks and the command that brings it. `make` runs it before it makes .venv.
# $PYTHON names a Python to use instead of searching. Plain POSIX sh; needs nothing else.

# What a Python lacks, as words: "old", or some of "cc libc headers venv". The Python itself
# knows which compiler it wants and where its headers are.
lacks_of() {
    "$1" - <<'PROBE' 2>/dev/null || echo broken
import os, shlex, shutil, subprocess, sys, tempfile
if sys.version_info < (3, 10):
    sys.exit(print("old"))
import sysconfig
lacks = []
compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
if sys.platform == "darwin" and subprocess.call(
    ["xcode-select", "-p"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
):
    lacks.append("cc")  # /usr/bin/cc is there, but only opens a dialog
elif not shutil.which(compiler[0]):
    lacks.append("cc")
else:
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "probe.c")
        with open(source, "w") as file:
            file.write("#include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n")
        if subprocess.call(
            [*compiler, "-o", os.path.join(folder, "probe"), source],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ):
            lacks.append("libc")
if not os.path.isfile(os.path.join(sysconfig.get_path("include"), "Python.h")):
    lacks.append("headers")
try:
    import ensurepip, venv
except ImportError:
    lacks.append("venv")
print(*lacks)
PROBE
}

python="" lacks="" old=""
for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python3.10 python}; do
    path=$(command -v "$name") || continue
    found=$(lacks_of "$path")
    case $found in
    "") echo "$path" && exit 0 ;;
    broken) ;; # a shim with no Python behind it
    old) [ -n "$old" ] || old=$("$path" -V 2>&1) ;;
    *) [ -n "$python" ] || { python=$path && lacks=$found; } ;;
    esac
done

# Something is missing. In which words, and who brings it here?
has() { command -v "$1" >/dev/null 2>&1; }
if [ "$(uname)" = Darwin ]; then system=macos
elif has apt-get; then system=apt
elif has dnf; then system=dnf
else system=other
fi

what="" apt="" dnf="" macos=""
missing() { # words, then what apt, dnf and macOS call it
    what="${what:+$what and }$1"
    apt="$apt $2" dnf="$dnf $3" macos="${macos:+$macos && }$4"
}

offers() { apt-cache show "$1" 2>/dev/null | sed -n 's/^Version: //p' | head -n 1; }

# The newest python3.N that apt offers, where its plain python3 is too old (or none).
apt_python() {
    for name in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
        case "$(offers "$name")" in
        3.1[0-9]*) echo "$name" && return ;;
        "") [ "$name" != python3 ] || { echo python3 && return; } ;; # no lists yet
        esac
    done
}

if [ -z "$python" ]; then
    name=$(apt_python)
    missing "Python 3.10 or later${old:+ (there is $old)}" \
        "${name:+$name $name-dev $name-venv gcc libc6-dev}" \
        "python3.12 python3.12-devel gcc" "brew install python@3.13"
else
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    name=python3
    case ${python##*/} in python3.*) name=python$version ;; esac
    for lack in $lacks; do
        case $lack in
        cc) missing "a C compiler" "gcc libc6-dev" gcc "xcode-select --install" ;;
        libc) missing "the C library's headers" libc6-dev glibc-devel "xcode-select --install" ;;
        headers) missing "Python.h of Python $version" "$name-dev" "$name-devel" \
            "brew install python@3.13" ;;
        venv) missing "the venv module of Python $version" "$name-venv" "$name-libs" \
            "brew install python@3.13" ;;
        esac
    done
fi

sudo="sudo "
[ "$(id -u)" -ne 0 ] || sudo=""
apt=${apt# } dnf=${dnf# }
case $system in
apt) fix=${apt:+${sudo}apt-get update && ${sudo}apt-get install -y $apt} ;;
dnf) fix="${sudo}dnf install -y $dnf" ;;
macos) fix=$macos ;;
other) fix="" ;;
esac
if [ -n "$fix" ]; then
    echo "Missing: $what. Run this, then try again:  $fix" >&2
else
    echo "Missing: $what. Install it with this system's package manager (or a Python by" \
        "https://docs.astral.sh/uv: uv python install 3.13), then try again." >&2
fi
exit 1
