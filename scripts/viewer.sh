#!/usr/bin/env bash
# The viewer of trace files: builds conformance/viewer/dist/viewer.html of the sources beside it, and tests it in a browser.
# So it does with the live page of fakeserver, whose script is plain JavaScript: its types are checked, and nothing is built.
# What is installed goes below target/viewer. Says so and goes on where node or a browser is not there.
#
#   scripts/viewer.sh build      types are checked, and the page is written
#   scripts/viewer.sh check      the same, but the page that is committed has to be equal
#   scripts/viewer.sh test       check, and the tests of the core and of the pages in Chromium: CHROMIUM, or one in PATH
#   scripts/viewer.sh live       check, and the tests of the live page alone
#   scripts/viewer.sh quick      the same as test with a third of the tests of the pages, within 30 s
#   scripts/viewer.sh nightly    the same as test, with every trace of a seeded bug, and with 150,000 pods
#   scripts/viewer.sh figures    of 50,000 events and of 150,000 pods: time to open, frames a second, and others, into benches/results
#   scripts/viewer.sh shots      the screenshots of the docs
#   PROGRAMS=target/debug scripts/viewer.sh test    with the program in this directory, which is built already
set -euo pipefail
cd "$(dirname "$0")/.."

readonly SOURCES=conformance/viewer PAGE=conformance/viewer/dist/viewer.html
readonly LIVE=fakeserver/server/src/server/page/page.js
readonly BUILD=${CARGO_TARGET_DIR:-target}/viewer

if ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null || ! command -v npm >/dev/null; then
    echo "viewer: SKIPPED, there is no node (20 or newer, with npm) on this machine"
    exit
fi

# Modules are looked for beside the files that import them: the sources are copied to what is installed.
prepare() {
    mkdir -p "$BUILD"
    rm -rf "$BUILD/src" "$BUILD/tests" "$BUILD/live"
    cp -r "$SOURCES"/{src,tests,build.mjs,tsconfig.json} "$BUILD"
    mkdir "$BUILD/live"
    cp "$LIVE" "$BUILD/live"
    if ! cat "$SOURCES"/package{,-lock}.json | cmp -s - "$BUILD/installed-from"; then
        cp "$SOURCES"/package{,-lock}.json "$BUILD"
        (cd "$BUILD" && npm ci --loglevel=error --ignore-scripts --no-audit --no-fund)
        cat "$SOURCES"/package{,-lock}.json >"$BUILD/installed-from"
    fi
}

build() {
    prepare
    (cd "$BUILD" && npx --no-install tsc -p . && node build.mjs viewer.html)
}

check() {
    build
    if ! cmp -s "$BUILD/viewer.html" "$PAGE"; then
        echo "viewer: $PAGE is not what its sources give; run scripts/viewer.sh build" >&2
        exit 1
    fi
}

# run_tests FILE...: of TypeScript, by node.
run_tests() {
    local built=() file
    for file in "$@"; do
        (cd "$BUILD" && npx --no-install esbuild "tests/$file.ts" --bundle --platform=node --format=esm \
            --packages=external --outfile="built/$file.mjs" --log-level=warning)
        built+=("built/$file.mjs")
    done
    (cd "$BUILD" && node --test --test-reporter=spec ${ONLY:+--test-name-pattern="$ONLY"} "${built[@]}")
}

find_browser() {
    local name
    for name in ${CHROMIUM:+"$CHROMIUM"} chromium chromium-browser google-chrome; do
        if command -v "$name" >/dev/null; then
            CHROMIUM=$(command -v "$name")
            export CHROMIUM
            return
        fi
    done
    return 1
}

in_browser() {
    if ! find_browser; then
        echo "viewer: browser: SKIPPED, there is no chromium on this machine (Debian's package has it)"
        return
    fi
    if [ -z "${PROGRAMS:-}" ]; then
        cargo build --release --locked -q -p conformance --bin conformance -p fakeserver --bin fakeserver
        PROGRAMS=${CARGO_TARGET_DIR:-target}/release
    fi
    CONFORMANCE=$(realpath "$PROGRAMS/conformance")
    FAKESERVER=$(realpath "$PROGRAMS/fakeserver")
    export CONFORMANCE FAKESERVER
    run_tests "$@"
}

TRACES=$PWD/conformance/data/trace
ROOT=$PWD
export TRACES ROOT
case ${1:-test} in
    build)
        build
        cp "$BUILD/viewer.html" "$PAGE"
        ;;
    check) check ;;
    test)
        check
        run_tests core.test
        in_browser page.test live.test
        ;;
    live)
        check
        in_browser live.test
        ;;
    quick)
        check
        run_tests core.test
        ONLY='in view|ten instants|wheel|as YAML|HTML or script|HTML and script|after its restart' in_browser page.test live.test
        ;;
    nightly)
        check
        run_tests core.test
        LIVE_PODS=150000 in_browser page.test bugs.test live.test
        ;;
    figures)
        check
        in_browser figures
        in_browser live-figures
        ;;
    shots)
        check
        in_browser shots live-shots
        ;;
    *)
        echo "viewer: there is no such part: $1" >&2
        exit 2
        ;;
esac
