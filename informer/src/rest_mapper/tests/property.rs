//! Tables made at random.

use std::collections::BTreeMap;

use kube::core::discovery::Scope;
use proptest::prelude::*;

use crate::{
    discovery::{
        GroupVersionKind, GroupVersionResource, ServerGroup, ServerResource, ServerResources,
        ServerVersion,
    },
    rest_mapper::{PartialResource, ResourceArg, RestTable},
};

/// Few names, so that they meet: one group begins another, one plural is another's singular.
const GROUPS: [&str; 5] = ["", "a", "a.io", "ab.io", "v1.a.io"];
const VERSIONS: [&str; 3] = ["v1", "v2", "v1beta1"];
const PLURALS: [&str; 4] = ["foos", "foo", "bars", "po"];

/// A server with any groups in any order, any versions and resources; some versions failed.
fn servers() -> impl Strategy<Value = ServerResources> {
    let resource = (0..PLURALS.len(), any::<bool>(), any::<bool>());
    let resources = prop::collection::vec(resource, 0..4);
    let versions = prop::collection::vec((0..VERSIONS.len(), resources, 0..8), 1..4);
    let drawn = prop::collection::vec((0..GROUPS.len(), versions, 0..VERSIONS.len()), 1..5);
    drawn.prop_map(|drawn| {
        let mut groups: Vec<ServerGroup> = Vec::new();
        for (group, versions, preferred) in drawn {
            let group = GROUPS[group];
            if groups.iter().any(|known| known.name == group) {
                continue;
            }
            let versions: BTreeMap<_, _> =
                versions.into_iter().map(|(v, r, f)| (v, (r, f))).collect();
            let versions = versions.into_iter().map(|(version, (resources, fate))| {
                let version = VERSIONS[version];
                if fate == 0 {
                    let stale = crate::discovery::DiscoveryError::Stale;
                    return ServerVersion::failed(version, stale);
                }
                let resources: BTreeMap<_, _> =
                    resources.into_iter().map(|(p, s, n)| (p, (s, n))).collect();
                let resources = resources.into_iter();
                let resources = resources.map(|(plural, (has_singular, is_short))| {
                    let plural = PLURALS[plural];
                    let kind = GroupVersionKind::new(group, version, format!("Kind{plural}"));
                    let resource = ServerResource::new(kind, plural, Scope::Namespaced);
                    let singular = plural.trim_end_matches('s');
                    let resource =
                        resource.with_singular_name(if has_singular { singular } else { "" });
                    resource.with_short_names(if is_short { &["po", "f"] } else { &[] })
                });
                ServerVersion::served(version, resources.collect())
            });
            let group = ServerGroup::new(group, versions);
            groups.push(group.with_preferred_version(VERSIONS[preferred]));
        }
        ServerResources::new(groups)
    })
}

/// The model: everything that has `name` as plural or singular name, found by looking at each.
fn named<'a>(server: &'a ServerResources, name: &str) -> Vec<&'a ServerResource> {
    let has_name = |resource: &&ServerResource| {
        let singular = match &*resource.singular_name {
            "" => resource.kind.kind.to_lowercase(),
            singular => singular.to_owned(),
        };
        resource.resource.resource == name || singular == name
    };
    server.resources().filter(has_name).collect()
}

proptest! {
    #[test]
    fn the_whole_name_of_a_resource_finds_exactly_that(server in servers()) {
        let table = RestTable::new(server.clone());
        for resource in server.resources() {
            let gvr = &resource.resource;
            let arg: ResourceArg = gvr.to_string().parse().unwrap();
            let rivals = named(&server, &gvr.resource);
            let is_rival = |it: &&&ServerResource| {
                it.resource.group_version() == gvr.group_version() && it.resource != *gvr
            };
            match table.resolve(&arg) {
                Ok(resolved) => {
                    prop_assert_eq!(&resolved.mapping.resource, gvr);
                    prop_assert!(resolved.warnings.is_empty());
                }
                // Only where the same version has another resource of that singular name.
                Err(error) => {
                    prop_assert!(error.is_ambiguous(), "{}", error);
                    prop_assert!(rivals.iter().any(|it| is_rival(&it)));
                }
            }
            let mapping = table.rest_mapping(&resource.kind.group_kind(), &[&*gvr.version]);
            prop_assert_eq!(&mapping.unwrap().mapping.resource, gvr);
        }
    }

    #[test]
    fn a_bare_name_finds_one_that_has_it_and_that_nothing_precedes(server in servers()) {
        let table = RestTable::new(server.clone());
        let place = |resource: &GroupVersionResource| {
            let GroupVersionResource { group, version, .. } = resource;
            let groups: Vec<_> = server.groups().collect();
            let group_place = groups.iter().position(|it| it.name == *group).unwrap();
            let known = groups[group_place];
            let version_place = known.versions.iter().position(|it| it.version == *version);
            let is_core = group.is_empty() && version == "v1";
            let is_preferred = known.preferred_version.as_ref() == Some(version);
            (!is_core, group_place, !is_preferred, version_place)
        };
        for name in PLURALS {
            let arg: ResourceArg = name.parse().unwrap();
            let expected = named(&server, name);
            let first = expected.iter().map(|it| place(&it.resource)).min();
            match table.resolve(&arg) {
                Ok(resolved) if first.is_some() => {
                    prop_assert_eq!(Some(place(&resolved.mapping.resource)), first);
                    let found = &resolved.mapping.resource;
                    prop_assert!(expected.iter().any(|it| it.resource == *found));
                    let all = table.resources_for(&arg).unwrap();
                    prop_assert_eq!(all.len(), expected.len());
                    prop_assert!(all.is_sorted_by_key(|it| place(&it.resource)));
                }
                Ok(_) => prop_assert_eq!(name, "po", "only a short name"),
                Err(error) if error.is_ambiguous() => {
                    let ties = expected.iter().filter(|it| Some(place(&it.resource)) == first);
                    prop_assert!(ties.count() > 1);
                }
                Err(error) => {
                    prop_assert!(expected.is_empty());
                    // Known to be missing exactly if everything is known.
                    prop_assert_eq!(error.is_no_match(), server.is_complete(), "{}", error);
                }
            }
        }
    }

    #[test]
    fn a_partial_name_is_printed_as_it_is_read(
        name in "[a-z]{1,6}",
        version in prop::option::of("v[1-9](beta[1-9])?"),
        group in prop::option::of("[a-z]{1,4}(\\.[a-z]{1,4}){0,2}"),
    ) {
        let mut resource = PartialResource::new(name);
        resource.version = version;
        // A version is written only with a group, which may be the core group.
        resource.group = group.or_else(|| resource.version.as_ref().map(|_| String::new()));
        let arg: ResourceArg = resource.to_string().parse().unwrap();
        prop_assert!(arg.readings().contains(&resource), "{:?}", arg);
    }
}
