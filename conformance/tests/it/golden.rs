//! The fake server answers what a real one did: every step of every transcript.

use std::{collections::BTreeSet, fmt::Write, fs, path::PathBuf};

use conformance::golden::{Transcript, differences, ignore, play};
use fakeserver::FakeServer;

/// What became of one transcript.
struct Outcome {
    matched_count: usize,
    total_count: usize,
    report: String,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden")
}

async fn replay(name: &str) -> Outcome {
    let text = fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
    let transcript = Transcript::parse(&text).unwrap();
    let server = FakeServer::builder().build();
    let played = play(&server, &transcript.steps).await;
    server.shutdown().await;

    let mut outcome = Outcome {
        matched_count: 0,
        total_count: transcript.compared_count(),
        report: String::new(),
    };
    for (step, played) in transcript.steps.iter().zip(played) {
        let Some(mut want) = step.response.clone() else {
            continue;
        };
        let mut got = played.response.expect("a compared step has an answer");
        for path in transcript.ignore.iter().chain(&step.request.ignore) {
            ignore(&mut want, path);
            ignore(&mut got, path);
        }
        let found = differences(&want, &got);
        if found.is_empty() {
            outcome.matched_count += 1;
        }
        for difference in found.iter().take(6) {
            writeln!(outcome.report, "{name}/{}: {difference}", step.id).unwrap();
        }
    }
    outcome
}

async fn check_matches(name: &str) {
    let outcome = replay(name).await;
    assert_eq!(
        outcome.matched_count, outcome.total_count,
        "\n{}",
        outcome.report
    );
    assert!(outcome.total_count > 0, "{name} compares nothing");
}

macro_rules! every_step_matches {
    ($($test:ident: $file:literal,)*) => {
        /// The transcripts of which every step has to match.
        const MATCHED: &[&str] = &[$($file),*];
        $(
            #[tokio::test(start_paused = true)]
            async fn $test() {
                check_matches($file).await;
            }
        )*
    };
}

every_step_matches! {
    list_basics: "list-basics",
    list_paging: "list-paging",
    list_rv: "list-rv",
    watch_basics: "watch-basics",
    watch_selectors: "watch-selectors",
    watch_list: "watch-list",
    watch_errors: "watch-errors",
    expired: "expired",
    update: "update",
    create_errors: "create-errors",
    delete: "delete",
    namespaces: "namespaces",
    apply: "apply",
    crds: "crds",
    negotiation: "negotiation",
    subresources: "subresources",
    generate_name: "generate-name",
    defaults: "defaults",
    discovery: "discovery",
    patch: "patch",
}

#[test]
fn every_transcript_is_matched() {
    let stored: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let matched: BTreeSet<String> = MATCHED.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(stored, matched);
}
