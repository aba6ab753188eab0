//! Samples are valid, and requests are a function of the seed.

use std::collections::BTreeSet;

use fakeserver::FakeServer;
use serde_json::{Value, json};

use super::{Catalogue, Generator, difference::merge_patch};
use crate::{
    corpus::{Body, Request, ServedKinds, Session},
    golden::Endpoint,
    seed::Seed,
};

/// The number of requests that tell enough about all.
const REQUEST_COUNT: u64 = 3_000;

async fn generator(session: &Session, seed: u64) -> Generator {
    let served = ServedKinds::read(session).await.unwrap();
    served.generator(Seed::new(seed))
}

#[tokio::test(start_paused = true)]
async fn every_sample_is_valid() {
    let server = FakeServer::builder().build();
    let mut session = Session::new(Endpoint::in_process(&server));
    let generator = generator(&session, 1).await;
    for set_up in generator.set_up() {
        session.set_up(&set_up).await.unwrap();
    }
    let Catalogue { subjects, schemas } = &generator.catalogue;
    for subject in subjects {
        assert!(subject.has_object, "{} has no sample", subject.key);
        assert!(
            subject.schema(schemas).is_some(),
            "{} has no schema",
            subject.key
        );
        for sample in 0..subject.samples.len() {
            let object = subject.object(sample, "42");
            let path = format!("{}?dryRun=All&fieldValidation=Strict", subject.collection);
            let create = Request::new("POST", path).with_body(Body::Json(object.to_string()));
            let answer = session.ask(&create).await.unwrap();
            assert_eq!(
                answer["status"], 201,
                "{} {object}\n{}",
                subject.key, answer["body"]["message"]
            );
        }
    }
    let unused = super::catalogue::samples().into_iter().filter(|sample| {
        let is_it = |known: &Value| {
            known["kind"] == sample["kind"] && known["apiVersion"] == sample["apiVersion"]
        };
        !subjects
            .iter()
            .any(|subject| subject.samples.iter().any(is_it))
    });
    assert_eq!(unused.collect::<Vec<_>>(), [] as [Value; 0]);
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn requests_are_a_function_of_seed_and_number_and_change_nothing() {
    let server = FakeServer::builder().build();
    let session = Session::new(Endpoint::in_process(&server));
    let one = generator(&session, 7).await;
    let same = generator(&session, 7).await;
    let other = generator(&session, 8).await;
    assert_eq!(one.set_up(), other.set_up());
    let mut categories = BTreeSet::new();
    let mut equal_count = 0;
    for number in 0..REQUEST_COUNT {
        let case = one.case(number);
        assert_eq!(case, same.case(number));
        equal_count += u64::from(case == other.case(number));
        assert!(case.request.is_harmless(), "{case:?}");
        if let Some(Body::Json(text)) = &case.request.body {
            serde_json::from_str::<Value>(text).unwrap();
        }
        categories.insert((case.kind, case.category));
    }
    assert!(equal_count < REQUEST_COUNT / 50, "{equal_count}");
    let kinds: BTreeSet<&str> = categories.iter().map(|(kind, _)| &**kind).collect();
    assert_eq!(kinds, one.kinds().collect());
    let names: BTreeSet<&str> = categories.iter().map(|(_, category)| &**category).collect();
    let expected = [
        "apply",
        "create",
        "delete",
        "patch-json",
        "patch-merge",
        "patch-strategic",
        "read",
        "scale",
        "status",
        "subresource",
        "update",
    ];
    assert_eq!(names, BTreeSet::from(expected));
    server.shutdown().await;
}

#[test]
fn a_merge_patch_has_the_changes_only() {
    let old = json!({"a": 1, "b": {"c": [1, 2], "d": 2}, "e": 3});
    let new = json!({"a": 1, "b": {"c": [1], "d": 2}, "f": {"g": 4}});
    let patch = json!({"b": {"c": [1]}, "e": null, "f": {"g": 4}});
    assert_eq!(merge_patch(&old, &new), patch);
}
