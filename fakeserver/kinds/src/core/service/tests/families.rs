//! Families of services: what a service asks for, and what it gets in clusters of one family and of both.

use serde_json::{Value, json};

use super::super::{
    allocator::{Allocator, Problem},
    families::complete_families,
    range::ServiceRange,
};

const V4: &str = "10.0.0.0/16";
const V6: &str = "fd00::/112";
const V4_V6: &str = "10.0.0.0/16,fd00::/112";
const V6_V4: &str = "fd00::/112,10.0.0.0/16";
const CLUSTERS: [&str; 4] = [V4, V6, V4_V6, V6_V4];

const REQUIRE_FAILS: &str = "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured for \
                             dual-stack services";
const NO_V4: &str = "spec.ipFamilies[0]: Invalid value: \"IPv4\": not configured on this cluster";
const NO_V6: &str = "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster";
const NO_V4_SECOND: &str =
    "spec.ipFamilies[1]: Invalid value: \"IPv4\": not configured on this cluster";
const NO_V6_SECOND: &str =
    "spec.ipFamilies[1]: Invalid value: \"IPv6\": not configured on this cluster";
const SINGLE_FAMILIES: &str = "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or \
                               'PreferDualStack' when multiple IP families are specified";
const SINGLE_ADDRESSES: &str = "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or \
                                'PreferDualStack' when multiple cluster IPs are specified";

/// Reads `policy families addresses`, each `-` if it is left out, and lists with commas.
fn spec(text: &str) -> Value {
    let words: Vec<&str> = text.split_whitespace().collect();
    let list = |word: &str| -> Value {
        match word {
            "-" => Value::Null,
            word => word.split(',').collect(),
        }
    };
    let mut spec = json!({"type": "ClusterIP", "selector": {"a": "b"}});
    let policies = [
        ("single", "SingleStack"),
        ("prefer", "PreferDualStack"),
        ("require", "RequireDualStack"),
    ];
    if let Some((_, policy)) = policies.iter().find(|(short, _)| *short == words[0]) {
        spec["ipFamilyPolicy"] = json!(policy);
    }
    let families = words[1].replace('4', "IPv4").replace('6', "IPv6");
    for (field, value) in [
        ("ipFamilies", list(&families)),
        ("clusterIPs", list(words[2])),
    ] {
        if !value.is_null() {
            spec[field] = value;
        }
    }
    if let Some(first) = spec["clusterIPs"].get(0).cloned() {
        spec["clusterIP"] = first;
    }
    spec
}

/// Prints a specification as [`spec`] reads it.
fn printed(spec: &Value) -> String {
    let policy = match spec["ipFamilyPolicy"].as_str() {
        None => "-",
        Some("SingleStack") => "single",
        Some("PreferDualStack") => "prefer",
        Some(_) => "require",
    };
    let list = |field: &str| {
        let items = spec[field].as_array().into_iter().flatten();
        let items: Vec<&str> = items.filter_map(Value::as_str).collect();
        match items.join(",").replace("IPv", "") {
            none if none.is_empty() => "-".to_owned(),
            some => some,
        }
    };
    format!("{policy} {} {}", list("ipFamilies"), list("clusterIPs"))
}

/// Completes a service in a cluster, and allocates what it lacks; the others have `10.0.0.7` and `fd00::7`.
fn completed(cluster: &str, old: Option<&Value>, spec: &Value) -> Result<Value, String> {
    let cluster: ServiceRange = cluster.parse().unwrap();
    let mut service = json!({"spec": spec});
    let old = old.map(|old| json!({"spec": old}));
    let errors = complete_families(old.as_ref(), &mut service, cluster);
    if !errors.is_empty() {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        return Err(errors.join("; "));
    }
    if Allocator::concerns(old.as_ref(), &service) {
        let others = [json!({"spec": {"clusterIPs": ["10.0.0.7", "fd00::7"]}})];
        let allocator = Allocator::new(cluster, std::iter::empty(), others.into_iter(), 0, true);
        let filled = allocator.fill(old.as_ref(), &mut service);
        filled.map_err(|problem| match problem {
            Problem::Refused(error) => error.to_string(),
            Problem::Full(what) => what.to_owned(),
        })?;
    }
    Ok(service["spec"].take())
}

#[track_caller]
fn check_create(asked: &str, expected: [&str; 4]) {
    for (cluster, expected) in CLUSTERS.into_iter().zip(expected) {
        let found = completed(cluster, None, &spec(asked));
        let found = found.map_or_else(|why| why, |spec| printed(&spec));
        assert_eq!(found, expected, "{asked} in {cluster}");
    }
}

/// The first addresses of the ranges that are allocated.
const A4: &str = "10.0.1.1";
const A6: &str = "fd00::100";

#[test]
fn new_services_get_the_families_of_their_policies() {
    let [s4, s6] = [format!("single 4 {A4}"), format!("single 6 {A6}")];
    let [p4, p6] = [format!("prefer 4 {A4}"), format!("prefer 6 {A6}")];
    let [p46, p64] = [
        format!("prefer 4,6 {A4},{A6}"),
        format!("prefer 6,4 {A6},{A4}"),
    ];
    let [r46, r64] = [
        format!("require 4,6 {A4},{A6}"),
        format!("require 6,4 {A6},{A4}"),
    ];
    let fails = REQUIRE_FAILS;
    let fails_4 = format!("{fails}; {NO_V4}");
    let fails_6 = format!("{fails}; {NO_V6}");
    let fails_4_second = format!("{fails}; {NO_V4_SECOND}");
    let fails_6_second = format!("{fails}; {NO_V6_SECOND}");
    for (asked, expected) in [
        ("- - -", [&*s4, &s6, &s4, &s6]),
        ("- 4 -", [&s4, NO_V4, &s4, &s4]),
        ("- 6 -", [NO_V6, &s6, &s6, &s6]),
        ("- 4,6 -", [SINGLE_FAMILIES; 4]),
        ("single - -", [&s4, &s6, &s4, &s6]),
        ("single 4 -", [&s4, NO_V4, &s4, &s4]),
        ("single 6 -", [NO_V6, &s6, &s6, &s6]),
        ("single 6,4 -", [SINGLE_FAMILIES; 4]),
        ("prefer - -", [&p4, &p6, &p46, &p64]),
        ("prefer 4 -", [&p4, NO_V4, &p46, &p46]),
        ("prefer 6 -", [NO_V6, &p6, &p64, &p64]),
        ("prefer 4,6 -", [NO_V6_SECOND, NO_V4, &p46, &p46]),
        ("prefer 6,4 -", [NO_V6, NO_V4_SECOND, &p64, &p64]),
        ("require - -", [fails, fails, &r46, &r64]),
        ("require 4 -", [fails, &fails_4, &r46, &r46]),
        ("require 6 -", [&fails_6, fails, &r64, &r64]),
        ("require 4,6 -", [&fails_6_second, &fails_4, &r46, &r46]),
        ("require 6,4 -", [&fails_6, &fails_4_second, &r64, &r64]),
    ] {
        check_create(asked, expected);
    }
}

#[test]
fn requested_addresses_say_the_families() {
    let no_4 =
        "spec.clusterIPs[0]: Invalid value: [\"10.0.0.5\"]: IPv4 is not configured on this cluster";
    let no_6 =
        "spec.clusterIPs[0]: Invalid value: [\"fd00::5\"]: IPv6 is not configured on this cluster";
    let both = |place: u8, family: &str| {
        format!(
            "spec.clusterIPs[{place}]: Invalid value: [\"10.0.0.5\",\"fd00::5\"]: {family} is not configured on this cluster"
        )
    };
    let [no_6_second, no_4_first] = [both(1, "IPv6"), both(0, "IPv4")];
    let s4 = "single 4 10.0.0.5";
    let s6 = "single 6 fd00::5";
    let p4 = "prefer 4 10.0.0.5";
    let p46 = format!("prefer 4,6 10.0.0.5,{A6}");
    let p64 = format!("prefer 6,4 fd00::5,{A4}");
    let r46 = "require 4,6 10.0.0.5,fd00::5";
    let single = SINGLE_ADDRESSES;
    let single_both = format!("{SINGLE_ADDRESSES}; {SINGLE_FAMILIES}");
    let [single_no_6, single_no_4] =
        [&no_6_second, &no_4_first].map(|other| format!("{single}; {other}"));
    let wrong = "spec.clusterIPs[0]: Invalid value: \"10.0.0.5\": expected an IPv6 value as indicated by `ipFamilies[0]`";
    let taken = "spec.clusterIPs: Invalid value: [\"10.0.0.7\",\"fd00::5\"]: failed to allocate IP 10.0.0.7: provided IP is \
                 already allocated";
    let outside = "spec.clusterIPs: Invalid value: [\"10.0.0.5\",\"fd01::5\"]: failed to allocate IP fd01::5: the provided \
                   network does not match the current range";
    let zero = "spec.clusterIPs: Invalid value: [\"fd00::\"]: failed to allocate IP fd00::: the provided IP (fd00::) is not \
                in the valid range. The range of valid IPs is fd00::/112";
    let no_zero =
        "spec.clusterIPs[0]: Invalid value: [\"fd00::\"]: IPv6 is not configured on this cluster";
    let outside_no_6 = outside.replace("spec.clusterIPs:", "spec.clusterIPs[1]:");
    let outside_no_6 = outside_no_6.split("failed").next().unwrap().to_owned()
        + "IPv6 is not configured on this cluster";
    let taken_no = |place: u8, family: &str| {
        format!(
            "spec.clusterIPs[{place}]: Invalid value: [\"10.0.0.7\",\"fd00::5\"]: {family} is not configured on this cluster"
        )
    };
    let [taken_no_6, taken_no_4] = [taken_no(1, "IPv6"), taken_no(0, "IPv4")];
    let outside_no_4 = outside_no_6
        .replace("clusterIPs[1]", "clusterIPs[0]")
        .replace("IPv6 is", "IPv4 is");
    for (asked, expected) in [
        ("- - 10.0.0.5", [s4, no_4, s4, s4]),
        ("- - fd00::5", [no_6, s6, s6, s6]),
        ("- 4 10.0.0.5", [s4, NO_V4, s4, s4]),
        ("- 6 10.0.0.5", [wrong; 4]),
        ("prefer - 10.0.0.5", [p4, no_4, &p46, &p46]),
        ("prefer 6 fd00::5", [NO_V6, "prefer 6 fd00::5", &p64, &p64]),
        (
            "require - 10.0.0.5,fd00::5",
            [&no_6_second, &no_4_first, r46, r46],
        ),
        (
            "- - 10.0.0.5,fd00::5",
            [&single_no_6, &single_no_4, single, single],
        ),
        ("single 4,6 10.0.0.5,fd00::5", [&single_both; 4]),
        (
            "require - 10.0.0.7,fd00::5",
            [&taken_no_6, &taken_no_4, taken, taken],
        ),
        (
            "require - 10.0.0.5,fd01::5",
            [&outside_no_6, &outside_no_4, outside, outside],
        ),
        ("- - fd00::", [no_zero, zero, zero, zero]),
    ] {
        check_create(asked, expected);
    }
}

#[test]
fn headless_services_need_the_families_of_a_cluster_only_for_pods() {
    for (asked, expected) in [
        (
            "- - None",
            [
                "single 4 None",
                "single 6 None",
                "single 4 None",
                "single 6 None",
            ],
        ),
        (
            "prefer - None",
            [
                "prefer 4 None",
                "prefer 6 None",
                "prefer 4,6 None",
                "prefer 6,4 None",
            ],
        ),
        (
            "require - None",
            [
                REQUIRE_FAILS,
                REQUIRE_FAILS,
                "require 4,6 None",
                "require 6,4 None",
            ],
        ),
    ] {
        check_create(asked, expected);
    }
    for (asked, expected) in [
        (
            "- - None",
            [
                "require 4,6 None",
                "require 6,4 None",
                "require 4,6 None",
                "require 6,4 None",
            ],
        ),
        ("- 6 None", ["require 6,4 None"; 4]),
        ("single 6 None", ["single 6 None"; 4]),
        ("prefer 4 None", ["prefer 4,6 None"; 4]),
        ("single 4,6 None", [SINGLE_FAMILIES; 4]),
        ("require 6,4 None", ["require 6,4 None"; 4]),
    ] {
        for (cluster, expected) in CLUSTERS.into_iter().zip(expected) {
            let mut asked_spec = spec(asked);
            asked_spec["selector"] = Value::Null;
            let found = completed(cluster, None, &asked_spec);
            let found = found.map_or_else(|why| why, |spec| printed(&spec));
            assert_eq!(found, expected, "{asked} without pods in {cluster}");
        }
    }
}

#[test]
fn services_without_addresses_have_no_families() {
    for cluster in CLUSTERS {
        let external = json!({"type": "ExternalName", "externalName": "a.example"});
        assert_eq!(completed(cluster, None, &external), Ok(external));
    }
}

#[test]
fn updates_add_and_release_the_second_family() {
    let released = |what: &str, policy: &str| {
        format!(
            "spec.ipFamilyPolicy: Invalid value: \"{policy}\": must be 'SingleStack' to release the secondary {what}"
        )
    };
    let address_stays = released("cluster IP", "RequireDualStack");
    let family_stays = released("IP family", "PreferDualStack");
    let upgraded = format!("require 4,6 10.0.0.5,{A6}");
    let preferred = format!("prefer 4,6 10.0.0.5,{A6}");
    let backwards = format!("require 6,4 fd00::5,{A4}");
    for (old, new, expected) in [
        // Upgrades.
        ("single 4 10.0.0.5", "require 4 10.0.0.5", &*upgraded),
        ("single 4 10.0.0.5", "prefer 4 10.0.0.5", &preferred),
        ("single 4 10.0.0.5", "prefer - 10.0.0.5", &preferred),
        ("single 6 fd00::5", "require 6 fd00::5", &backwards),
        ("single 4 10.0.0.5", "require 4,6 10.0.0.5", &upgraded),
        (
            "single 4 10.0.0.5",
            "require 4,6 10.0.0.5,fd00::9",
            "require 4,6 10.0.0.5,fd00::9",
        ),
        (
            "single 4 10.0.0.5",
            "require 4,6 10.0.0.5,fd00::7",
            "spec.clusterIPs: Invalid value: [\"10.0.0.5\",\"fd00::7\"]: failed to allocate IP fd00::7: provided IP is \
             already allocated",
        ),
        ("single 4 10.0.0.5", "- 4,6 10.0.0.5", SINGLE_FAMILIES),
        // A service follows its policy, not the cluster.
        (
            "prefer 4 10.0.0.5",
            "prefer 4 10.0.0.5",
            "prefer 4 10.0.0.5",
        ),
        ("prefer 4 10.0.0.5", "require 4 10.0.0.5", &upgraded),
        // Downgrades.
        (
            "require 4,6 10.0.0.5,fd00::5",
            "single 4,6 10.0.0.5,fd00::5",
            "single 4 10.0.0.5",
        ),
        (
            "prefer 6,4 fd00::5,10.0.0.5",
            "single 6 fd00::5",
            "single 6 fd00::5",
        ),
        (
            "require 4,6 10.0.0.5,fd00::5",
            "single 4,6 10.0.0.5",
            "single 4 10.0.0.5",
        ),
        (
            "require 4,6 10.0.0.5,fd00::5",
            "- 4,6 10.0.0.5",
            &address_stays,
        ),
        (
            "prefer 4,6 10.0.0.5,fd00::5",
            "- 4 10.0.0.5,fd00::5",
            &family_stays,
        ),
        (
            "require 4,6 10.0.0.5,fd00::5",
            "prefer 4,6 10.0.0.5,fd00::5",
            "prefer 4,6 10.0.0.5,fd00::5",
        ),
        ("prefer 4,6 None", "single 4,6 None", "single 4 None"),
    ] {
        let old = spec(old);
        let found = completed(V4_V6, Some(&old), &spec(new));
        let found = found.map_or_else(|why| why, |spec| printed(&spec));
        assert_eq!(found, expected, "{} to {new}", printed(&old));
    }
}

#[test]
fn a_changed_type_gets_or_gives_back_addresses() {
    let external = json!({"type": "ExternalName", "externalName": "a.example"});
    for (asked, expected) in [
        ("- - -", format!("single 4 {A4}")),
        ("require - -", format!("require 4,6 {A4},{A6}")),
    ] {
        let found = completed(V4_V6, Some(&external), &spec(asked)).unwrap();
        assert_eq!(printed(&found), expected);
    }
    let old = spec("require 4,6 10.0.0.5,fd00::5");
    assert_eq!(completed(V4_V6, Some(&old), &external), Ok(external));
}

#[test]
fn a_range_of_one_family_can_be_full() {
    let full = (1..=255).map(|number| format!("fd00::{number:x}"));
    let others = [json!({"spec": {"clusterIPs": full.collect::<Vec<_>>()}})];
    let cluster = "10.0.0.0/16,fd00::/120".parse().unwrap();
    let allocator = Allocator::new(cluster, std::iter::empty(), others.into_iter(), 0, true);
    let mut service = json!({"spec": spec("require 4,6 -")});
    let filled = allocator.fill(None, &mut service);
    assert!(matches!(filled, Err(Problem::Full("a serviceIP"))));
}
