//! A frame of a watch, and the body of a list, in every encoding.

use informer::{
    Metadata, Object,
    list_watch::{ArrivedObject, HeldObjects, NoHeldObjects, WatchEvent},
    stages::{Decoder, status_of_answer},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::{DynamicObject, PartialObjectMeta};
use serde_json::Value;

/// Decodes the bytes as everything that a server can send: an event, a list, a status; of types that are known when the
/// program is compiled, when it runs, or not at all.
pub fn run(data: &[u8]) {
    let decoder = Decoder::new("v1", "ConfigMap");
    drop(decoder.watch_event::<ConfigMap>(data, &NoHeldObjects));
    drop(decoder.watch_event::<DynamicObject>(data, &NoHeldObjects));
    let metadata_only = decoder.clone().metadata_only();
    drop(metadata_only.watch_event::<PartialObjectMeta<ConfigMap>>(data, &NoHeldObjects));
    drop(status_of_answer(500, data));
    informer::fuzzing::encodings(data);
    list(&decoder, data);
    // Two readers read each object, which differ in what they do about a name that comes twice: no server sends such.
    if let Ok(value) = serde_json::from_slice::<Value>(data) {
        event(&decoder, value.to_string().as_bytes());
    }
}

fn list(decoder: &Decoder, body: &[u8]) {
    let Ok(mut list) = decoder.list_body(body) else {
        return;
    };
    let count = list.len();
    let mut items = Vec::new();
    while let Some(item) = list.next_item::<ConfigMap>(&NoHeldObjects) {
        let Ok(item) = item else {
            return;
        };
        items.push(item);
    }
    assert_eq!(items.len(), count);
    let page = list.into_page(items);
    assert!(!page.resource_version.is_unknown(), "a page has a version");
    assert_ne!(page.continue_token.as_deref(), Some(""), "a token leads on");
}

fn event(decoder: &Decoder, frame: &[u8]) {
    let Ok(event) = decoder.watch_event::<ConfigMap>(frame, &NoHeldObjects) else {
        return;
    };
    match event {
        WatchEvent::Added(Ok(object)) | WatchEvent::Modified(Ok(object)) => {
            check(&object);
            // What is held already is taken from there.
            let again = decoder.watch_event(frame, &SingleObject(object.clone()));
            let Ok(WatchEvent::Added(Ok(same)) | WatchEvent::Modified(Ok(same))) = again else {
                panic!("it decoded before: {again:?}");
            };
            assert!(same.is_same(&object), "it is not decoded again");
        }
        WatchEvent::Deleted(Ok(object)) => check(&object),
        WatchEvent::Added(refused)
        | WatchEvent::Modified(refused)
        | WatchEvent::Deleted(refused) => {
            check_refused(&refused);
        }
        WatchEvent::Bookmark {
            resource_version, ..
        } => assert!(!resource_version.is_unknown(), "a bookmark has a version"),
        _ => {}
    }
}

/// Checks that the metadata that was read beside the object is that of the object.
fn check(object: &Object<ConfigMap>) {
    assert_eq!(Metadata::of(&**object.get()), *object.metadata());
    assert!(!object.key().name().is_empty(), "an object has a name");
    assert!(!object.resource_version().is_unknown(), "and a version");
}

fn check_refused(refused: &ArrivedObject<ConfigMap>) {
    let error = refused.as_ref().expect_err("the others were matched");
    assert!(!error.key.name().is_empty(), "what is refused is named");
    assert!(!error.resource_version.is_unknown(), "and has a version");
}

/// Holds one object.
struct SingleObject(Object<ConfigMap>);

// === impl SingleObject ===

impl HeldObjects<ConfigMap> for SingleObject {
    fn lookup(&self, metadata: &Metadata) -> Option<Object<ConfigMap>> {
        (self.0.metadata() == metadata).then(|| self.0.clone())
    }
}
