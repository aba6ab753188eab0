//! Names are printed as people type them, and read back.

use std::{fmt::Display, str::FromStr};

use kube::core::gvk;
use proptest::prelude::*;

use crate::discovery::{
    GroupKind, GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource,
};

fn check_round_trip<T>(name: &T, text: &str)
where
    T: Display + FromStr<Err: std::fmt::Debug> + PartialEq + std::fmt::Debug,
{
    assert_eq!(name.to_string(), text);
    assert_eq!(&text.parse::<T>().unwrap(), name);
}

#[test]
fn names_of_the_core_group_and_of_others_are_printed_and_read_back() {
    check_round_trip(&GroupVersion::new("apps", "v1"), "apps/v1");
    check_round_trip(&GroupVersion::new("", "v1"), "v1");
    check_round_trip(
        &GroupVersionKind::new("apps", "v1", "Deployment"),
        "Deployment.v1.apps",
    );
    check_round_trip(&GroupVersionKind::new("", "v1", "Pod"), "Pod.v1.");
    check_round_trip(
        &GroupVersionResource::new("a.b.io", "v1", "foos"),
        "foos.v1.a.b.io",
    );
    check_round_trip(&GroupKind::new("apps", "Deployment"), "Deployment.apps");
    check_round_trip(&GroupKind::new("", "Pod"), "Pod");
    check_round_trip(&GroupResource::new("a.b.io", "foos"), "foos.a.b.io");
}

#[test]
fn an_invalid_resource_name_is_refused() {
    for text in ["", "/", "/v1", "a/b/c", "apps/"] {
        assert!(text.parse::<GroupVersion>().is_err(), "{text:?}");
    }
    for text in [
        "",
        "pods",
        "pods.v1",
        "pods..apps",
        ".v1.apps",
        "pods/status.v1.",
    ] {
        let error = text.parse::<GroupVersionResource>().unwrap_err();
        assert!(
            error.to_string().contains("resource.version.group"),
            "{error}"
        );
        assert!(text.parse::<GroupVersionKind>().is_err(), "{text:?}");
    }
    for text in ["", ".apps", "pods/status"] {
        assert!(text.parse::<GroupResource>().is_err(), "{text:?}");
        assert!(text.parse::<GroupKind>().is_err(), "{text:?}");
    }
}

#[test]
fn paths_are_those_of_the_server() {
    assert_eq!(GroupVersion::new("", "v1").path(), "/api/v1");
    assert_eq!(GroupVersion::new("apps", "v1").path(), "/apis/apps/v1");
}

#[test]
fn kubes_names_convert_and_back() {
    let kind = GroupVersionKind::of::<k8s_openapi::api::apps::v1::Deployment>(&());
    assert_eq!(kind.to_string(), "Deployment.v1.apps");
    let theirs = gvk::GroupVersionKind::from(kind.clone());
    assert_eq!(GroupVersionKind::from(theirs), kind);
    let resource = GroupVersionResource::of::<k8s_openapi::api::core::v1::Pod>(&());
    let theirs = gvk::GroupVersionResource::from(resource.clone());
    assert_eq!(GroupVersionResource::from(theirs), resource);
    let version = kind.group_version();
    let theirs = gvk::GroupVersion::from(version.clone());
    assert_eq!(theirs.api_version(), version.to_string());
    assert_eq!(GroupVersion::from(theirs), version);
}

proptest! {
    #[test]
    fn every_name_round_trips(
        name in "[A-Za-z][a-z0-9-]{0,8}",
        version in "v[0-9]{1,2}((alpha|beta)[0-9])?",
        group in "([a-z]{1,4}(\\.[a-z]{1,4}){0,3})?",
    ) {
        let resource = GroupVersionResource::new(&*group, &*version, &*name);
        prop_assert_eq!(resource.to_string().parse(), Ok(resource));
        let kind = GroupVersionKind::new(&*group, &*version, &*name);
        prop_assert_eq!(kind.to_string().parse(), Ok(kind));
        let resource = GroupResource::new(&*group, &*name);
        prop_assert_eq!(resource.to_string().parse(), Ok(resource));
        let kind = GroupKind::new(&*group, &*name);
        prop_assert_eq!(kind.to_string().parse(), Ok(kind));
        let both = GroupVersion::new(&*group, &*version);
        prop_assert_eq!(both.to_string().parse(), Ok(both));
    }
}
