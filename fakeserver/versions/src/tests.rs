use super::*;

#[test]
fn versions_are_named_as_users_name_them() {
    for text in ["1.35", "1.35.6", "1.35.x", "v1.35", "v1.35.6"] {
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
