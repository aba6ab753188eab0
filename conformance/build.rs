//! Puts the golden transcripts into the program, so that adding a case is adding a file.

use std::{env, fs, path::PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=golden");
    let variable = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let golden = variable("CARGO_MANIFEST_DIR").join("golden");
    let files = fs::read_dir(golden).expect("the folder is there");
    let mut files: Vec<PathBuf> = files
        .map(|file| file.expect("the folder can be read").path())
        .filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    let included: Vec<String> = files
        .iter()
        .map(|file| format!("include_str!({:?})", file.display().to_string()))
        .collect();
    let written = fs::write(
        variable("OUT_DIR").join("transcripts.rs"),
        format!("[{}]", included.join(",\n")),
    );
    written.expect("cargo's own folder can be written");
}
