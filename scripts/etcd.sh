#!/usr/bin/env bash
# The golden transcripts and the corpora over servers that keep their state in a real etcd.
#
#   scripts/etcd.sh          transcripts, and the recorded corpora
#   scripts/etcd.sh quick    transcripts, and the quick corpus
#   scripts/etcd.sh install  only installs the program, for the tests of the crate fakeserver-etcd-log
#
# It needs the program `etcd`, which Debian has in `etcd-server`: as root it is installed if it is missing. PROGRAMS names the folder
# of the built programs. With CONFORMANCE_CORPUS=FILE that corpus is played as well.
set -euo pipefail
cd "$(dirname "$0")/.."

programs=${PROGRAMS:-${CARGO_TARGET_DIR:-target}/debug}
mode=${1:-all}

if ! command -v etcd >/dev/null; then
    if [[ $(id -u) -ne 0 ]] || ! command -v apt-get >/dev/null; then
        echo "etcd: SKIPPED: there is no program etcd; on Debian, apt-get install etcd-server brings it" >&2
        exit 0
    fi
    install=(apt-get install -y -qq --no-install-recommends etcd-server)
    # A fresh machine may have no list of packages yet.
    if ! { "${install[@]}" || { apt-get update -qq && "${install[@]}"; }; } >/dev/null; then
        echo "etcd: SKIPPED: etcd-server could not be installed, see above" >&2
        exit 0
    fi
fi
[[ $mode != install ]] || exit 0

folder=$(mktemp -d -p "$(test -d /dev/shm && echo /dev/shm || echo "${TMPDIR:-/tmp}")")
started=()
end() {
    ((${#started[@]} == 0)) || kill "${started[@]}" 2>/dev/null || true
    wait
    rm -rf "$folder"
}
trap end EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

etcd_url=http://127.0.0.1:$(free_port)
etcd --data-dir "$folder/data" --listen-client-urls "$etcd_url" --advertise-client-urls "$etcd_url" \
    --listen-peer-urls "http://127.0.0.1:$(free_port)" >"$folder/etcd.log" 2>&1 &
started+=($!)

# serve PREFIX: starts a server with a state of its own, and sets `url`. The renewals of an elected leader would be revisions that
# no transcript has.
serve() {
    local output=$folder/serve-$1.log
    : >"$output"
    "$programs/fakeserver" serve --listen 127.0.0.1:0 --etcd-servers "$etcd_url" --etcd-prefix "/$1" --leader-elect false \
        --quiet >"$output" 2>&1 &
    local server=$!
    started+=("$server")
    for _ in {1..300}; do
        url=$(sed -n 's/^listening on //p' "$output")
        [[ -z $url ]] || return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.2
    done
    cat "$output" >&2
    return 1
}

serve transcripts
"$programs/conformance" wire --server "$url"
corpora=(conformance/golden/corpus/quick.jsonl.xz)
[[ $mode == quick ]] || corpora+=(conformance/golden/corpus/details.jsonl.xz ${CONFORMANCE_CORPUS:+"$CONFORMANCE_CORPUS"})
for corpus in "${corpora[@]}"; do
    serve "corpus-$(basename "$corpus" .jsonl.xz)"
    "$programs/conformance" corpus compare --server "$url" "$corpus"
done
