//! Replays the seeds of every target, among them every crash that was found.

use std::{collections::BTreeSet, fs, panic, path::Path};

use fuzz::{TARGETS, run};

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// The names in a folder of this package, without endings.
fn names(folder: &str) -> BTreeSet<String> {
    let folder = Path::new(FOLDER).join(folder);
    let entries = fs::read_dir(folder).unwrap();
    let stem = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    entries.map(|entry| stem(&entry.unwrap().path())).collect()
}

#[test]
fn every_target_is_a_program_with_seeds_and_a_dictionary() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names("fuzz_targets"), targets);
    assert_eq!(names("seeds"), targets);
    assert_eq!(names("dictionaries"), targets);
    for target in &targets {
        assert!(!names(&format!("seeds/{target}")).is_empty(), "{target}");
    }
}

/// Returns what is left of a token in quotes after its first character, which may be escaped; `None` if libFuzzer cannot read it.
fn after_character(token: &str) -> Option<&str> {
    let Some(escaped) = token.strip_prefix('\\') else {
        let first = token.chars().next()?;
        let is_plain = first.is_ascii_graphic() || first == ' ';
        return (is_plain && first != '"').then(|| &token[1..]);
    };
    match escaped.strip_prefix('x') {
        Some(digits) => {
            let digits = digits.split_at_checked(2)?;
            u8::from_str_radix(digits.0, 16).ok()?;
            Some(digits.1)
        }
        None => escaped.strip_prefix(['\\', '"']),
    }
}

#[test]
fn libfuzzer_can_read_every_dictionary() {
    for (target, _) in TARGETS {
        let text = fs::read_to_string(format!("{FOLDER}/dictionaries/{target}.dict")).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let mut tokens = BTreeSet::new();
        for line in lines {
            let token = line.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
            let mut rest = token.filter(|it| !it.is_empty()).expect(line);
            while !rest.is_empty() {
                rest = after_character(rest).unwrap_or_else(|| panic!("{target}: {line}"));
            }
            assert!(tokens.insert(line), "{target} has {line} twice");
        }
        assert!(tokens.len() > 5, "{target}");
    }
}

#[test]
fn seeds_keep_every_promise() {
    let mut failed = Vec::new();
    for (target, _) in TARGETS {
        for entry in fs::read_dir(format!("{FOLDER}/seeds/{target}")).unwrap() {
            let path = entry.unwrap().path();
            let data = fs::read(&path).unwrap();
            if panic::catch_unwind(|| run(target, &data)).is_err() {
                failed.push(path);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}
