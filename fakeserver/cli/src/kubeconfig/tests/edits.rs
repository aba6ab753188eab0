//! Entries in texts of all shapes.

use fakeserver_value::yaml::Document;

use super::{
    super::config::{lines, quoted_lines},
    *,
};

const BLOCK: &str = "\
# mine
apiVersion: v1
clusters:
# the real one
- cluster:
    server: https://prod # do not touch
    unknown: [1, 2]
  name: prod
# users follow
users:
- name: prod
  user: {token: t}
contexts:
- context: {cluster: prod, user: prod}
  name: prod
current-context: prod
kind: Config
preferences: {}
# the end
";

/// Texts from which adding and removing gives the same bytes again.
const SHAPES: [(&str, &str); 22] = [
    ("block", BLOCK),
    (
        "no newline at the end",
        "kind: Config\nclusters:\n- name: a",
    ),
    ("nothing but a kind", "kind: Config\n"),
    ("nothing but a kind, without newline", "kind: Config"),
    (
        "indented lists",
        "kind: Config\nclusters:\n    -   name: a\n        cluster: {server: x}\n\n# tail\n",
    ),
    (
        "all indented",
        "  kind: Config\n  users:\n  - name: a\n    user: {}\n",
    ),
    (
        "a dash alone in its line",
        "kind: Config\nusers:\n-\n  name: a\n-\n  # b\n  name: b\n",
    ),
    (
        "Windows",
        "kind: Config\r\nclusters:\r\n- name: a\r\n  cluster:\r\n    server: x\r\n",
    ),
    (
        "document markers",
        "%YAML 1.2\n---\nkind: Config\nclusters:\n- name: a\n...\n# after\n",
    ),
    ("a byte order mark", "\u{feff}kind: Config\nusers: []\n"),
    (
        "block scalars",
        "kind: Config\nusers:\n- name: a\n  user:\n    token: |\n      x\n      # no comment\n\n\n# c\ncontexts:\n- name: >-\n    a\n    b\n\n",
    ),
    (
        "a block scalar at the end",
        "kind: Config\nusers:\n- name: a\n  token: |+\n    x\n\n",
    ),
    (
        "anchors",
        "kind: Config\nx: &x {a: 1}\nusers:\n- &u\n  name: a\n  user: *x\ny: *u\n",
    ),
    (
        "quoted keys",
        "\"kind\": 'Config'\n'users':\n- \"name\": a\n\"clusters\" : []\n",
    ),
    (
        "values that are left out",
        "kind: Config\nusers:\n- name: a\n  user:\npreferences:\n",
    ),
    (
        "flow",
        "{kind: Config, clusters: [{name: a}, b,], users: [ ]}\n",
    ),
    (
        "flow in lines",
        "{\n  kind: Config, # c\n  users: [\n    {name: a}, # a, b\n    {name: b}\n  ]\n}",
    ),
    (
        "JSON",
        "{\n    \"kind\": \"Config\",\n    \"clusters\": [\n        {\n            \"name\": \"a\"\n        }\n    ],\n    \"users\": [],\n    \"contexts\": [ {\"name\": \"a\"} ],\n    \"current-context\": \"a\"\n}\n",
    ),
    (
        "JSON in one line",
        "{\"kind\":\"Config\",\"clusters\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"current-context\":\"\"}",
    ),
    (
        "empty lists among lists",
        "kind: Config\nclusters: [] # none\ncontexts:\n- name: a\nusers: []\ncurrent-context: \"\"\n",
    ),
    (
        "many comments",
        "kind: Config\nusers:\n# 1\n- name: a # 2\n  # 3\n  user: {} # 4\n  # 5\n# 6\n\n# 7\n- name: b\n# 8\n",
    ),
    (
        "words that are not ours",
        "kind: Config\nusers:\n- name: é\u{1f600}\n- name: \"yes\"\n- 12\n- null\nétat: ~\n",
    ),
];

#[test]
fn entries_come_and_go_and_nothing_else_changes() {
    for (shape, text) in SHAPES {
        for use_context in [false, true] {
            let (server, mark) = (server("ours"), dead("ours"));
            let added = edit::add(text, &server, &mark, use_context)
                .unwrap_or_else(|error| panic!("{shape}: {error}"));
            let expected = with_entries(text, &server, &mark, use_context);
            assert_eq!(normal(&added), expected, "{shape}:\n{added}");
            // What was there is still there, in its order.
            let rest = added.lines().collect::<Vec<_>>();
            for comment in text.lines().filter(|line| line.trim().starts_with('#')) {
                assert!(rest.contains(&comment), "{shape}:\n{added}");
            }
            assert_eq!(remove(&added, &mark), text, "{shape}:\n{added}");
            let other = dead("other");
            assert_eq!(remove(&added, &other), added, "{shape}");
        }
    }
}

#[test]
fn several_servers_share_a_text() {
    for (shape, text) in SHAPES {
        let (first, second) = (dead("first"), dead("second"));
        let mut server = server("first");
        let one = edit::add(text, &server, &first, false).unwrap();
        server.context = "second".to_owned();
        server.users.clear();
        let two = edit::add(&one, &server, &second, false).unwrap();
        assert_eq!(normal(&two), with_entries(&one, &server, &second, false));
        assert_eq!(remove(&two, &second), one, "{shape}");
        let left = remove(&two, &first);
        let names = edit::find(&left).unwrap();
        let names = names.iter().filter(|found| found.mark.is_some());
        assert_eq!(names.count(), 3, "{shape}:\n{left}");
        assert_eq!(normal(&remove(&left, &second)), normal(text), "{shape}");
    }
}

#[test]
fn entries_are_written_as_their_neighbours_are() {
    let (mut server, mark) = (server("ours"), dead("ours"));
    server.users.clear();
    let edited = |text: &str| {
        let added = edit::add(text, &server, &mark, false).unwrap();
        let mut mark = serde_json::to_value(&mark).unwrap();
        let plain = mark.to_string();
        mark["lists"] = json!(["clusters", "contexts"]);
        let lines = added.lines();
        let lines = lines.map(|line| {
            line.replace(&plain, "MARK")
                .replace(&mark.to_string(), "MARK")
        });
        let lines = lines.filter(|line| {
            let word = line.trim_start().split(':').next().unwrap_or_default();
            !["boot", "host", "pid", "started"].contains(&word) && line.trim() != "context: ours"
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(edited("kind: Config\nclusters:\n  - name: a\nusers: []\ncontexts: # c\n- name: b\n"), @r#"
    kind: Config
    clusters:
      - name: a
      - cluster:
          extensions:
          - extension:
            name: fakeserver
          insecure-skip-tls-verify: true
          server: http://127.0.0.1:8001
        name: ours
    users: [{"name":"ours","user":{"extensions":[{"extension":MARK,"name":"fakeserver"}]}}]
    contexts: # c
    - name: b
    - context:
        cluster: ours
        extensions:
        - extension:
          name: fakeserver
        namespace: default
        user: ours
      name: ours
    current-context: ours
    "#);
    insta::assert_snapshot!(edited("{\n  \"kind\": \"Config\",\n  \"users\": [\n    {\"name\": \"a\"}\n  ]\n}"), @r#"
    {
      "kind": "Config",
      "users": [
        {"name": "a"},
        {"name":"ours","user":{"extensions":[{"extension":MARK,"name":"fakeserver"}]}}
      ],
      "clusters": [{"cluster":{"extensions":[{"extension":MARK,"name":"fakeserver"}],"insecure-skip-tls-verify":true,"server":"http://127.0.0.1:8001"},"name":"ours"}],
      "contexts": [{"context":{"cluster":"ours","extensions":[{"extension":MARK,"name":"fakeserver"}],"namespace":"default","user":"ours"},"name":"ours"}],
      "current-context": "ours"
    }
    "#);
}

#[test]
fn a_list_that_is_null_means_the_same_when_the_entries_are_gone() {
    for text in [
        "kind: Config\nclusters: null # none\ncontexts:\nusers: ~\ncurrent-context:\nx: 1\n",
        "{\"kind\": \"Config\", \"clusters\": null, \"contexts\": null, \"users\": null}",
        "{kind: Config, clusters: , users: }",
    ] {
        let (server, mark) = (server("ours"), dead("ours"));
        let added = edit::add(text, &server, &mark, false).unwrap();
        assert_eq!(
            normal(&added),
            with_entries(text, &server, &mark, false),
            "{added}"
        );
        let removed = remove(&added, &mark);
        assert_eq!(normal(&removed), normal(text), "{removed}");
        assert!(!text.contains('#') || removed.contains("# none\n"));
    }
}

#[test]
fn a_text_without_a_kubeconfig_gets_one() {
    for text in [
        "", "\n", "# mine", "# mine\n", "---\n", "# a\r\n", "{}", "{ }\n",
    ] {
        let (server, mark) = (server("ours"), dead("ours"));
        let added = edit::add(text, &server, &mark, false).unwrap();
        assert!(!text.contains('#') || added.starts_with(text), "{added}");
        let config = value(&added);
        assert_eq!(config["kind"], "Config");
        assert_eq!(config["apiVersion"], "v1");
        assert_eq!(config["current-context"], "ours");
        assert_eq!(config["users"][1]["name"], "jane");
        let removed = remove(&added, &mark);
        assert_eq!(edit::find(&removed).unwrap(), []);
        assert!(!edit::is_created_and_empty(&removed), "it is not ours");
    }
}

#[test]
fn a_new_file_is_ours_until_the_user_adds_to_it() {
    let (server, mark) = (server("ours"), dead("ours"));
    let text = edit::create(&server, &mark);
    assert!(!edit::is_created_and_empty(&text));
    let left = remove(&text, &mark);
    assert!(edit::is_created_and_empty(&left), "{left}");
    for more in [
        "# a comment\n",
        "preferences: {colors: true}\n",
        "unknown: 1\n",
        "users: [{name: a}]\n",
    ] {
        assert!(
            !edit::is_created_and_empty(&format!("{left}{more}")),
            "{more}"
        );
    }
    // kubectl writes absent fields like this.
    let rewritten = format!("{left}preferences: {{}}\nclusters: null\ncurrent-context: \"\"\n");
    assert!(edit::is_created_and_empty(&rewritten));
    // The file is the user's once our entries are removed.
    let shared = text.replace("users:\n", "users:\n- name: a\n");
    let left = remove(&shared, &dead("ours"));
    assert!(!left.contains("created"), "{left}");
    assert_eq!(value(&left)["users"], json!([{"name": "a"}]));
    let mark = dead("second");
    let two = edit::add(&text, &super::server("second"), &mark, false);
    assert!(!edit::is_created_and_empty(&remove(&two.unwrap(), &mark)));
}

#[test]
fn the_current_context_is_restored() {
    let mark = dead("ours");
    let mut server = server("ours");
    server.users.clear();
    let text = "kind: Config\ncontexts: [{name: a}]\ncurrent-context: a\n";
    let current = |text: &str| value(text)["current-context"].clone();
    let beside = edit::add(text, &server, &mark, false).unwrap();
    assert_eq!(current(&beside), "a");
    let used = edit::add(text, &server, &mark, true).unwrap();
    assert_eq!(current(&used), "ours");
    assert_eq!(current(&remove(&used, &mark)), "a");
    // The current context was changed by another program since.
    let switched = beside.replace("current-context: a", "current-context: ours");
    assert_eq!(current(&remove(&switched, &mark)), Value::Null);
    let switched = used.replace("current-context: ours", "current-context: a");
    assert_eq!(current(&remove(&switched, &mark)), "a");
    let gone = used.replace("{name: a}", "{name: b}");
    assert_eq!(current(&remove(&gone, &mark)), "");
}

#[test]
fn invalid_kubeconfigs_are_rejected() {
    for (text, why) in [
        ("a: [", "it is not YAML"),
        ("a: b: c", "it is not YAML"),
        ("just words", "it is not a mapping"),
        ("- a\n- b\n", "it is not a mapping"),
        ("null", "it is not a mapping"),
        ("replicas: 3\n", "it has no kind"),
        ("kind: Pod\napiVersion: v1\n", "its kind is Pod"),
        ("kind: Config\napiVersion: v2\n", "its version is v2"),
        ("kind: Config\nusers: {a: b}\n", "its users cannot be read"),
        ("kind: Config\nusers: x\n", "its users cannot be read"),
        (
            "kind: Config\ncurrent-context: [a]\n",
            "its current-context cannot be read",
        ),
        ("kind: Config\nusers: []\nusers: []\n", "it has users twice"),
        (
            "kind: Config\n---\nkind: Config\n",
            "it has more than one document",
        ),
        (
            "kind: Config\nx: &x []\nusers: *x\n",
            "its users cannot be read",
        ),
    ] {
        let error = edit::add(text, &server("ours"), &dead("ours"), false).unwrap_err();
        assert!(error.to_string().contains(why), "{text}: {error}");
        let error = edit::find(text).unwrap_err();
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
}

#[test]
fn entries_that_cannot_be_edited_alone_are_rejected() {
    for text in [
        // The list is used twice.
        "kind: Config\nusers: &u\n- name: a\nx: *u\n",
        "kind: Config\nclusters: &c []\nx: *c\n",
        "kind: Config\nx: &x {users: [{name: a}]}\n<<: *x\n",
        "? kind\n: Config\n? users\n: - name: a\n",
    ] {
        let error = edit::add(text, &server("ours"), &dead("ours"), false).unwrap_err();
        assert!(error.to_string().contains("cannot be changed"), "{error}");
    }
}

#[test]
fn clients_read_the_values_that_are_written() {
    for value in [
        json!("1_000"),
        json!(["0777", {"yes": "no"}]),
        json!({"a": "0b1", "off": [null, 1]}),
    ] {
        for text in [lines(&value, 0), quoted_lines(&value)] {
            let read = Document::parse_single(&text).and_then(|document| document.value());
            assert_eq!(read.as_ref(), Ok(&value), "{text}");
        }
    }
}

#[test]
fn strange_names_come_through() {
    for name in [
        "a: b #c",
        "true",
        "\"",
        "'",
        "1.5",
        "a\nb",
        "é\u{1f600}",
        "- x",
        "{",
        "~",
        " ",
        "yes",
        "1_000",
        "0777",
    ] {
        for text in [BLOCK, "{kind: Config}", ""] {
            let (mut server, mark) = (server(name), dead(name));
            server.users[0].0 = format!("{name}'s");
            let added = edit::add(text, &server, &mark, true).unwrap();
            let expected = server.entries(&mark).contexts[1]["name"].clone();
            let contexts = value(&added)["contexts"].clone();
            let last = contexts.as_array().unwrap().last().unwrap();
            assert_eq!(last["name"], expected, "{added}");
            assert_eq!(value(&added)["current-context"], name);
            assert_eq!(
                edit::find(&remove(&added, &mark)).unwrap().len(),
                edit::find(text).unwrap().len()
            );
        }
    }
}
