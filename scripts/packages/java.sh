#!/usr/bin/env bash
# Builds the package for Java, an archive of a JUnit extension with the program beside it, and tries it. scripts/package.sh runs this.
#
#   JUNIT_JARS=DIR scripts/package.sh java             with the JARs of JUnit 5 and its console launcher in DIR, not those of Debian
#   FABRIC8_JARS=DIR scripts/package.sh --test java    with the JARs of fabric8's client as well, and all that it needs
# shellcheck source=scripts/packages/common.sh
. scripts/packages/common.sh

readonly SOURCE=$PWD/fakeserver/packages/java

# Prints the JARs of JUnit as a class path.
junit() {
    if [ -n "${JUNIT_JARS:-}" ]; then
        echo "$(realpath "$JUNIT_JARS")/*"
        return
    fi
    local name path=''
    for name in junit-jupiter-{api,engine,params} junit-platform-{commons,console,engine,launcher,reporting} \
        apiguardian-api opentest4j opentest4j-reporting-{events,schema} picocli; do
        if [ ! -e "/usr/share/java/$name.jar" ]; then
            echo "package: junit5 is missing: from the distribution (apt-get install junit5), or JUNIT_JARS names a folder of its JARs" >&2
            exit 2
        fi
        path+=:/usr/share/java/$name.jar
    done
    echo "${path#:}"
}

build() {
    need javac 'a JDK, 17 or newer, from the distribution'
    need jar 'it comes with the JDK'
    local work version program junit folder
    junit=$(junit)
    program=$(program)
    version=$(version)
    work=$(fresh java)
    folder=$work/fakeserver-java-$version
    mkdir -p "$folder/bin"
    javac -Xlint:all,-classfile,-path -Werror --release 17 -cp "$junit" -d "$work/classes" "$SOURCE"/src/main/java/fakeserver/*.java >&2
    jar --create --file "$folder/fakeserver-junit5.jar" --date 1980-01-02T00:00:00Z -C "$work/classes" .
    cp "$SOURCE/README.md" LICENSE "$folder"
    sed "s|<version>0\.0\.0<|<version>$version<|" "$SOURCE/pom.xml" >"$folder/pom.xml"
    install -m 755 "$program" "$folder/bin/fakeserver"
    local archive=$PACKAGES/fakeserver-java-$version.tar.gz
    tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner -czf "$archive" "$(basename "$folder")"
    echo "$archive"
}

# in_empty COMMAND...: with neither Rust nor a home, in the current directory.
in_empty() { env -i "PATH=$(dirname "$(command -v java)"):/usr/bin:/bin" "HOME=$work/home" timeout 300 "$@"; }

# Runs the tests that FILES are, with what the class path has.
# run_tests NAME CLASS_PATH FILE...
run_tests() {
    local classes=$work/$1 path=$2
    shift 2
    in_empty javac -cp "$path" -d "$classes" "$@"
    # Tests start Java with the same class path.
    in_empty java -cp "$classes:$path" "-Duser.home=$work/home" org.junit.platform.console.ConsoleLauncher \
        --disable-banner --details=tree --disable-ansi-colors --fail-if-no-tests "--scan-classpath=$classes"
}

try() {
    need javac 'a JDK, 17 or newer, from the distribution'
    local junit path
    junit=$(junit)
    work=$(fresh java-try)
    mkdir -p "$work/home/.kube"
    echo 'of the user' >"$work/home/.kube/config"
    tar -C "$work" -xf "$1"
    path=$(echo "$work"/fakeserver-java-*/fakeserver-junit5.jar):$junit
    awk '/^```/{ is_in = ($0 == "```java" && ++count == 1); next } is_in' "$SOURCE/README.md" >"$work/ShopTest.java"
    run_tests readme "$path" "$work/ShopTest.java"
    run_tests tests "$path" "$SOURCE"/src/test/java/fakeserver/*.java
    if [ -n "${FABRIC8_JARS:-}" ]; then
        run_tests fabric8 "$path:$(realpath "$FABRIC8_JARS")/*" "$SOURCE"/src/test/fabric8/fakeserver/*.java
    else
        echo "package: java: fabric8: SKIPPED, FABRIC8_JARS names no folder of its JARs"
    fi
    [ "$(cat "$work/home/.kube/config")" = 'of the user' ] && [ "$(ls -A "$work/home")" = .kube ]
}

case $1 in
build) build ;;
try)
    shift
    try "$@"
    ;;
esac
