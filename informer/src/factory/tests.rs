//! Tables of the pure parts.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::{api::DynamicObject, core::PartialObjectMeta};

use super::{
    Selection,
    key::{InformerKey, Representation},
    options::Options,
};
use crate::{
    discovery::{GroupResource, GroupVersionResource},
    http::Scope,
    rest_mapper::RestMapper,
};

/// One that is never asked.
fn mapper() -> RestMapper {
    RestMapper::new(fakeserver::FakeServer::builder().build().client())
}

fn selection(labels: &str, fields: &str) -> Selection {
    Selection::everything()
        .with_labels(&labels.parse().unwrap())
        .with_fields(fields)
}

fn key<K: 'static>(scope: Scope, selection: Selection) -> String {
    let key = InformerKey {
        resource: GroupVersionResource::new("", "v1", "pods"),
        scope,
        selection,
        representation: Representation::of::<K>(),
        transform: None,
    };
    key.to_string()
}

#[test]
fn a_key_prints_what_tells_it_from_others() {
    let everything = Selection::everything;
    assert_eq!(key::<Pod>(Scope::All, everything()), "pods.v1.");
    assert_eq!(
        key::<DynamicObject>(Scope::Namespace("a".into()), everything()),
        "pods.v1. as dynamic objects in namespace \"a\""
    );
    assert_eq!(
        key::<PartialObjectMeta<DynamicObject>>(Scope::All, selection("b=1,a in (z,y)", "x=1")),
        "pods.v1. as metadata with labels \"a in (y,z),b=1\" with fields \"x=1\""
    );
}

#[tokio::test]
async fn options_hold_for_all_until_a_resource_has_its_own() {
    let mut options = Options::new(mapper());
    let [pods, nodes] = ["pods", "nodes"].map(|name| GroupResource::new("", name));
    options.set_selection(None, selection("app=web", ""));
    options.set_selection(Some(pods.clone()), selection("", "spec.nodeName=n"));
    assert_eq!(options.selection(&pods), &selection("", "spec.nodeName=n"));
    assert_eq!(options.selection(&nodes), &selection("app=web", ""));

    options.set_resync_period(None, Duration::from_mins(1));
    options.set_resync_period(Some(pods.clone()), Duration::ZERO);
    assert_eq!(options.resync_period(&pods), None);
    assert_eq!(options.resync_period(&nodes), Some(Duration::from_mins(1)));
}

#[tokio::test]
async fn namespaces_are_watched_each_once_and_cluster_scoped_resources_whole() {
    let check = |namespaces: &[&str], expected: &[Scope]| {
        let mut options = Options::new(mapper());
        options.set_namespaces(namespaces.iter().map(ToString::to_string));
        assert_eq!(options.scopes(true), expected, "{namespaces:?}");
        assert_eq!(options.scopes(false), [Scope::All], "{namespaces:?}");
    };
    let namespace = |name: &str| Scope::Namespace(name.into());
    check(&["b", "a", "b"], &[namespace("a"), namespace("b")]);
    check(&["a", ""], &[Scope::All]);
    check(&[], &[]);
}
