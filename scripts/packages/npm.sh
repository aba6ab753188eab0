#!/usr/bin/env bash
# Builds the packages for npm, a package with the program and one that chooses it, and tries them. scripts/package.sh runs this.
# shellcheck source=scripts/packages/common.sh
. scripts/packages/common.sh

readonly SOURCE=$PWD/fakeserver/packages/npm
readonly PLATFORM=fakeserver-linux-x64
readonly JEST=30.5.2 VITEST=4.1.12 TYPESCRIPT=5.9.3

build() {
    need node 'Node.js 20 or newer, from the distribution'
    need npm 'it comes with Node.js'
    if [ "$(node -p 'process.platform + "-" + process.arch')" != linux-x64 ]; then
        echo "package: $PLATFORM is built on Linux on x86-64 only" >&2
        exit 2
    fi
    local work version program
    program=$(program)
    version=$(version)
    work=$(fresh npm)
    mkdir -p "$work/$PLATFORM/bin" "$work/fakeserver"
    cp "$SOURCE"/platform/* "$work/$PLATFORM"
    install -m 755 "$program" "$work/$PLATFORM/bin/fakeserver"
    cp -r "$SOURCE"/{bin,jest,vitest,package.json,README.md} "$SOURCE"/*.cjs "$SOURCE"/*.d.ts "$work/fakeserver"
    # CommonJS too, which Jest needs: a module without imports, whose exports begin lines.
    {
        sed 's/^export //' "$SOURCE/control.mjs"
        echo "module.exports = { $(sed -nE 's/^export (async )?[a-z]+ ([A-Za-z]+).*/\2/p' "$SOURCE/control.mjs" | paste -sd, -) };"
    } >"$work/fakeserver/control.cjs"
    local name
    for name in "$PLATFORM" fakeserver; do
        cp LICENSE "$work/$name"
        sed -i "s/\"0\.0\.0\"/\"$version\"/" "$work/$name/package.json"
        (cd "$work/$name" && npm pack --silent --offline --cache "$work/cache" --pack-destination "$PACKAGES" >/dev/null)
        echo "$PACKAGES/$name-$version.tgz"
    done
}

# in_empty COMMAND...: with neither Rust nor a home, in the current directory.
in_empty() {
    env -i "PATH=$(dirname "$(command -v node)"):/usr/bin:/bin" "HOME=$work/home" "npm_config_cache=$work/cache" \
        npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false npm_config_ignore_scripts=true "$@"
}

# Prints block number $2 of language $1 in the README.
block_of_readme() { awk -v language="$1" -v number="$2" '/^```/{ is_in = 0; if ($0 == "```" language && ++count == number) { is_in = 1; next } } is_in' "$SOURCE/README.md"; }

# Installs the packages and others, which the registry of npm brings, in the current directory; or says why not.
# install_for NAME PACKAGE...
install_for() {
    local name=$1
    shift
    mkdir "$work/$name"
    cd "$work/$name"
    echo '{ "private": true }' >package.json
    if ! in_empty timeout 300 npm install --silent --no-progress "$@" "${tarballs[@]}" >install.log 2>&1; then
        echo "package: npm: $name: SKIPPED, npm cannot install it: $(tail -n 1 install.log)"
        return 1
    fi
}

# What `npm publish` does before the upload. It asks the registry for the version, where there is a network.
dry_run() {
    local path
    for path in "${tarballs[@]}"; do in_empty timeout 120 npm publish --silent --dry-run --access public "$path"; done
}

try_types() {
    install_for types "typescript@$TYPESCRIPT" "@types/node@20" || return 0
    cp "$SOURCE/tests/types/types.mts" .
    in_empty timeout 120 node_modules/.bin/tsc --noEmit --strict --target es2022 --lib es2022 --module nodenext types.mts
    echo "package: npm: types: ok"
}

# Runs the tests of a framework, and the README's.
# try_framework NAME EXTENSION FIRST_BLOCK PACKAGE ARGUMENT...
try_framework() {
    local name=$1 extension=$2 first_block=$3 package=$4
    shift 4
    install_for "$name" "$package" || return 0
    block_of_readme js "$first_block" >"$name.config.$extension"
    block_of_readme js "$((first_block + 1))" >"readme.test.$extension"
    # Twice: the tests of two files may run at the same time, in two workers.
    cp "$SOURCE/tests/$name/reset.test.$extension" .
    cp "$SOURCE/tests/$name/reset.test.$extension" "other.test.$extension"
    in_empty timeout 120 "node_modules/.bin/$name" "$@"
}

try() {
    need node 'Node.js 20 or newer, from the distribution'
    need npm 'it comes with Node.js'
    tarballs=()
    local path
    for path in "$@"; do tarballs+=("$(realpath "$path")"); done
    work=$(fresh npm-try)
    local repository=$PWD installed=$work/node_modules/.bin
    mkdir -p "$work/home/.kube"
    echo 'of the user' >"$work/home/.kube/config"
    cd "$work"
    echo '{ "private": true, "type": "module" }' >package.json
    in_empty timeout 120 npm install --silent --offline "${tarballs[@]}"
    in_empty "$installed/fakeserver" --version
    block_of_readme js 1 >readme.test.mjs
    [ "$(wc -l <readme.test.mjs)" = 10 ]
    cp "$SOURCE"/tests/*.test.mjs .
    in_empty timeout 300 node --test readme.test.mjs ./*.test.mjs

    dry_run
    (try_types)
    (try_framework jest js 2 "jest@$JEST" --ci --maxWorkers=2)
    (try_framework vitest mjs 4 "vitest@$VITEST" run --maxWorkers=2)
    cd "$repository"
    PROGRAMS=$installed scripts/interop/run.sh javascript
}

case $1 in
build) build ;;
try)
    shift
    try "$@"
    ;;
esac
