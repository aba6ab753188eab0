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
fn every_target_is_a_program_and_has_seeds() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names("fuzz_targets"), targets);
    assert_eq!(names("seeds"), targets);
    for target in &targets {
        assert!(!names(&format!("seeds/{target}")).is_empty(), "{target}");
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
