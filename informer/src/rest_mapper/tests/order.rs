//! Which of several comes first: groups, versions and preferences.

use crate::{
    discovery::{ServerGroup, ServerResources},
    rest_mapper::{Preference, RestTable},
};

use super::{group, group_of, resolve, table};

#[test]
fn core_v1_comes_first_then_groups_as_listed_then_versions_by_preference() {
    let foos = [("foos", "Foo")];
    let in_b = group("b.io", &["v1", "v2"], &foos).with_preferred_version("v2");
    let in_a = group("a.io", &["v3", "v4"], &foos);
    let core = group("", &["v0", "v1"], &foos).with_preferred_version("v0");
    let with = |groups: Vec<ServerGroup>| resolve(&table(groups), "foos");
    assert_eq!(with(vec![in_b.clone(), in_a.clone(), core]), "foos.v1.");
    assert_eq!(with(vec![in_b.clone(), in_a.clone()]), "foos.v2.b.io");
    assert_eq!(with(vec![in_a, in_b]), "foos.v3.a.io");
}

#[test]
fn a_resource_of_a_version_that_is_not_preferred_is_found() {
    let table = table([group_of(
        "a.io",
        &[
            ("v2", Some(&[("foos", "Foo")])),
            ("v1", Some(&[("foos", "Foo"), ("relics", "Relic")])),
        ],
    )
    .with_preferred_version("v2")]);
    assert_eq!(resolve(&table, "relics"), "relics.v1.a.io");
    assert_eq!(resolve(&table, "foos"), "foos.v2.a.io");
    assert_eq!(resolve(&table, "foos.v1.a.io"), "foos.v1.a.io");
}

fn check(preferences: &[Preference], expected: &str) {
    let both = [("foos", "Foo"), ("bars", "Bar")];
    let groups = [
        group("a.io", &["v2", "v1"], &both),
        group("b.io", &["v2", "v1"], &both),
        group("c.io", &["v3"], &both),
    ];
    let table = RestTable::with_preferences(ServerResources::new(groups), preferences);
    assert_eq!(resolve(&table, "foos"), expected, "{preferences:?}");
}

#[test]
fn preferences_narrow_one_after_the_other() {
    check(&[], "foos.v2.a.io");
    check(&[Preference::group("b.io")], "foos.v2.b.io");
    check(
        &[Preference::group("b.io").with_version("v1")],
        "foos.v1.b.io",
    );
    // One that nothing fits is skipped.
    check(
        &[Preference::group("x.io"), Preference::group("c.io")],
        "foos.v3.c.io",
    );
    // One that several fit leaves those to the next.
    let any_v1 = || Preference::resource("foos").with_version("v1");
    check(&[any_v1()], "foos.v1.a.io");
    check(&[any_v1(), Preference::group("b.io")], "foos.v1.b.io");
    check(&[any_v1(), Preference::group("c.io")], "foos.v1.a.io");
    // The group first, then the version.
    check(&[Preference::group("b.io"), any_v1()], "foos.v1.b.io");
    // One for another resource does not count.
    check(
        &[Preference::resource("bars").with_version("v1")],
        "foos.v2.a.io",
    );
    check(
        &[Preference::group("b.io").with_resource("bars")],
        "foos.v2.a.io",
    );
}

#[test]
fn a_preference_settles_what_is_ambiguous() {
    let resources = || {
        ServerResources::from_resources([
            super::resource("a.io", "v1", "news", "News"),
            super::resource("a.io", "v1", "newses", "Newses").with_singular_name("news"),
        ])
    };
    assert!(super::error_of(&RestTable::new(resources()), "news").is_ambiguous());
    let preferences = [Preference::resource("newses")];
    let table = RestTable::with_preferences(resources(), &preferences);
    assert_eq!(resolve(&table, "news"), "newses.v1.a.io");
}

#[test]
fn a_group_that_failed_is_warned_of_only_if_it_would_come_first() {
    let foos = [("foos", "Foo")];
    let failed = || group_of("failed.io", &[("v1", None)]);
    let with = |groups: [ServerGroup; 2], preferences: &[Preference]| {
        let table = RestTable::with_preferences(ServerResources::new(groups), preferences);
        resolve(&table, "foos")
    };
    let warning = " (another resource may come first: failed.io/v1: the server's own knowledge of \
                   it is stale)";
    let found = "foos.v1.a.io";
    let in_a = || group("a.io", &["v1"], &foos);
    assert_eq!(with([in_a(), failed()], &[]), found);
    assert_eq!(with([failed(), in_a()], &[]), format!("{found}{warning}"));
    let preferences = [Preference::group("failed.io")];
    assert_eq!(
        with([in_a(), failed()], &preferences),
        format!("{found}{warning}")
    );
    let preferences = [Preference::group("a.io")];
    assert_eq!(with([failed(), in_a()], &preferences), found);
}
