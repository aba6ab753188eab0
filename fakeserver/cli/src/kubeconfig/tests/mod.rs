//! Kubeconfigs: texts in, texts out; any text; files.

mod edits;
mod files;
mod property;

use serde_json::{Value, json};

use super::{
    Credential, Kubeconfig, edit,
    mark::{Mark, Owner},
};

/// A server with one more user.
fn server(context: &str) -> Kubeconfig {
    Kubeconfig {
        context: context.to_owned(),
        address: "127.0.0.1:8001".parse().unwrap(),
        authority_pem: None,
        administrator: Credential::None,
        users: vec![("jane".to_owned(), Credential::Token("secret".to_owned()))],
    }
}

/// The mark of a process of another boot: it is dead.
fn dead(context: &str) -> Mark {
    let mut mark = serde_json::to_value(Mark::of_this_process(context)).unwrap();
    mark["boot"] = "before".into();
    mark["pid"] = 7.into();
    mark["started"] = 8.into();
    serde_json::from_value(mark).unwrap()
}

fn value(text: &str) -> Value {
    fakeserver_value::yaml::from_str(text).unwrap()
}

/// The value of a kubeconfig, with lists that are absent or null as empty ones.
fn normal(text: &str) -> Value {
    let mut value = if text.trim().is_empty() {
        json!({})
    } else {
        value(text)
    };
    for section in ["clusters", "contexts", "users"] {
        if value[section].is_null() {
            value[section] = json!([]);
        }
    }
    if value["current-context"] == "" {
        value["current-context"] = Value::Null;
    }
    value
}

/// Returns the expected document after the entries of a server were added to a text.
fn with_entries(text: &str, server: &Kubeconfig, mark: &Mark, use_context: bool) -> Value {
    let mut expected = normal(text);
    let mut mark = mark.clone();
    let before = value(text);
    let current = &mut expected["current-context"];
    if use_context || current.is_null() {
        let previous = before.get("current-context");
        mark.previous = previous.map(|name| name.as_str().unwrap_or_default().to_owned());
        *current = server.context.as_str().into();
    }
    let sections = ["clusters", "contexts", "users"].map(ToOwned::to_owned);
    let absent = |section: &String| before.get(section).is_none();
    mark.lists = sections.into_iter().filter(absent).collect();
    let entries = server.entries(&mark);
    for (section, items) in [
        ("clusters", entries.clusters),
        ("contexts", entries.contexts),
        ("users", entries.users),
    ] {
        expected[section].as_array_mut().unwrap().extend(items);
    }
    expected
}

fn remove(text: &str, mark: &Mark) -> String {
    edit::remove(text, |_, other| other.is_same_server(mark)).unwrap()
}

#[test]
fn a_mark_identifies_a_running_process() {
    let own = Mark::of_this_process("x");
    assert_eq!(own.owner(), Owner::Alive);
    assert_eq!(Mark::read(&own.to_extensions()), Some(own.clone()));
    let changed = |field: &str, new: Value| {
        let mut mark = serde_json::to_value(&own).unwrap();
        mark[field] = new;
        serde_json::from_value::<Mark>(mark).unwrap()
    };
    // The same identifier, used again.
    assert_eq!(changed("started", 1.into()).owner(), Owner::Dead);
    assert_eq!(changed("boot", "other".into()).owner(), Owner::Dead);
    assert_eq!(changed("pid", i32::MAX.into()).owner(), Owner::Dead);
    let host = "elsewhere".to_owned();
    assert_eq!(
        changed("host", host.clone().into()).owner(),
        Owner::Elsewhere { host }
    );
    assert!(own.is_same_server(&changed("previous", "p".into())));
    assert!(!own.is_same_server(&changed("context", "y".into())));
    for other in [
        json!(null),
        json!([]),
        json!([{"name": "fakeserver"}]),
        json!([{"name": "x", "extension": own}]),
    ] {
        assert_eq!(Mark::read(&other), None, "{other}");
    }
}

#[test]
fn clients_get_the_address_and_the_certificate_authority() {
    let mark = dead("x");
    let mut server = server("x");
    for (address, url) in [
        ("0.0.0.0:8001", "http://127.0.0.1:8001"),
        ("[::]:8001", "http://[::1]:8001"),
        ("192.0.2.1:1", "http://192.0.2.1:1"),
    ] {
        server.address = address.parse().unwrap();
        assert_eq!(server.url(), url);
        let cluster = &server.entries(&mark).clusters[0]["cluster"];
        assert_eq!(cluster["server"], url);
        assert_eq!(cluster["insecure-skip-tls-verify"], true);
    }
    server.authority_pem = Some("PEM".to_owned());
    let entries = server.entries(&mark);
    let cluster = &entries.clusters[0]["cluster"];
    assert_eq!(cluster["server"], "https://192.0.2.1:1");
    assert_eq!(cluster["certificate-authority-data"], "UEVN");
    assert_eq!(cluster.get("insecure-skip-tls-verify"), None);
    assert_eq!(entries.users[1]["user"]["token"], "secret");
    let context = &entries.contexts[1];
    assert_eq!(context["name"], "jane");
    assert_eq!(context["context"]["user"], "jane");
    assert_eq!(context["context"]["cluster"], "x");
}
