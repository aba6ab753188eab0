//! Checks the repository's own rules: layers, file roles, sizes, paths and words.
//!
//! Each rule is a pure function over a tree of files and returns findings, each with a file, a line, and what to do.
//! `seeded` breaks every rule in a small tree and shows that it is found.
//!
//! | rule | finding |
//! |---|---|
//! | `scratch` | a file that a tool left behind |
//! | `roles` | a file whose name or content is not that of its role |
//! | `modules` | a file that no `mod` names |
//! | `paths` | a path in Markdown, in a comment or in a data file that does not exist |
//! | `commands` | a subcommand or a flag in Markdown that no program has |
//! | `spawn` | a task or thread that is started outside of a `task` module |
//! | `fields` | a name of a field that no schema has |
//! | `sizes` | a function or a file that is too long |
//! | `imports` | an import against the table of modules in the crate's `README.md`, or between stages or groups of kinds |
//! | `module_order` | a `lib.rs` and that table that differ |
//! | `names` | a type or a local whose name says nothing |
//! | `versions` | a comparison of versions of Kubernetes outside of `fakeserver/versions` |
//! | `wording` | docs that begin with a clause |
//!
//! `cargo test -p conformance --test tidy wording -- --nocapture` counts the last ones by crate and by file.

mod finding;
mod markdown;
mod module_table;
mod rules;
mod rust;
mod seeded;
mod tree;

use clap::{Arg, Command, CommandFactory as _};

use self::{
    finding::check,
    rules::{wording::Wording, *},
    tree::Tree,
};

#[test]
fn no_scratch_file_is_tracked() {
    check("scratch", &scratch::findings(&Tree::of_repository()));
}

#[test]
fn files_have_the_names_of_their_roles() {
    check("roles", &roles::findings(&Tree::of_repository()));
}

#[test]
fn each_file_is_a_module() {
    check("modules", &modules::findings(&Tree::of_repository()));
}

#[test]
fn paths_in_markdown_exist() {
    check("paths", &paths::findings(&Tree::of_repository()));
}

#[test]
fn paths_in_comments_exist() {
    check("paths", &paths::in_comments(&Tree::of_repository()));
}

#[test]
fn commands_in_markdown_parse() {
    check(
        "commands",
        &commands::findings(&Tree::of_repository(), &programs()),
    );
}

#[test]
fn only_task_modules_spawn() {
    check("spawn", &spawn::findings(&Tree::of_repository()));
}

#[test]
fn fields_are_those_of_schemas() {
    check("fields", &fields::findings(&Tree::of_repository()));
}

#[test]
fn functions_and_files_are_short() {
    check("sizes", &sizes::findings(&Tree::of_repository()));
}

#[test]
fn modules_import_downwards() {
    check("imports", &imports::findings(&Tree::of_repository()));
}

#[test]
fn lib_declares_modules_in_the_order_of_the_tables() {
    check(
        "module_order",
        &module_order::findings(&Tree::of_repository()),
    );
}

#[test]
fn names_are_nouns_of_the_field() {
    check("names", &names::findings(&Tree::of_repository()));
}

#[test]
fn only_the_crate_of_versions_compares_them() {
    check("versions", &versions::findings(&Tree::of_repository()));
}

#[test]
fn docs_begin_with_a_verb_or_a_noun() {
    let wording = Wording::of(&Tree::of_repository());
    println!("{}", wording.report());
    assert!(wording.findings.is_empty(), "{}", wording.report());
}

/// The command lines of the programs.
fn programs() -> [Command; 5] {
    let conformance = conformance::cli::Cli::command();
    let fakeserver = fakeserver::cli::command();
    [
        fakeserver,
        kube_apiserver(),
        conformance,
        survive::cli::Cli::command(),
        benches::command(),
    ]
}

/// fakeserver under another name, with the flags of that.
fn kube_apiserver() -> Command {
    let flags = include_str!("../../../fakeserver/versions/data/1.36/kube-apiserver-flags.txt");
    let names = flags.lines().filter_map(|line| line.split(' ').next());
    Command::new("kube-apiserver")
        .disable_help_flag(true)
        .args(names.map(|name| Arg::new(name).long(name)))
}
