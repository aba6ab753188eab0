//! The fake server answers what a real one did: every step of the matched transcripts, and no less than before of the others.

use std::{collections::BTreeMap, fmt::Write, fs, path::PathBuf};

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
}

#[tokio::test(start_paused = true)]
async fn the_list_of_pending_transcripts_only_shrinks() {
    let text = fs::read_to_string(folder().join("pending.txt")).unwrap();
    let listed: BTreeMap<&str, &str> = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect();
    let mut found = BTreeMap::new();
    let mut reports = String::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let is_transcript = path
            .extension()
            .is_some_and(|extension| extension == "json");
        if !is_transcript || MATCHED.contains(&name.as_str()) {
            continue;
        }
        let outcome = replay(&name).await;
        let count = format!("{}/{}", outcome.matched_count, outcome.total_count);
        if listed
            .get(name.as_str())
            .is_none_or(|listed| **listed != count)
        {
            reports.push_str(&outcome.report);
        }
        found.insert(name, count);
    }
    let counts = |of: Vec<(&str, &str)>| -> Vec<String> {
        of.iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect()
    };
    let found = counts(
        found
            .iter()
            .map(|(name, count)| (&**name, &**count))
            .collect(),
    );
    let listed = counts(listed.into_iter().collect());
    assert!(
        found == listed,
        "\n{reports}\na count that fell is a regression; if none fell, golden/pending.txt should be (and whole matches \
         should stand in MATCHED)\n\n{}",
        found.join("\n")
    );
}
