//! The page of the transcripts says what is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use super::FOLDER;

/// The purpose of a request or a stream.
const LIST: &str = "LIST";
const OPEN: &str = "WATCH open";
const STREAM: &str = "WATCH stream";
const WATCH_LIST: &str = "WATCH-LIST";

/// The conditions of client-go's error matrix, and where each can arise.
const CONDITIONS: [(&str, &[&str]); 17] = [
    ("410 Expired or Gone", &[LIST, OPEN, STREAM, WATCH_LIST]),
    (
        "too large a version (504)",
        &[LIST, OPEN, STREAM, WATCH_LIST],
    ),
    ("429", &[LIST, OPEN, STREAM, WATCH_LIST]),
    ("connection refused", &[LIST, OPEN, WATCH_LIST]),
    ("5xx with Retry-After", &[LIST, OPEN, STREAM, WATCH_LIST]),
    (
        "end, reset or time limit at opening",
        &[LIST, OPEN, STREAM, WATCH_LIST],
    ),
    (
        "end or break in the middle of a response",
        &[LIST, STREAM, WATCH_LIST],
    ),
    ("a very short watch", &[STREAM, WATCH_LIST]),
    (
        "what cannot be decoded, or an unknown event type",
        &[LIST, STREAM, WATCH_LIST],
    ),
    (
        "one object that cannot be decoded",
        &[LIST, STREAM, WATCH_LIST],
    ),
    ("401, 403 or 404", &[LIST, OPEN, WATCH_LIST]),
    ("400 or 422 Invalid", &[LIST, OPEN, WATCH_LIST]),
    (
        "another type, a Table, or no metadata",
        &[LIST, STREAM, WATCH_LIST],
    ),
    ("a bookmark with the annotation", &[STREAM, WATCH_LIST]),
    (
        "an object that cannot be transformed",
        &[LIST, STREAM, WATCH_LIST],
    ),
    ("a store that is closed", &[LIST, STREAM, WATCH_LIST]),
    ("a panic", &[LIST, STREAM, WATCH_LIST]),
];

/// The stages, as the folders are called.
const STAGES: [&str; 7] = [
    "reflector_machine",
    "reflector",
    "delta_fifo",
    "indexer",
    "processor",
    "work_queue",
    "shared_informer",
];

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn page() -> String {
    read(&Path::new(FOLDER).join("README.md"))
}

/// The section of the page under this heading.
fn section(page: &str, heading: &str) -> String {
    let begin = format!("\n## {heading}\n");
    let (_, rest) = page
        .split_once(&begin)
        .unwrap_or_else(|| panic!("the page has no section {heading}"));
    rest.split("\n## ").next().unwrap_or_default().to_owned()
}

/// The rows of the tables in a section, without heads.
fn rows(section: &str) -> Vec<Vec<String>> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = |row: &str| {
        let cells = row.trim_end_matches('|').split(" | ");
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    rows.map(cells).skip(1).collect()
}

/// The transcripts of a stage.
fn files(stage: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("{FOLDER}/{stage}")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{stage} has no transcripts");
    files
}

/// The commands that a transcript has.
fn commands(text: &str) -> BTreeSet<String> {
    let mut commands = BTreeSet::new();
    for stanza in text.split("\n\n") {
        let mut lines = stanza.lines().filter(|line| !line.starts_with('#'));
        if let Some(line) = lines.next()
            && stanza.lines().any(|line| line == "----")
        {
            let name = line.split(' ').next().unwrap_or_default();
            commands.insert(name.to_owned());
        }
    }
    commands
}

#[test]
fn every_condition_of_the_error_matrix_has_a_transcript_with_a_scene_for_each_place() {
    let rows = rows(&section(&page(), "What becomes of each failure"));
    let named: Vec<&str> = rows.iter().map(|row| &*row[0]).collect();
    assert_eq!(named, CONDITIONS.map(|(name, _)| name));
    for ((name, places), row) in CONDITIONS.iter().zip(&rows) {
        let (_, link) = row[1].split_once("](").expect("the cell is a link");
        let text = read(&Path::new(FOLDER).join(link.trim_end_matches(')')));
        for place in *places {
            let scene = format!("\n# {place}: ");
            assert!(text.contains(&scene), "{name} has no scene of {place}");
        }
    }
}

#[test]
fn the_page_reports_the_commands_of_each_stage_and_no_other() {
    let page = page();
    for stage in STAGES {
        let mut used: BTreeMap<String, PathBuf> = BTreeMap::new();
        for file in files(stage) {
            for command in commands(&read(&file)) {
                used.entry(command).or_insert(file.clone());
            }
        }
        let rows = rows(&section(&page, stage));
        let documented: BTreeSet<String> = rows
            .iter()
            .flat_map(|row| row[0].split(", "))
            .map(|command| {
                let words = command.trim_matches('`');
                words.split(' ').next().unwrap_or_default().to_owned()
            })
            .collect();
        for (command, file) in &used {
            let file = file.display();
            assert!(
                documented.contains(command),
                "{command}, in {file}, is not on the page"
            );
        }
        for command in &documented {
            assert!(
                used.contains_key(command),
                "no transcript of {stage} has {command}"
            );
        }
    }
}

#[test]
fn every_transcript_says_what_it_shows() {
    for stage in STAGES {
        for file in files(stage) {
            let text = read(&file);
            let intro = text.lines().take_while(|line| line.starts_with("# "));
            let file = file.display();
            assert!((2..=5).contains(&intro.count()), "{file}");
            let mut comments = text.lines().filter(|line| line.starts_with('#'));
            assert!(comments.all(|line| line.chars().count() <= 130), "{file}");
            assert!(
                !commands(&text).is_empty(),
                "{file} has no command with an output"
            );
        }
    }
}
