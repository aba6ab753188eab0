//! Every seeded bug is caught, and the page of them is true.
//!
//! One test for each seam, so that the test runner distributes them over its threads.

use std::{collections::BTreeMap, fs, path::PathBuf, process::Command, time::Duration};

use conformance::{
    bugs::{Bug, Seam},
    hunt::hunt,
    participants::subjects::{self, SubjectParts},
    plan::Profile,
    seed::Seed,
    sim::{self, Plan, RunOptions},
};

/// The number of seeds in which each has to be caught.
const SEED_COUNT: u64 = 200;

/// The name of an informer's own comparison in what the checker `reports` finds.
const COMPARISON: &str = "comparison with the server";

/// A row of the page.
#[derive(Debug, PartialEq)]
struct Row {
    seam: String,
    about: String,
}

/// Returns the rows of the page by the names of the bugs, each with the number of seeds that it took.
fn page() -> BTreeMap<String, (Row, u64)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/bugs.md");
    let page = fs::read_to_string(path).unwrap();
    let mut rows = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, seam, about, caught_by, seeds, _] = cells[..] else {
            panic!("{line} has another form");
        };
        assert_ne!(caught_by, "none", "{line}");
        let row = Row {
            seam: seam.trim_matches('`').to_owned(),
            about: about.to_owned(),
        };
        let name = name.trim_matches('`').to_owned();
        let before = rows.insert(name, (row, seeds.parse().unwrap()));
        assert_eq!(before, None, "{line}");
    }
    rows
}

/// Checks that each bug at a seam is caught, and that there are at least `count_min`.
///
/// The seed that the page names is tried first: only what it no longer catches costs more.
fn check(seam: Seam, count_min: usize) {
    let page = page();
    let mut count = 0;
    for bug in Bug::all().filter(|bug| bug.seam() == seam) {
        let named = page.get(bug.name).map(|(_, seeds)| seeds - 1);
        let seeds = named.into_iter().chain(0..SEED_COUNT);
        let found = hunt(bug, seeds.map(Seed::new));
        assert!(
            found.catch.is_some(),
            "{} got away in {SEED_COUNT} seeds: {}",
            bug.name,
            bug.about
        );
        count += 1;
    }
    assert!(count >= count_min, "only {count} bugs at {seam:?}");
}

#[test]
fn bugs_between_server_and_reflector_are_caught() {
    check(Seam::ListWatch, 15);
}

#[test]
fn bugs_between_reflector_and_cache_are_caught() {
    check(Seam::ReflectorStore, 10);
}

#[test]
fn bugs_between_cache_and_handler_are_caught() {
    check(Seam::EventHandler, 10);
}

#[test]
fn wrong_delays_of_the_reflector_are_caught() {
    check(Seam::ReflectorOptions, 3);
}

#[test]
fn an_informer_finds_by_itself_what_a_bug_has_made_of_its_cache() {
    for name in ["relist-deletes-nothing", "list-ends-early"] {
        let bug = Bug::all().find(|bug| bug.name == name);
        let subject = |parts: SubjectParts<'_>| subjects::informer_with(parts, bug);
        let options = RunOptions::default()
            .with_subject(&subject)
            .with_convergence_limit(Duration::from_mins(1));
        let mut untrue_count = 0;
        for seed in (0..50).map(Seed::new) {
            let outcome = sim::run(&Plan::draw_sized(seed, Profile::Small), &options);
            let violations = outcome.violations.iter();
            let compared =
                violations.filter(|violation| violation.finding.text.contains(COMPARISON));
            assert_eq!(compared.count(), 0, "small seed {}", seed.get());
            let mut violations = outcome.violations.iter();
            let is_untrue = violations.any(|violation| violation.checker == "convergence");
            untrue_count += u32::from(is_untrue);
        }
        assert!(untrue_count > 0, "{name}");
    }
}

#[test]
fn the_page_lists_the_bugs_that_there_are() {
    let rows = page().into_iter().map(|(name, (row, seed_count))| {
        assert!(seed_count <= SEED_COUNT, "{name}");
        (name, row)
    });
    let want = Bug::all().map(|bug| {
        let row = Row {
            seam: bug.seam().name().to_owned(),
            about: bug.about.to_owned(),
        };
        (bug.name.to_owned(), row)
    });
    assert_eq!(
        rows.collect::<BTreeMap<_, _>>(),
        want.collect(),
        "rewrite the page: cargo run --release -p conformance -- bugs --force --markdown conformance/docs/bugs.md"
    );
}

/// Returns the patches by name, those of bugs that only show in threads included.
fn patches() -> BTreeMap<String, String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("bugs");
    let folders = [root.clone(), root.join("threads")];
    let entries = folders
        .into_iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    let patches = paths.filter(|path| path.extension().is_some_and(|kind| kind == "patch"));
    patches
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// Returns the lines that a hunk expects, joined.
fn wanted(hunk: &str) -> String {
    let lines = hunk.lines().skip(1);
    let old = lines.filter_map(|line| line.strip_prefix(' ').or(line.strip_prefix('-')));
    old.flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn every_patch_still_applies() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    for (name, patch) in patches() {
        let (title, patch) = patch.split_once("\n\n--- a/").unwrap();
        assert!(title.lines().count() == 1 && title.ends_with('.'), "{name}");
        let file = patch.lines().next().unwrap();
        assert!(file.starts_with("informer/src/"), "{name}: {file}");
        let source = fs::read_to_string(root.join(file)).unwrap();
        let hunks: Vec<&str> = patch.split("\n@@ ").skip(1).collect();
        assert!(!hunks.is_empty(), "{name}");
        for hunk in hunks {
            let wanted = wanted(hunk);
            assert_eq!(
                source.matches(&wanted).count(),
                1,
                "{name} is not about {file} as it is now:\n{wanted}"
            );
        }
        let switch = format!("crate::is_buggy(\"{name}\")");
        assert!(patch.contains(&switch), "{name} lacks {switch}");
    }
}

#[test]
fn the_page_lists_the_patches_that_there_are() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("bugs/README.md");
    let page = fs::read_to_string(path).unwrap();
    let mut rows: BTreeMap<String, String> = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, about, ..] = cells[..] else {
            panic!("{line} has another form");
        };
        let name = name.trim_matches('`').to_owned();
        assert_eq!(rows.insert(name, about.to_owned()), None, "{line}");
    }
    let patches = patches().into_iter();
    let want = patches.map(|(name, patch)| {
        let about = patch.lines().next().unwrap();
        (name, about.to_owned())
    });
    assert_eq!(rows, want.collect());
}

fn bugs(args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .arg("bugs")
        .args(args)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn the_command_reports_who_caught_a_bug() {
    let (code, text, _) = bugs(&["--bug", "deleted-ignored", "--bug", "update-as-add"]);
    assert_eq!(code, Some(0), "{text}");
    for word in [
        "deleted-ignored",
        "ListWatch",
        "handler_streams",
        "EventHandler",
    ] {
        assert!(text.contains(word), "{word} in {text}");
    }
    assert!(text.ends_with("all 2 bugs were caught\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn the_command_reports_which_bug_got_away() {
    // No single plan shows all of them.
    let hidden = |bug: &Bug| hunt(*bug, [Seed::new(0)]).catch.is_none();
    let bug = Bug::all().find(hidden).unwrap();
    let (code, text, _) = bugs(&["--bug", bug.name, "--seed", "0", "--seeds", "1"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("1 of 1 bugs got away"), "{text}");
    assert!(text.contains(bug.about), "{text}");
}

#[test]
fn the_command_writes_the_page() {
    let folder = std::env::temp_dir().join(format!("conformance-bugs-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("bugs.md");
    let to = path.to_str().unwrap();
    let (code, ..) = bugs(&["--bug", "modified-ignored", "--markdown", to]);
    assert_eq!(code, Some(0));
    let page = fs::read_to_string(&path).unwrap();
    assert!(
        page.contains("| `modified-ignored` | `ListWatch` |"),
        "{page}"
    );
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_bug_that_does_not_exist_is_reported() {
    let (code, text, error) = bugs(&["--bug", "nothing-wrong"]);
    assert_eq!((code, text.as_str()), (Some(2), ""));
    assert!(error.contains("there is no such bug"), "{error}");
    assert!(error.contains("tombstones-dropped"), "{error}");
}
