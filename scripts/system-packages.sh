#!/bin/sh
# The programs that tests and benchmarks run for real. Installs them when root on a Debian machine, else names them.
# With `bench`, those that only the benchmarks compare with, too; without one, its rows say that it is missing.
set -eu
missing=
PATH=$PATH:/usr/sbin:/sbin
references=
[ "${1:-}" != bench ] || references='nats-server:nats-server redis-server:redis-server etcd:etcd-server'
# shellcheck disable=SC2086  # a list of pairs
for pair in $references chromium:chromium bwrap:bubblewrap tmux:tmux less:less vi:vim-tiny script:bsdutils mount:mount unshare:util-linux sshd:openssh-server ssh:openssh-client; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing:$missing"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >/dev/null
    # shellcheck disable=SC2086  # a list of names
    apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
    echo "Missing programs, whose tests will fail:$missing. Install them: sudo apt-get install$missing" >&2
    [ "${CI:-}" != true ] || exit 1
fi
