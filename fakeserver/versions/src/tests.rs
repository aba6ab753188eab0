use super::*;

#[test]
fn versions_are_named_as_users_name_them() {
    for text in ["1.35", "1.35.6", "1.35.x", "1.35.*", "v1.35", "v1.35.6"] {
        let version: KubernetesVersion = text.parse().unwrap();
        assert_eq!(version.release(), "1.35.6", "{text}");
    }
    let latest: Vec<KubernetesVersion> = KubernetesVersion::all().rev().collect();
    assert_eq!("latest".parse(), Ok(latest[0]));
    assert_eq!("latest-1".parse(), Ok(latest[1]));
    assert_eq!("latest-6".parse(), Ok(latest[6]));
    assert_eq!(KubernetesVersion::default().to_string(), "1.36.2");
    assert_eq!(KubernetesVersion::default().git_version(), "v1.36.2");
    assert_eq!(KubernetesVersion::default().parts(), ("1", "36"));
}

#[test]
fn an_unknown_version_is_an_error_that_lists_the_others() {
    for text in [
        "",
        "v",
        "1",
        "1.",
        "1.3",
        "1.30",
        "1.35.",
        "1.35.5",
        "1.355",
        "1.36.2.1",
        "2.36",
        "vv1.36",
        "latest-",
        "latest-99",
        "latest-x",
        "latest1",
        "Latest",
        " 1.36",
        "1.36 ",
    ] {
        let error = text.parse::<KubernetesVersion>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("no version {text:?} of Kubernetes; there are ")));
        for version in KubernetesVersion::all() {
            assert!(error.contains(version.release()), "{error}");
        }
    }
}

fn releases(selector: &VersionSelector) -> String {
    let versions = KubernetesVersion::all().filter(|version| selector.selects((*version).into()));
    let releases: Vec<&str> = versions.map(KubernetesVersion::release).collect();
    releases.join(" ")
}

/// Returns the releases that an expression selects, with spaces between them.
fn selected(expression: &str) -> String {
    releases(&expression.parse().unwrap())
}

#[test]
fn a_selector_selects_releases_as_setup_envtest_does() {
    for (expression, expected) in [
        ("1.34", "1.34.9"),
        ("1.34.x", "1.34.9"),
        ("1.34.*!", "1.34.9"),
        ("v1.34.9", "1.34.9"),
        ("1.34.8", ""),
        ("~1.34", "1.34.9"),
        ("~1.34.9", "1.34.9"),
        ("~1.34.10", ""),
        ("<1.33", "1.31.14 1.32.13"),
        ("<=1.33", "1.31.14 1.32.13 1.33.13"),
        ("<1.32.13", "1.31.14"),
        ("<=1.32.13", "1.31.14 1.32.13"),
        ("<2.0", &selected("latest")),
        ("1.30", ""),
        ("0.0.0", ""),
        (
            "latest-1!",
            KubernetesVersion::all().nth_back(1).unwrap().release(),
        ),
    ] {
        assert_eq!(selected(expression), expected, "{expression}");
    }
    assert_eq!(
        selected("latest").split(' ').count(),
        KubernetesVersion::all().count()
    );
}

#[test]
fn only_one_release_by_number_has_others_of_its_minor_version() {
    let of_minor = |expression: &str| {
        let selector: VersionSelector = expression.parse().unwrap();
        selector.of_minor().as_ref().map(releases)
    };
    assert_eq!(of_minor("1.34.1").as_deref(), Some("1.34.9"));
    assert_eq!(of_minor("1.30.1").as_deref(), Some(""));
    for expression in ["latest", "latest-1", "1.34.x", "~1.34.1", "<=1.34.1"] {
        assert_eq!(of_minor(expression), None, "{expression}");
    }
}

#[test]
fn an_expression_out_of_the_grammar_is_an_error_with_the_grammar() {
    for text in [
        "",
        "!",
        "1",
        "1.",
        "1.x",
        "1.34.",
        "1.34.01",
        "01.34",
        "1.34.9.1",
        "1.34.x.1",
        "+1.34",
        "1.+34",
        "~",
        "~~1.34",
        "=1.34",
        ">1.34",
        ">=1.34",
        "<v1.34",
        "1.34!!",
        "1.34 ",
        "latest-99",
        "latest-x",
        "newest",
        "1.4294967296",
        "1.34.99999999999999999999",
    ] {
        let error = text.parse::<VersionSelector>().unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{text:?} is no version; write `latest`")),
            "{error}"
        );
    }
    for text in ["1.34", "1.34.x", "v1.34.9", "1.34.9-rc.1"] {
        assert_eq!(ReleaseNumber::parse(text), None, "{text}");
    }
    let number = ReleaseNumber::parse("1.34.9").unwrap();
    assert_eq!(number.to_string(), "1.34.9");
    assert!(number < ReleaseNumber::parse("1.34.10").unwrap());
}

#[test]
fn a_range_has_its_ends_and_what_is_between_them() {
    let names = |text: &str| {
        let range: VersionRange = text.parse().unwrap();
        range
            .versions()
            .map(KubernetesVersion::name)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(names("1.34..1.36.2"), "1.34 1.35 1.36");
    assert_eq!(names("1.34..1.34"), "1.34");
    assert_eq!(names("v1.35"), "1.35");
    let range = |text: &str| text.parse::<VersionRange>();
    assert_eq!(range("latest-1.."), range("latest-1..latest"));
    for text in ["1.35", "1.34..1.36", "latest-1.."] {
        let printed = range(text).unwrap().to_string();
        assert_eq!(range(&printed), range(text), "{printed}");
    }
    for (text, expected) in [
        (
            "1.36..1.34",
            "the range \"1.36..1.34\" is empty: the older version comes first, as in `1.34..1.36`",
        ),
        (
            "1.30..1.34",
            "no version \"1.30\" of Kubernetes; there are ",
        ),
        (
            "1.34..1.99",
            "no version \"1.99\" of Kubernetes; there are ",
        ),
        ("..1.34", "no version \"\" of Kubernetes; there are "),
        (
            "1.34...1.36",
            "no version \".1.36\" of Kubernetes; there are ",
        ),
        (
            "1.34-1.36",
            "no version \"1.34-1.36\" of Kubernetes; there are ",
        ),
    ] {
        let error = range(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn every_text_of_every_version_is_what_its_reader_expects() {
    for version in KubernetesVersion::all() {
        let texts = [
            version.types(),
            version.openapi_structure(),
            version.discovery(),
            version.table_columns(),
        ];
        for text in texts {
            serde_json::from_str::<serde_json::Value>(&text).unwrap();
        }
        let types: serde_json::Value = serde_json::from_str(&version.types()).unwrap();
        let server = format!("kube-apiserver {}", version.git_version());
        assert_eq!(types["server"], server);
        let objects = version.initial_objects();
        let objects = serde_json::Deserializer::from_str(&objects).into_iter::<serde_json::Value>();
        assert!(objects.map(Result::unwrap).count() > 150, "{version}");
        assert!(version.gates().iter().count() > 150, "{version}");
        assert!(
            version.kube_apiserver_flags().lines().count() > 150,
            "{version}"
        );
    }
}

#[test]
fn gates_have_the_stages_and_defaults_of_their_version() {
    let of = |version: &str| {
        let version: KubernetesVersion = version.parse().unwrap();
        version.gates().find("MutatingAdmissionPolicy").unwrap()
    };
    let (old, new) = (of("1.35"), of("1.36"));
    assert_eq!((old.stage(), old.default_value()), (Stage::Beta, false));
    assert_eq!((new.stage(), new.default_value()), (Stage::Ga, true));
    let gates = KubernetesVersion::DEFAULT.gates();
    assert!(gates.find("APIServerTracing").unwrap().is_locked());
    assert!(gates.is_on("MutatingAdmissionPolicy"));
    assert!(!gates.is_on("CBORServingAndStorage"));
    assert!(!gates.is_on("NoSuchGate"));
    let ungated = |version: &str| {
        let version: KubernetesVersion = version.parse().unwrap();
        version.gates().is_on("LoopbackCertificateCheck")
    };
    assert!(ungated("1.36") && ungated("1.37") && !ungated("1.35"));
}

#[test]
fn a_diff_adds_removes_and_replaces_lines() {
    let old = "a\nb\nc\nd\n";
    assert_eq!(diff::apply(old, ""), old);
    assert_eq!(diff::apply(old, "@@ -0,0 +1 @@\n+x\n"), "x\na\nb\nc\nd\n");
    assert_eq!(diff::apply(old, "@@ -4,0 +5 @@\n+x\n"), "a\nb\nc\nd\nx\n");
    assert_eq!(
        diff::apply(old, "@@ -1 +0,0 @@\n-a\n@@ -3,2 +2,2 @@\n-c\n-d\n+y\n+z\n"),
        "b\ny\nz\n"
    );
}

#[test]
fn a_set_knows_whether_it_has_other_versions() {
    let (old, new) = (KubernetesVersion::DEFAULT, KubernetesVersion::LATEST);
    let set = SharedVersionSet::default();
    assert!(set.has_only(old), "an empty set has no other version");
    set.insert(old);
    assert!(set.has_only(old));
    assert!(!set.has_only(new));
    set.insert(new);
    assert!(!set.has_only(old));
    assert_eq!(set.iter().collect::<Vec<_>>(), [old, new]);
    set.replace_with(new);
    assert!(set.has_only(new));
    set.insert_unknown();
    assert!(!set.has_only(new));
}

#[test]
fn the_next_version_of_the_newest_is_the_one_before() {
    let all: Vec<KubernetesVersion> = KubernetesVersion::all().collect();
    for pair in all.windows(2) {
        assert_eq!(pair[0].adjacent(), pair[1]);
    }
    assert_eq!(KubernetesVersion::LATEST.adjacent(), all[all.len() - 2]);
}

#[test]
fn a_value_is_made_once_for_each_version() {
    let per_version = PerVersion::new();
    for version in KubernetesVersion::all() {
        assert_eq!(per_version.get_or_init(version, || version), &version);
        assert_eq!(
            per_version.get_or_init(version, || KubernetesVersion::LATEST),
            &version
        );
    }
}

#[test]
fn an_error_is_put_into_the_words_of_a_version() {
    let reworded_of = |field: &str, version: &str, text: &str| {
        let version: KubernetesVersion = version.parse().unwrap();
        let mut text = text.to_owned();
        let value = text.rfind("\": ").map_or(0, |at| at + 1);
        version.reword(field, &mut text, value);
        text
    };
    let reworded = |version: &str, text: &str| reworded_of("spec.a", version, text);
    let empty = "Invalid value: \"\": must not be empty";
    assert_eq!(reworded("1.33", empty), empty);
    assert_eq!(
        reworded_of("metadata.ownerReferences.uid", "1.33", empty),
        "Invalid value: \"\": uid must not be empty"
    );
    let long = "Invalid value: \"a\": must be no more than 63 bytes";
    assert_eq!(reworded("1.36", long), long);
    assert_eq!(reworded("1.35", long), long);
    assert_eq!(
        reworded("1.34", long),
        "Invalid value: \"a\": must be no more than 63 characters"
    );
    // The value is a client's, and stays.
    let quoted = "Invalid value: \"when `hostUsers` is false\": when `hostUsers` is false";
    assert_eq!(
        reworded("1.33", quoted),
        "Invalid value: \"when `hostUsers` is false\": when `pod.Spec.HostUsers` is false"
    );
    let other = "Invalid value: \"when `hostUsers` is false\": something else";
    assert_eq!(reworded("1.33", other), other);
}

#[test]
fn a_gate_of_a_field_that_goes_leaves_the_field() {
    let gates = GATED_FIELDS.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        assert!(matches!(words.len(), 3 | 4), "{line}");
        words[0]
    });
    for gate in gates {
        let mut was_on = false;
        for version in KubernetesVersion::all() {
            let is_on = version.gates().is_on(gate);
            assert!(is_on || !was_on, "{gate} is off again in {version}");
            was_on = is_on;
        }
    }
}
