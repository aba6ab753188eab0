//! The fake server gives the recorded answers: every step of every transcript.

use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use conformance::golden::{Endpoint, PlayedStep, Transcript, Verdict, play, stored};
use fakeserver::{AdmissionPlugins, FakeServer, KubernetesVersion};

async fn replay(version: KubernetesVersion, transcript: &Transcript) -> Verdict {
    let plugins = AdmissionPlugins::default().with_enabled(transcript.plugins.clone());
    let builder = FakeServer::builder().with_kubernetes_version(version);
    let server = builder.with_admission(plugins).build();
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
    check_recorded(KubernetesVersion::DEFAULT, stored()).await;
}

#[tokio::test(start_paused = true)]
async fn every_step_of_every_transcript_of_1_35_is_answered_as_recorded() {
    let transcripts = stored().into_iter().filter_map(|transcript| {
        let name = &*transcript.name;
        // These were not recorded from that version, and the others answer as those of 1.36 do.
        let is_recorded = !matches!(name, "expired" | "service-accounts");
        let own = folder().join("1.35").join(name).with_extension("json");
        let text = fs::read_to_string(own);
        let own = text.ok().map(|text| Transcript::parse(&text).unwrap());
        is_recorded.then(|| own.unwrap_or(transcript))
    });
    check_recorded("1.35".parse().unwrap(), transcripts.collect()).await;
}

async fn check_recorded(version: KubernetesVersion, transcripts: Vec<Transcript>) {
    let mut report = String::new();
    for transcript in transcripts {
        let verdict = replay(version, &transcript).await;
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

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

#[test]
fn every_file_in_the_folder_is_played() {
    let files: BTreeSet<String> = fs::read_dir(folder())
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
