//! The transcripts in the program.

use super::transcript::Transcript;

/// The files of `conformance/golden/`, in order of their names.
const STORED: &[&str] = &include!(concat!(env!("OUT_DIR"), "/transcripts.rs"));

/// Returns the transcripts of a real kube-apiserver, in order of their names.
///
/// They are part of the program: all files in `conformance/golden/` at build time.
pub fn stored() -> Vec<Transcript> {
    let parsed = STORED.iter().map(|text| Transcript::parse(text));
    parsed
        .collect::<serde_json::Result<_>>()
        .expect("a test reads every one")
}
