#!/usr/bin/env bash
# Records the scoreboard's columns of clients in other languages in conformance/data/columns, from which its page is written.
# Says so and goes on where a language is not there. What is installed or built goes below target/columns.
#
#   scripts/columns.sh                 all of them
#   scripts/columns.sh client-go       one of client-go, client-node, kr8s, fabric8
#   CLIENT_GO_DIR=DIR scripts/columns.sh client-go    with client-go from the folder vendor of the Go module in DIR
#   FABRIC8_JARS=DIR scripts/columns.sh fabric8       with the JARs in DIR, of fabric8's client and all that it needs
#   PROGRAM=target/release/conformance scripts/columns.sh    with this program, which is built already
set -euo pipefail
cd "$(dirname "$0")/.."

# Longer than a watch lasts at this speed: a client may ask for 10 minutes.
readonly SPEED=5 CONVERGE_WITHIN=130
readonly EXTERNAL=$PWD/conformance/external
readonly BUILT=$PWD/${CARGO_TARGET_DIR:-target}/columns

# shellcheck source=scripts/client_go.sh
. scripts/client_go.sh

skip() { echo "columns: $1: SKIPPED, $2"; }

# record NAME COMMAND
record() {
    if [ -z "${PROGRAM:-}" ]; then
        cargo build --release --locked -q -p conformance
        PROGRAM=target/release/conformance
    fi
    mkdir -p conformance/data/columns
    "$PROGRAM" score --against tcp --subject external --command "$2" \
        --speed "$SPEED" --converge-within "$CONVERGE_WITHIN" --record "conformance/data/columns/$1.json"
    echo "columns: $1: recorded"
}

run_client-go() {
    local program=$BUILT/client-go/informer-under-test why
    if ! why=$(build_client_go "$EXTERNAL/go" "$program"); then
        [ -n "$why" ] || return 1
        skip client-go "$why"
        return
    fi
    record client-go "$program"
}

run_client-node() {
    if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
        skip client-node "there is no node, or no npm, on this machine"
        return
    fi
    rm -rf "$BUILT/client-node"
    mkdir -p "$BUILT"
    cp -r "$EXTERNAL/javascript" "$BUILT/client-node"
    (cd "$BUILT/client-node" && npm ci --loglevel=error --ignore-scripts --no-audit --no-fund)
    # The library needs a recent node, which the package of that name brings.
    (cd "$BUILT/client-node/node_modules/node" && npm run --silent preinstall)
    record client-node "NODE_COMPILE_CACHE=$BUILT/client-node/cache $BUILT/client-node/node_modules/node/bin/node $BUILT/client-node/main.js"
}

run_kr8s() {
    if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
        skip kr8s "there is no python3 with venv on this machine"
        return
    fi
    python3 -m venv "$BUILT/kr8s"
    "$BUILT/kr8s/bin/python" -m pip install --quiet --disable-pip-version-check -r "$EXTERNAL/python/requirements.txt"
    record kr8s "$BUILT/kr8s/bin/python $EXTERNAL/python/kr8s_loop.py"
}

run_fabric8() {
    command -v javac >/dev/null || { skip fabric8 "there is no javac on this machine"; return; }
    local jars=${FABRIC8_JARS:-$BUILT/fabric8/jars}
    mkdir -p "$BUILT/fabric8/classes"
    if [ -z "${FABRIC8_JARS:-}" ] && ! mvn -q -B -f "$EXTERNAL/java/pom.xml" dependency:copy-dependencies \
        "-DoutputDirectory=$jars" >"$BUILT/fabric8/log" 2>&1; then
        skip fabric8 "mvn cannot get its JARs, see $BUILT/fabric8/log; FABRIC8_JARS can name a folder of them"
        return
    fi
    javac -cp "$jars/*" -d "$BUILT/fabric8/classes" "$EXTERNAL/java/InformerUnderTest.java"
    # Short runs do not gain from the second compiler, and begin sooner with an archive of the loaded classes.
    local path="$BUILT/fabric8/under-test.jar:$jars/*" archive=$BUILT/fabric8/classes.jsa
    jar --create --file "$BUILT/fabric8/under-test.jar" -C "$BUILT/fabric8/classes" .
    local java="java -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
    $java -XX:ArchiveClassesAtExit="$archive" -cp "$path" InformerUnderTest </dev/null >"$BUILT/fabric8/log" 2>&1
    record fabric8 "$java -XX:SharedArchiveFile=$archive -cp '$path' InformerUnderTest"
}

(($#)) || set -- client-go client-node kr8s fabric8
for name in "$@"; do
    case $name in
        client-go | client-node | kr8s | fabric8) "run_$name" ;;
        *)
            echo "columns: no client is called: $name" >&2
            exit 2
            ;;
    esac
done
