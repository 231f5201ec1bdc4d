#!/bin/sh
# Makes .venv at the locked versions. Needs Python 3.11 or newer with pip, nothing else: uv is fetched when absent.
set -eu
python=$1 venv=$2
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "hopline needs Python 3.11 or newer; '$python' is $("$python" -V 2>&1). Name another: make PYTHON=python3.12" >&2
    exit 1
}
if command -v uv >/dev/null 2>&1; then
    uv=uv
else
    tools=${XDG_CACHE_HOME:-$HOME/.cache}/hopline-setup
    uv=$tools/bin/uv
    [ -x "$uv" ] || "$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$tools" uv || {
        echo "'$python' has no pip to fetch uv with; on Debian: apt-get install python3-pip" >&2
        exit 1
    }
fi
UV_PROJECT_ENVIRONMENT=$venv "$uv" sync --quiet --locked --compile-bytecode --python "$python"
"$venv/bin/python" -m compileall -q src/hopline
