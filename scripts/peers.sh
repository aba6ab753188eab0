#!/usr/bin/env bash
# Builds the programs of benches/peers below target/peers, and prints their paths, for `benches figures --client-go PROGRAM`.
#
#   scripts/peers.sh                       where Go and its modules can be had
#   CLIENT_GO_DIR=DIR scripts/peers.sh     with client-go from the folder vendor of the Go module in DIR
set -euo pipefail
cd "$(dirname "$0")/.."

readonly SOURCES=$PWD/benches/peers/go
readonly BUILT=$PWD/${CARGO_TARGET_DIR:-target}/peers/client-go
readonly PROGRAM=$BUILT/client-go-peer

case ${1:-} in
'') ;;
-h | --help)
    sed -n '2,5s/^# \{0,1\}//p' "$0"
    exit
    ;;
*)
    echo "peers: no argument $1; see scripts/peers.sh --help" >&2
    exit 2
    ;;
esac
if ! command -v go >/dev/null; then
    echo "peers: client-go: there is no go on this machine" >&2
    exit 1
fi
mkdir -p "$BUILT"
if [ -n "${CLIENT_GO_DIR:-}" ]; then
    (cd "$CLIENT_GO_DIR" && go build -mod=vendor -o "$PROGRAM" "$SOURCES/main.go")
else
    cp "$SOURCES/"* "$BUILT"
    if ! (cd "$BUILT" && go mod tidy && go build -o "$PROGRAM" .) >"$BUILT/log" 2>&1; then
        echo "peers: client-go: its modules cannot be had, see $BUILT/log; CLIENT_GO_DIR can name a module that vendors them" >&2
        exit 1
    fi
fi
echo "$PROGRAM"
