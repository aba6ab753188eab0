//! Each rule finds what is broken deliberately, and nothing else.

use clap::{Arg, Command};

use crate::{
    finding::Finding,
    rules::{wording::Wording, *},
    tree::Tree,
};

/// Compares the findings of a rule in a made-up tree, each as `file:line: what`.
fn check(rule: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)], expected: &[&str]) {
    let found: Vec<String> = rule(&Tree::of(files))
        .iter()
        .map(|finding| format!("{}:{}: {}", finding.file, finding.line, finding.what))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn scratch_files_are_found() {
    check(
        scratch::findings,
        &[
            ("a/src/.tests.rs.pending-snap", ""),
            ("a/src/lib.rs", ""),
            ("a/src/lib.rs.orig", ""),
            ("a/src/snapshots/a__tests.snap", ""),
            ("a/target/debug/a.d", ""),
        ],
        &[
            "a/src/.tests.rs.pending-snap:1: a scratch file",
            "a/src/lib.rs.orig:1: a scratch file",
            "a/target/debug/a.d:1: a scratch file",
        ],
    );
}

#[test]
fn files_that_no_module_names_are_found() {
    check(
        modules::findings,
        &[
            (
                "a/src/lib.rs",
                "mod stage;\n#[path = \"side_off.rs\"]\nmod side;",
            ),
            ("a/src/main.rs", ""),
            ("a/src/side.rs", ""),
            ("a/src/side_off.rs", ""),
            ("a/src/stage/lost.rs", ""),
            ("a/src/stage/machine.rs", ""),
            ("a/src/stage/mod.rs", "mod machine;"),
            ("a/tests/it/one.rs", ""),
        ],
        &["a/src/stage/lost.rs:1: a file that no `mod` names"],
    );
}

#[test]
fn odd_files_are_found() {
    check(
        roles::findings,
        &[
            ("a/Cargo.toml", ""),
            ("a/src/lib.rs", "mod stage; mod side; mod faceless;"),
            (
                "a/src/stage/mod.rs",
                "mod machine; mod driver; #[cfg(test)] mod tests;",
            ),
            ("a/src/stage/machine.rs", "fn f() {\n    g().await\n}"),
            ("a/src/stage/driver.rs", "async fn g() {}"),
            ("a/src/stage/tests.rs", ""),
            ("a/src/side.rs", "mod utils;"),
            ("a/src/side/utils.rs", ""),
            ("a/src/faceless/one.rs", ""),
            ("a/tests/it.rs", ""),
            ("a/tests/it/one.rs", ""),
        ],
        &[
            "a/src/faceless/one.rs:1: a folder without a face",
            "a/src/side.rs:1: a module beside its folder",
            "a/src/side/utils.rs:1: `utils` is no role",
            "a/src/stage/machine.rs:2: a pure core that uses `await`",
        ],
    );
}

#[test]
fn paths_that_lead_nowhere_are_found() {
    let page = "\
See [the guide](docs/guide.md), [the other](docs/other.md#part), [the web](https://example.com/x.md) and [a type](crate::A).
`a/src/{lib,gone}.rs` and `gone.rs` are named, `src/lib.rs:12` is not a word, `apps/v1` is no path, `a/src/<name>.rs` has a folder.
`stage/` is no folder, `src/` is, `target/release/a` and `out/` are not tracked.
```sh
a/run.sh TARGET
a/start.sh
```
```console
$ a/stop.sh
configmaps default/db-*
```
";
    check(
        paths::findings,
        &[
            (".gitignore", "/out"),
            ("README.md", page),
            ("a/run.sh", ""),
            ("a/src/lib.rs", ""),
            ("docs/guide.md", "[back](../README.md) [away](../AWAY.md)"),
        ],
        &[
            "README.md:1: `docs/other.md` does not exist",
            "README.md:2: `a/src/gone.rs` does not exist",
            "README.md:2: `gone.rs` does not exist",
            "README.md:3: `stage/` does not exist",
            "README.md:6: `a/start.sh` does not exist",
            "README.md:9: `a/stop.sh` does not exist",
            "docs/guide.md:1: `AWAY.md` does not exist",
        ],
    );
}

#[test]
fn comparisons_of_versions_are_found() {
    let compared = r#"
fn f(kubernetes: KubernetesVersion) -> KubernetesVersion {
    if kubernetes >= KubernetesVersion::LATEST { g("1.36"); }
    let is_old = KubernetesVersion::DEFAULT != self.kubernetes_version();
    match version { KubernetesVersion::LATEST => {} other if other.minor() > 34 => {} _ => {} }
    let (_, minor) = server.kubernetes_version().parts();
    let number = ReleaseNumber::from(kubernetes);
    other.registry.kubernetes == number
}
"#;
    let asked = r#"
/// Serves `1.36`.
fn f(kubernetes: KubernetesVersion) -> KubernetesVersion {
    let kubernetes = options.kubernetes.unwrap_or(KubernetesVersion::DEFAULT);
    let minor = match is_new { true => KubernetesVersion::LATEST, false => kubernetes };
    let texts = ["1.2", "1.360", "1.1.36", "v1", "busybox:1.36", "1.36.y"];
    kubernetes.gates().is_on("Name") && minor < 3 && kubernetes.all(|it| it).max() == other
}
#[test]
fn g() { assert_eq!("1.36".parse(), Ok(KubernetesVersion::DEFAULT)); }
"#;
    check(
        versions::findings,
        &[
            ("fakeserver/versions/src/lib.rs", compared),
            ("informer/src/lib.rs", compared),
            ("fakeserver/server/src/lib.rs", compared),
            ("fakeserver/server/tests/it/one.rs", compared),
            ("conformance/src/lib.rs", asked),
            ("fakeserver/cli/src/assets.rs", asked),
            ("fakeserver/cli/src/kubernetes_version.rs", compared),
        ],
        &[
            "fakeserver/server/src/lib.rs:3: a comparison of `kubernetes`",
            "fakeserver/server/src/lib.rs:3: a comparison with `KubernetesVersion::LATEST`",
            "fakeserver/server/src/lib.rs:3: the version \"1.36\"",
            "fakeserver/server/src/lib.rs:4: a comparison with `KubernetesVersion::DEFAULT`",
            "fakeserver/server/src/lib.rs:5: a comparison with `KubernetesVersion::LATEST`",
            "fakeserver/server/src/lib.rs:5: `.minor()`",
            "fakeserver/server/src/lib.rs:6: `kubernetes_version.parts()`",
            "fakeserver/server/src/lib.rs:7: `ReleaseNumber`",
            "fakeserver/server/src/lib.rs:8: a comparison of `kubernetes`",
            "fakeserver/cli/src/assets.rs:1: an exception of the rule `versions` that is not needed: the folder of the default \
             version has no version in its name",
        ],
    );
}

#[test]
fn spawns_are_found() {
    check(
        spawn::findings,
        &[
            ("a/src/task.rs", "use tokio::task::JoinSet;"),
            (
                "a/src/lib.rs",
                "mod task; #[cfg(test)] mod tests; mod b; mod c;",
            ),
            ("a/src/tests.rs", "fn f() { tokio::spawn(async {}); }"),
            (
                "a/src/b.rs",
                "use std::{\n    thread,\n};\nfn f() {\n    thread::scope(|_| {});\n}",
            ),
            (
                "a/src/c.rs",
                "use tokio::{\n    task::{JoinHandle, JoinSet},\n    time,\n};\n#[cfg(test)]\nfn f() { tokio::spawn(async {}); }",
            ),
        ],
        &[
            "a/src/b.rs:5: `thread::scope` outside of a `task` module",
            "a/src/c.rs:2: `JoinSet` outside of a `task` module",
        ],
    );
}

#[test]
fn long_functions_and_files_are_found() {
    let statements = "    g();\n".repeat(99);
    let just_short = format!("fn short() {{\n{}}}\n", &statements[9..]);
    let just_long =
        format!("/// Docs.\n#[inline]\npub fn long()\nwhere\n    u8: Copy,\n{{\n{statements}}}\n");
    let source = "\n".repeat(501);
    check(
        sizes::findings,
        &[
            ("a/src/lib.rs", "#[cfg(test)] mod tests;"),
            ("a/src/functions.rs", &format!("{just_short}{just_long}")),
            ("a/src/source.rs", &source),
            ("a/src/tests.rs", &source),
            ("a/tests/it/long.rs", &"\n".repeat(801)),
        ],
        &[
            "a/src/functions.rs:103: `long` is longer than 100 lines",
            "a/src/source.rs:501: a file longer than 500 lines",
            "a/tests/it/long.rs:801: a file longer than 800 lines",
        ],
    );
}

const TABLE: &str = "\
# a
| layer | module | contents |
|---|---|---|
| base | `low` | values |
| stages | `one` `two` | stages |
| top | `high` | all |
| | `high::left` `high::right` | both sides |
## Rules
| layer | of something else |
|---|---|
| `x` | y |
";

#[test]
fn paths_in_comments_that_lead_nowhere_are_found() {
    check(
        paths::in_comments,
        &[
            (
                "a/data/table.txt",
                "# Read by a/src/gone.rs.\na/src/none.rs 1\n",
            ),
            ("a/run.sh", "echo \"$x\" # see `a/src/lib.rs`, and b/c/d"),
            (
                "a/src/lib.rs",
                "//! By a/src/{lib,lost}.rs; https://a/b/c.rs, a/b.\nlet x = 1; // a/src/here/",
            ),
        ],
        &[
            "a/data/table.txt:1: `a/src/gone.rs` does not exist",
            "a/src/lib.rs:1: `a/src/lost.rs` does not exist",
            "a/src/lib.rs:2: `a/src/here` does not exist",
        ],
    );
}

#[test]
fn upward_imports_are_found() {
    let root = "mod low; mod one; mod two; mod high; pub use self::high::{left::Left, High};";
    check(
        imports::findings,
        &[
            ("a/README.md", TABLE),
            ("a/src/lib.rs", root),
            (
                "a/src/low.rs",
                "use crate::{\n    one::One,\n    two,\n};\n#[cfg(test)]\nuse crate::high;",
            ),
            (
                "a/src/one/mod.rs",
                "use crate::low::Low;\nuse super::two::Two;",
            ),
            (
                "a/src/one/deep.rs",
                "fn f() -> crate::Left { super::super::high::new() }",
            ),
            ("a/src/two.rs", "use crate::low;"),
            (
                "a/src/high/mod.rs",
                "use self::{left::Left, right::Right};\nuse crate::one;",
            ),
            ("a/src/high/left.rs", "use super::right::Right;"),
            ("a/src/high/right.rs", "use super::left::Left;"),
        ],
        &[
            "a/src/high/left.rs:1: `high::left` imports `high::right`, which stands after it",
            "a/src/low.rs:2: `low` imports `one`, which stands after it",
            "a/src/low.rs:3: `low` imports `two`, which stands after it",
            "a/src/one/deep.rs:1: `one` imports `high`, which stands after it",
            "a/src/one/mod.rs:2: `one` imports `two`, of the same layer",
        ],
    );
}

#[test]
fn crates_that_know_each_other_are_found() {
    let tests = "fn f() { fakeserver::FakeServer::new(); }";
    check(
        imports::findings,
        &[
            ("informer/src/lib.rs", "mod low; #[cfg(test)] mod tests;"),
            (
                "informer/src/low.rs",
                "//! Unlike fakeserver::x.\nuse fakeserver::FakeServer;\nuse fakeserver_value::Json;",
            ),
            ("fakeserver/value/src/lib.rs", "use informer::Scope;"),
            ("informer/src/tests.rs", tests),
            ("informer/tests/it/main.rs", tests),
        ],
        &[
            "fakeserver/value/src/lib.rs:1: `fakeserver` knows `informer`",
            "informer/src/low.rs:3: `informer` knows `fakeserver_value`",
            "informer/src/low.rs:2: `informer` knows `fakeserver`",
        ],
    );
}

#[test]
fn modules_in_another_order_are_found() {
    let files = |root: &'static str| [("a/README.md", TABLE), ("a/src/lib.rs", root)];
    check(
        module_order::findings,
        &files("mod low;\n#[cfg(test)]\nmod fixtures;\nmod one;\nmod two;\npub mod high;"),
        &[],
    );
    check(
        module_order::findings,
        &files("mod low;\nmod two;\nmod one;\nmod high;"),
        &["a/src/lib.rs:2: `two` is declared where a/README.md has `one`"],
    );
    check(
        module_order::findings,
        &files("mod low;\nmod new;\nmod one;\nmod high;"),
        &[
            "a/src/lib.rs:2: `new` is not in the table of a/README.md",
            "a/src/lib.rs:1: `two` of the table in a/README.md is not declared",
        ],
    );
}

#[test]
fn commands_that_do_not_exist_are_found() {
    let flag = |name: &'static str| Arg::new(name).long(name);
    let serve = Command::new("serve").arg(flag("listen")).arg(flag("tls"));
    let programs = [
        Command::new("server")
            .arg(flag("log").global(true))
            .subcommand(serve)
            .subcommand(Command::new("run")),
        Command::new("client").subcommand(Command::new("read").arg(flag("page"))),
    ];
    let page = [
        "`server serve --listen A:B --log x`, `serve --port 1`, `--page 3`, `--pages`, `stop --now`",
        "`cargo run --release -p client -- read --page 1 --size 2`",
        "```sh",
        "LEVEL=1 target/release/server stop --listen && server --log x run --tls -- client read --pgae 2 # --none",
        "curl --fail http://server",
        "```",
        "```json",
        "server --none",
        "```",
    ];
    let tree = Tree::of(&[("a.md", &page.join("\n")), ("CHANGELOG.md", "`--gone`")]);
    let found: Vec<String> = commands::findings(&tree, &programs)
        .iter()
        .map(|finding| format!("{}: {}", finding.line, finding.what))
        .collect();
    assert_eq!(
        found,
        [
            "1: `server serve` has no `--port`",
            "1: no program has `--pages`",
            "2: `client read` has no `--size`",
            "4: `server` has no `stop`",
            "4: `server` has no `--listen`",
            "4: `server run` has no `--tls`",
            "4: `client read` has no `--pgae`",
        ]
    );
}

#[test]
fn fields_without_a_schema_are_found() {
    let schemas = r#"{"definitions": {"Pod": {"properties": {"spec": {}, "replicas": {}}}}}"#;
    let types = r#"{"types": {"Pod": {"fields": [{"name": "kind"}]}}}"#;
    let source = [
        "fn f(x: &Value) {",
        r#"    let (a, b) = (&x["spec"]["replica"], x.at("sepc").get("kind"));"#,
        r#"    let c = x.pointer("/spec/knd").get("app.kubernetes.io/name");"#,
        r#"    let d = json!({"spec": {"relicas": "text"}, "kind": ["a"]});"#,
        r#"    for word in ["a"] { g("b", ["c"], word) }"#,
        "}",
        "#[cfg(test)]",
        r#"fn t(x: &Value) { x["none"] }"#,
    ];
    check(
        fields::findings,
        &[
            (
                "fakeserver/versions/data/1.36/openapi-structure.json",
                schemas,
            ),
            ("fakeserver/versions/data/1.36/types.json", types),
            ("fakeserver/kinds/src/pod.rs", &source.join("\n")),
            (
                "fakeserver/server/src/edge/query.rs",
                r#"fn f() { x["none"] }"#,
            ),
        ],
        &[
            "fakeserver/kinds/src/pod.rs:2: no schema has a field `replica`",
            "fakeserver/kinds/src/pod.rs:2: no schema has a field `sepc`",
            "fakeserver/kinds/src/pod.rs:3: no schema has a field `knd`",
            "fakeserver/kinds/src/pod.rs:4: no schema has a field `relicas`",
        ],
    );
}

#[test]
fn names_that_say_nothing_are_found() {
    let source = [
        "pub(crate) struct Told<'a> {",
        "struct ToldAll;",
        "/// enum Known {",
        "enum Known { Told }",
        "    let mut told = f();",
        "    let teller = told;",
    ];
    check(
        names::findings,
        &[("a/src/lib.rs", &source.join("\n"))],
        &[
            "a/src/lib.rs:1: a type called `Told`",
            "a/src/lib.rs:4: a type called `Known`",
            "a/src/lib.rs:5: a local called `told`",
        ],
    );
}

#[test]
fn docs_that_begin_with_a_clause_are_found() {
    let source = [
        "//! What a crate is.",
        "//! Who reads on.",
        "",
        "/// Whether it is so.",
        "fn f() {}",
        "    /// Whole numbers. What they are is not asked.",
        "    /// When they come.",
        "/// `What` is a word.",
        "// Why not.",
        "/// When.",
    ];
    let wording = Wording::of(&Tree::of(&[("a/src/lib.rs", &source.join("\n"))]));
    let lines: Vec<usize> = wording
        .findings
        .iter()
        .map(|finding| finding.line)
        .collect();
    assert_eq!(lines, [1, 4, 10]);
    assert_eq!((wording.block_count, wording.per_mille()), (4, 750));
}
