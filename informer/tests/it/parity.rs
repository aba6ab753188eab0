//! The page that compares with client-go is true as far as a test can tell: each row names tests, the tests exist, and each
//! name of client-go's catalogue is either ported or left out with a reason. So is the page of issues: each row names files
//! and tests that exist.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

const NAMES_HEADING: &str = "### All names";

/// The rows of the page's tables, by the heads of the tables.
#[derive(Debug, Default, PartialEq, Eq)]
struct Page {
    /// A name of client-go, ours, the difference, the tests.
    names: Vec<Row>,
    /// Names of client-go, the reason.
    names_left_out: Vec<Row>,
    /// Tests of client-go, ours, the difference.
    ported: Vec<Row>,
    /// Tests of client-go, the reason.
    left_out: Vec<Row>,
    /// Every test of the catalogue.
    catalogue: Vec<String>,
}

type Row = Vec<String>;

const NAMES_HEAD: [&str; 4] = ["client-go", "here", "what differs, and why", "tests"];
const NAMES_LEFT_OUT_HEAD: [&str; 2] = ["client-go", "why it is left out"];
const PORTED_HEAD: [&str; 3] = ["test of client-go", "tests here", "what differs, and why"];
const LEFT_OUT_HEAD: [&str; 2] = ["test of client-go", "why it is left out"];
const ISSUES_HEAD: [&str; 4] = ["issue", "what hurts", "with `informer`", "shown by"];

// === impl Page ===

impl Page {
    fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut head = None;
        let mut is_catalogue = false;
        let mut is_fenced = false;
        for line in text.lines().map(str::trim) {
            if line.starts_with('#') {
                is_catalogue = line == NAMES_HEADING;
            } else if line.starts_with("```") {
                is_fenced = !is_fenced;
            } else if is_fenced && is_catalogue {
                page.catalogue.push(line.to_owned());
            }
            let Some(row) = row(line) else {
                head = None;
                continue;
            };
            match &head {
                None => head = Some(row),
                Some(_) if row.iter().all(|cell| cell.starts_with("--")) => {}
                Some(head) if *head == NAMES_HEAD => page.names.push(row),
                Some(head) if *head == NAMES_LEFT_OUT_HEAD => page.names_left_out.push(row),
                Some(head) if *head == PORTED_HEAD => page.ported.push(row),
                Some(head) if *head == LEFT_OUT_HEAD => page.left_out.push(row),
                Some(head) => panic!("a table with an unknown head: {head:?}"),
            }
        }
        page
    }

    /// Everything that is wrong with the page, given the tests that exist.
    fn faults(&self, tests: &BTreeSet<String>) -> Vec<String> {
        let mut faults = Vec::new();
        for row in &self.names {
            if row.len() != NAMES_HEAD.len() || row[0].is_empty() || row[1].is_empty() {
                faults.push(format!("{} is no whole row", row[0]));
                continue;
            }
            check_tests(&row[0], &row[3], tests, &mut faults);
        }
        for row in &self.names_left_out {
            if row.len() != NAMES_LEFT_OUT_HEAD.len() || row[1].is_empty() {
                faults.push(format!("{} is left out without a reason", row[0]));
            }
        }
        let mut placed = BTreeMap::<&str, usize>::new();
        for row in &self.ported {
            if row.len() != PORTED_HEAD.len() {
                faults.push(format!("{} is no whole row", row[0]));
                continue;
            }
            check_tests(&row[0], &row[1], tests, &mut faults);
            for name in words(&row[0]) {
                *placed.entry(name).or_default() += 1;
            }
        }
        for row in &self.left_out {
            if row.len() != LEFT_OUT_HEAD.len() || row[1].is_empty() {
                faults.push(format!("{} is left out without a reason", row[0]));
            }
            for name in words(&row[0]) {
                *placed.entry(name).or_default() += 1;
            }
        }
        let mut known = BTreeSet::new();
        for name in &self.catalogue {
            if !known.insert(name.as_str()) {
                faults.push(format!("{name} is in the catalogue twice"));
            }
            match placed.get(name.as_str()).copied().unwrap_or_default() {
                0 => faults.push(format!("{name} is neither ported nor left out")),
                1 => {}
                _ => faults.push(format!("{name} is placed more than once")),
            }
        }
        let unknown = placed.keys().filter(|name| !known.contains(**name));
        faults.extend(unknown.map(|name| format!("{name} is not in the catalogue")));
        faults
    }
}

/// The cells of a line of a table.
fn row(line: &str) -> Option<Row> {
    let cells = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(
        cells
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect(),
    )
}

/// The words of a cell that are written as code.
fn words(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn check_tests(name: &str, cell: &str, tests: &BTreeSet<String>, faults: &mut Vec<String>) {
    if words(cell).next().is_none() {
        faults.push(format!("{name} names no test"));
    }
    for test in words(cell).filter(|test| !tests.contains(*test)) {
        faults.push(format!("{name} names {test}, which is no test"));
    }
}

/// Everything that is wrong with the page of issues, given the tests of each file; `None` if there is no such file.
fn faults_of_issues(
    page: &str,
    tests_of_file: impl Fn(&str) -> Option<BTreeSet<String>>,
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    let rows = page.lines().filter_map(row);
    for cells in rows.filter(|cells| cells[0].starts_with('[')) {
        let issue = cells[0].split(']').next().unwrap_or_default();
        let issue = issue.trim_start_matches('[').to_owned();
        if cells.len() != ISSUES_HEAD.len() || cells.iter().any(String::is_empty) {
            faults.push(format!("{issue} is no whole row"));
            continue;
        }
        let mut tests = BTreeSet::new();
        for word in words(&cells[3]) {
            if word.contains('/') {
                tests = tests_of_file(word).unwrap_or_else(|| {
                    faults.push(format!("{issue} names {word}, which is no file"));
                    BTreeSet::new()
                });
            } else if !tests.contains(word) {
                faults.push(format!(
                    "{issue} names {word}, which is no test of that file"
                ));
            }
        }
        if words(&cells[3]).next().is_none() {
            faults.push(format!("{issue} names nothing that shows it"));
        }
        if !seen.insert(issue.clone()) {
            faults.push(format!("{issue} has two rows"));
        }
    }
    faults
}

/// The functions of a source that are marked as tests.
fn tests_of(source: &str) -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    let mut is_marked = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_marked = true;
        } else if let Some((_, function)) = line.split_once("fn ") {
            let name = function.split(['(', '<']).next().unwrap_or_default();
            if is_marked && !line.starts_with("//") {
                tests.insert(name.to_owned());
                is_marked = false;
            }
        }
    }
    tests
}

/// The tests in a folder's sources, and its transcripts.
fn tests_in(folder: &Path) -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tests.extend(tests_in(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            tests.extend(tests_of(&fs::read_to_string(&path).unwrap()));
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            let name = path.file_stem().unwrap();
            tests.insert(name.to_string_lossy().into_owned());
        }
    }
    tests
}

#[test]
fn each_row_names_tests_that_exist_and_no_name_of_the_catalogue_is_lost() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tests = tests_in(&crate_folder.join("src"));
    tests.extend(tests_in(&crate_folder.join("tests")));
    let page = fs::read_to_string(crate_folder.join("docs/client-go.md")).unwrap();
    let page = Page::parse(&page);
    assert!(!page.names.is_empty() && !page.ported.is_empty() && !page.catalogue.is_empty());
    let faults = page.faults(&tests);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn mistakes_of_a_page_are_found() {
    let page = Page::parse(
        "
| client-go | here | what differs, and why | tests |
|---|---|---|---|
| `Good` | `Good` | | `it_is_good` |
| `Untested` | `Untested` | nothing | |
| `Gone` | `Gone` | | `it_was_good` |
| `Short` | `Short` | `it_is_good` |

| client-go | why it is left out |
|---|---|
| `Unneeded` | Go only |
| `Forgotten` | |

| test of client-go | tests here | what differs, and why |
|---|---|---|
| `TestA`, `TestB` | `it_is_good` | |
| `TestA` | by inspection | |

| test of client-go | why it is left out |
|---|---|
| `TestC` | |
| `TestD` | Go only |
| `TestE` | Go only |

### All names

```text
TestA
TestB
TestC
TestD
TestF
```
",
    );
    let tests = BTreeSet::from(["it_is_good".to_owned()]);
    assert_eq!(
        page.faults(&tests),
        [
            "`Untested` names no test",
            "`Gone` names it_was_good, which is no test",
            "`Short` is no whole row",
            "`Forgotten` is left out without a reason",
            "`TestA` names no test",
            "`TestC` is left out without a reason",
            "TestA is placed more than once",
            "TestF is neither ported nor left out",
            "TestE is not in the catalogue",
        ]
    );
}

#[test]
fn a_test_is_a_function_that_is_marked_as_one() {
    let source = "
/// See fn other().
#[tokio::test(start_paused = true)]
#[expect(lint)]
async fn marked() {}
fn helper() {}
// #[test]
fn commented_out() {}
    #[test]
    fn with_arguments(
        steps in any_step(),
    ) {}
";
    let expected = ["marked", "with_arguments"].map(str::to_owned);
    assert_eq!(tests_of(source), BTreeSet::from(expected));
}

#[test]
fn each_issue_names_files_and_tests_that_exist() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(crate_folder.join("docs/issues.md")).unwrap();
    let root = crate_folder.join("..");
    let faults = faults_of_issues(&page, |file| {
        let text = fs::read_to_string(root.join(file)).ok()?;
        Some(tests_of(&text))
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let count = page.lines().filter(|line| line.starts_with("| [")).count();
    assert!(count >= 40, "{count} issues");
}

#[test]
fn mistakes_of_the_page_of_issues_are_found() {
    let page = "
| issue | what hurts | with `informer` | shown by |
|---|---|---|---|
| [a#1](https://a) (open) | It hurts. | It does not. | `src/a.rs`: `it_is_good`; `src/b.txt` |
| [a#2](https://a) (open) | It hurts. | It does not. | `src/a.rs`: `it_was_good` |
| [a#3](https://a) (open) | It hurts. | It does not. | `src/gone.rs` |
| [a#4](https://a) (open) | It hurts. | | `src/a.rs` |
| [a#5](https://a) (open) | It hurts. | It does not. | by inspection |
| [a#1](https://a) (open) | It hurts. | It does not. | `src/b.txt` |
";
    let faults = faults_of_issues(page, |file| match file {
        "src/a.rs" => Some(BTreeSet::from(["it_is_good".to_owned()])),
        "src/b.txt" => Some(BTreeSet::new()),
        _ => None,
    });
    assert_eq!(
        faults,
        [
            "a#2 names it_was_good, which is no test of that file",
            "a#3 names src/gone.rs, which is no file",
            "a#4 is no whole row",
            "a#5 names nothing that shows it",
            "a#1 has two rows",
        ]
    );
}
