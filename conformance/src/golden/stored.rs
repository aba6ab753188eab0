//! The transcripts in the program.

use super::transcript::Transcript;

/// The files of `conformance/golden/`, in order of their names.
const STORED: &[&str] = &include!(concat!(env!("OUT_DIR"), "/transcripts.rs"));

/// The transcripts that were recorded from a real kube-apiserver, in order of their names.
///
/// They are within the program: all files that were in `conformance/golden/` when it was built.
pub fn stored() -> Vec<Transcript> {
    let parsed = STORED.iter().map(|text| Transcript::parse(text));
    parsed
        .collect::<serde_json::Result<_>>()
        .expect("a test reads every one")
}
