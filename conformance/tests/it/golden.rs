//! The fake server gives the recorded answers: every step of every transcript.

use std::{collections::BTreeSet, fmt::Write, fs, path::Path};

use conformance::golden::{Endpoint, PlayedStep, Transcript, Verdict, play, stored};
use fakeserver::{AdmissionPlugins, FakeServer};

async fn replay(transcript: &Transcript) -> Verdict {
    let plugins = AdmissionPlugins::default().with_enabled(transcript.plugins.clone());
    let server = FakeServer::builder().with_admission(plugins).build();
    let endpoint = Endpoint::in_process(&server);
    let mut seen = Vec::new();
    let watch = |played: &PlayedStep| seen.push(played.id.clone());
    let playback = play(&endpoint, &transcript.steps, watch).await;
    server.shutdown().await;
    assert!(playback.stopped.is_none(), "{:?}", playback.stopped);
    let ids: Vec<&str> = transcript.steps.iter().map(|step| &*step.id).collect();
    assert_eq!(seen, ids);
    Verdict::of(transcript, &playback.played)
}

#[tokio::test(start_paused = true)]
async fn every_step_of_every_transcript_is_answered_as_recorded() {
    let mut report = String::new();
    for transcript in stored() {
        let verdict = replay(&transcript).await;
        let name = &verdict.name;
        assert!(verdict.compared_count > 0, "{name} compares nothing");
        for mismatch in &verdict.mismatches {
            for difference in mismatch.differences.iter().take(6) {
                writeln!(report, "{name}/{}: {difference}", mismatch.step).unwrap();
            }
        }
        let is_whole = verdict.matched_count == verdict.compared_count;
        assert_eq!(is_whole, verdict.is_match(), "{verdict:?}");
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn every_file_in_the_folder_is_played() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let files: BTreeSet<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    // Each has the name of its file, too.
    let names: BTreeSet<String> = stored()
        .into_iter()
        .map(|transcript| transcript.name)
        .collect();
    assert_eq!(names, files);
}
