//! Replays the seeds of every target, among them every crash that was found.

use std::{collections::BTreeSet, fs, path::Path};

use fuzz::{TARGETS, run};

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");
/// What every program ends with.
const PROGRAM: &str = r#"
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::run(env!("CARGO_BIN_NAME"), data));
"#;

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
        // The programs are made with libFuzzer only, which the tests do without: they are as good as this one line.
        let program = format!("{FOLDER}/fuzz_targets/{target}.rs");
        let text = fs::read_to_string(program).unwrap();
        assert!(text.ends_with(PROGRAM), "{target}: {text}");
    }
}

#[test]
fn seeds_keep_every_promise() {
    for (target, _) in TARGETS {
        for entry in fs::read_dir(format!("{FOLDER}/seeds/{target}")).unwrap() {
            let path = entry.unwrap().path();
            // Shown if it panics.
            println!("{}", path.display());
            run(target, &fs::read(path).unwrap());
        }
    }
}
