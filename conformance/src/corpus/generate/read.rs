//! Reads and lists.

use rand::{RngExt, rngs::ChaCha8Rng};

use super::{
    super::request::DRY_RUN, odd::pick, parameters, subject::Subject, write::with_parameters,
};
use crate::corpus::Request;

const METADATA: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
/// Odd media types.
const ACCEPTED: [&str; 14] = [
    "*/*",
    "application/*",
    "text/html",
    "application/xml",
    "application/json;as=Bogus;v=v1;g=meta.k8s.io",
    "application/json;as=Table",
    "application/json;as=Table;v=v2;g=meta.k8s.io",
    "application/json; q=0.5, text/*",
    "application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io",
    "application/json;pretty=1",
    "bogus",
    "",
    "application/json;stream=watch",
    "application/xml, application/json;q=0.1",
];

/// Draws a read or a list.
pub(super) fn read(rng: &mut ChaCha8Rng, subject: &Subject) -> (Request, String) {
    let path = subject.path();
    let get = |path: &str| Request::new("GET", path);
    let (request, note) = match rng.random_range(0..16) {
        0 => (get(&path), "get"),
        1 => (get(&path).with_header("Accept", METADATA), "metadata"),
        2 => (
            get(&path).with_header("Accept", pick(rng, &ACCEPTED)),
            "accept",
        ),
        // Rows have ages, which differ from server to server.
        3 => (table(rng, subject), "table"),
        4 => (get(&nothing(rng, subject)), "nothing"),
        5 => (get(&subresource(rng, subject)), "subresource"),
        6 => (other_method(rng, &path), "method"),
        7 => {
            let parameter = pick(
                rng,
                &[
                    "resourceVersion=x",
                    "pretty=true",
                    "bogus=1",
                    "resourceVersion=",
                    "export=true",
                ],
            );
            (get(&format!("{path}?{parameter}")), "parameter")
        }
        8 | 9 => {
            let path = list(rng, subject);
            (
                get(&path).with_header("Accept", METADATA_LIST),
                "list of metadata",
            )
        }
        10 => {
            let path = list(rng, subject);
            (
                get(&path).with_header("Accept", pick(rng, &ACCEPTED)),
                "accept of a list",
            )
        }
        _ => (get(&list(rng, subject)), "list"),
    };
    (request, note.to_owned())
}

fn other_method(rng: &mut ChaCha8Rng, path: &str) -> Request {
    match pick(rng, &["HEAD", "OPTIONS", "POST", "BOGUS"]) {
        method @ ("HEAD" | "OPTIONS") => Request::new(method, path),
        method => Request::new(method, format!("{path}?{DRY_RUN}")),
    }
}

fn list(rng: &mut ChaCha8Rng, subject: &Subject) -> String {
    with_parameters(
        &subject.collection,
        &parameters::of_list(rng, &subject.name()),
    )
}

fn table(rng: &mut ChaCha8Rng, subject: &Subject) -> Request {
    let path = if rng.random_bool(0.5) {
        format!(
            "{}?fieldSelector=metadata.name%3Dnothing",
            subject.collection
        )
    } else {
        let include = pick(rng, &["bogus", "", "object"]);
        format!(
            "{}?includeObject={include}&fieldSelector=metadata.name%3Dnothing",
            subject.collection
        )
    };
    Request::new("GET", path).with_header("Accept", TABLE)
}

fn nothing(rng: &mut ChaCha8Rng, subject: &Subject) -> String {
    let Subject { collection, .. } = subject;
    let above = collection.rsplit_once('/').map_or("", |(above, _)| above);
    match rng.random_range(0..6) {
        0 => format!("{above}/bogus"),
        1 => format!("{above}/bogus/a"),
        2 => format!("{collection}/A_b"),
        3 => format!("{collection}/"),
        4 => format!("{collection}/a%2Fb"),
        _ => format!("{collection}/nothing"),
    }
}

fn subresource(rng: &mut ChaCha8Rng, subject: &Subject) -> String {
    let name = pick(
        rng,
        &["status", "scale", "bogus", "status/more", "approval"],
    );
    format!("{}/{name}", subject.path())
}
