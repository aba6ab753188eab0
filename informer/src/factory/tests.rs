//! Tables of the pure parts.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::{api::DynamicObject, core::PartialObjectMeta};

use super::{
    FactoryObject, Selectors, SharedInformerFactory,
    key::{InformerKey, Representation},
    options::Options,
};
use crate::{
    compact::Compact,
    discovery::{GroupResource, GroupVersionResource},
    http::{Encoding, Scope},
    rest_mapper::RestMapper,
};

/// One that is never asked.
fn mapper() -> RestMapper {
    RestMapper::new(fakeserver::FakeServer::builder().build().client())
}

fn selectors(labels: &str, fields: &str) -> Selectors {
    Selectors::everything()
        .with_labels(&labels.parse().unwrap())
        .with_fields(fields)
}

fn key<K: FactoryObject>(scope: Scope, selectors: Selectors) -> String {
    let key = InformerKey {
        resource: GroupVersionResource::new("", "v1", "pods"),
        scope,
        selectors,
        representation: Representation::of::<K>(),
        transform: None,
    };
    key.to_string()
}

#[test]
fn a_key_prints_what_distinguishes_it() {
    let everything = Selectors::everything;
    assert_eq!(key::<Pod>(Scope::All, everything()), "pods.v1.");
    assert_eq!(
        key::<Compact<Pod>>(Scope::All, everything()),
        "pods.v1., compact"
    );
    assert_eq!(
        key::<DynamicObject>(Scope::Namespace("a".into()), everything()),
        "pods.v1. as dynamic objects in namespace \"a\""
    );
    assert_eq!(
        key::<PartialObjectMeta<DynamicObject>>(Scope::All, selectors("b=1,a in (z,y)", "x=1")),
        "pods.v1. as metadata with labels \"a in (y,z),b=1\" with fields \"x=1\""
    );
}

#[tokio::test]
async fn options_hold_for_all_until_a_resource_has_its_own() {
    let mut options = Options::new(mapper());
    let [pods, nodes] = ["pods", "nodes"].map(|name| GroupResource::new("", name));
    options.set_selectors(None, selectors("app=web", ""));
    options.set_selectors(Some(pods.clone()), selectors("", "spec.nodeName=n"));
    assert_eq!(options.selectors(&pods), selectors("", "spec.nodeName=n"));
    assert_eq!(options.selectors(&nodes), selectors("app=web", ""));

    options.set_resync_period(None, Duration::from_mins(1));
    options.set_resync_period(Some(pods.clone()), Duration::ZERO);
    assert_eq!(options.resync_period(&pods), None);
    assert_eq!(options.resync_period(&nodes), Some(Duration::from_mins(1)));
}

#[tokio::test]
async fn periods_and_encodings_of_one_resource_are_set_beside_those_of_all() {
    let [pods, nodes] = ["pods", "nodes"].map(|name| GroupResource::new("", name));
    let client = fakeserver::FakeServer::builder().build().client();
    let factory = SharedInformerFactory::new(client)
        .with_resync_period(Duration::from_mins(1))
        .with_resync_period_for(pods.clone(), Duration::from_mins(2))
        .with_encoding(Encoding::Json)
        .with_encoding_for(pods.clone(), Encoding::Cbor);
    let of = |resource| {
        let options = &factory.options;
        (options.resync_period(resource), options.encoding(resource))
    };
    assert_eq!(of(&pods), (Some(Duration::from_mins(2)), Encoding::Cbor));
    assert_eq!(of(&nodes), (Some(Duration::from_mins(1)), Encoding::Json));
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
