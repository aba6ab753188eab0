//! Any kubeconfig: entries are added and removed, and all other bytes stay.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

/// The style of a text.
#[derive(Clone, Copy, Debug)]
struct Style {
    form: Form,
    /// The indentation of lists in block style.
    indent: usize,
    has_comments: bool,
    has_start: bool,
    /// The end of a line.
    newline: &'static str,
    ends_open: bool,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Block,
    Flow,
    Json,
    PrettyJson,
}

#[derive(Clone, Debug)]
enum List {
    Absent,
    Null(&'static str),
    Items(Vec<Value>),
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}",
        "[a-zé:#'\"{}\\[\\], -]{1,8}",
        Just("true".to_owned()),
        Just("0x1".to_owned()),
        Just(String::new()),
    ]
}

fn body() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        word().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        Just(json!("two\nlines\n")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn list(body_key: &'static str) -> impl Strategy<Value = List> {
    let item = (word(), body()).prop_map(move |(name, body)| json!({"name": name, body_key: body}));
    prop_oneof![
        1 => Just(List::Absent),
        1 => prop_oneof![Just("null"), Just("~"), Just("")].prop_map(List::Null),
        4 => prop::collection::vec(item, 0..4).prop_map(List::Items),
    ]
}

fn style() -> impl Strategy<Value = Style> {
    let form = prop_oneof![
        4 => Just(Form::Block),
        1 => Just(Form::Flow),
        1 => Just(Form::Json),
        1 => Just(Form::PrettyJson),
    ];
    (form, 0..4_usize, any::<[bool; 4]>()).prop_map(
        |(form, indent, [has_comments, has_start, is_windows, ends_open])| Style {
            form,
            indent,
            has_comments,
            has_start,
            newline: if is_windows { "\r\n" } else { "\n" },
            ends_open,
        },
    )
}

/// A text, and whether a list in it is null.
fn text() -> impl Strategy<Value = (String, bool)> {
    let lists = (list("cluster"), list("context"), list("user"));
    let rest = (prop::option::of(word()), prop::option::of(body()));
    (lists, rest, style(), any::<prop::sample::Index>()).prop_map(
        |((clusters, contexts, users), (current, extra), style, order)| {
            let has_null = [&clusters, &contexts, &users]
                .iter()
                .any(|list| matches!(list, List::Null(_)));
            let mut pairs = vec![("kind", written(&json!("Config"), style))];
            for (key, list) in [
                ("clusters", clusters),
                ("contexts", contexts),
                ("users", users),
            ] {
                match list {
                    List::Absent => {}
                    List::Null(text) => {
                        let is_json = matches!(style.form, Form::Json | Form::PrettyJson);
                        let text = if is_json { "null" } else { text };
                        pairs.push((key, RenderedValue::Inline(text.to_owned())));
                    }
                    List::Items(items) => pairs.push((key, written(&Value::from(items), style))),
                }
            }
            if let Some(current) = current {
                pairs.push(("current-context", written(&current.into(), style)));
            }
            if let Some(extra) = extra {
                pairs.push(("extra", written(&extra, style)));
            }
            let first = order.index(pairs.len());
            pairs.rotate_left(first);
            (whole(&pairs, style), has_null)
        },
    )
}

/// A value behind its key, or in the lines below.
enum RenderedValue {
    Inline(String),
    Below(String),
}

fn written(value: &Value, style: Style) -> RenderedValue {
    let is_collection = match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    };
    match style.form {
        Form::Block if is_collection => {
            let text = fakeserver_value::yaml::to_string(value);
            // What is no list has to be indented.
            let indent = if value.is_array() {
                style.indent
            } else {
                style.indent + 1
            };
            let indent = " ".repeat(indent);
            let mut lines = String::new();
            for line in text.lines() {
                let is_item = line.starts_with("- ");
                if style.has_comments && is_item {
                    lines.push_str("# about the next: one\n");
                }
                writeln!(lines, "{indent}{line}").unwrap();
            }
            RenderedValue::Below(lines)
        }
        Form::PrettyJson => RenderedValue::Inline(format!("{value:#}").replace('\n', "\n  ")),
        _ => RenderedValue::Inline(value.to_string()),
    }
}

fn whole(pairs: &[(&str, RenderedValue)], style: Style) -> String {
    let mut text = String::new();
    if style.has_start && matches!(style.form, Form::Block | Form::Flow) {
        text.push_str("---\n");
    }
    let has_comments = style.has_comments && matches!(style.form, Form::Block);
    let key = |key: &str| match style.form {
        Form::Block | Form::Flow => key.to_owned(),
        Form::Json | Form::PrettyJson => format!("\"{key}\""),
    };
    let inline = pairs.iter().map(|(name, value)| match value {
        RenderedValue::Inline(value) | RenderedValue::Below(value) => {
            format!("{}: {value}", key(name))
        }
    });
    let inline = inline.collect::<Vec<_>>();
    match style.form {
        Form::Flow => writeln!(text, "{{{}}}", inline.join(", ")).unwrap(),
        Form::Json => writeln!(text, "{{{}}}", inline.join(",")).unwrap(),
        Form::PrettyJson => writeln!(text, "{{\n  {}\n}}", inline.join(",\n  ")).unwrap(),
        Form::Block => {
            for (name, value) in pairs {
                if has_comments {
                    text.push_str("\n# the next key\n");
                }
                match value {
                    RenderedValue::Inline(value) if has_comments => {
                        writeln!(text, "{name}: {value} # why").unwrap();
                    }
                    RenderedValue::Inline(value) => writeln!(text, "{name}: {value}").unwrap(),
                    RenderedValue::Below(lines) => write!(text, "{name}:\n{lines}").unwrap(),
                }
            }
        }
    }
    if style.ends_open {
        text.pop();
    }
    text.replace('\n', style.newline)
}

proptest! {
    #[test]
    fn entries_come_and_go_and_the_rest_stays((text, has_null) in text(), use_context: bool) {
        let (server, mark) = (server("ours"), dead("ours"));
        let added = edit::add(&text, &server, &mark, use_context).unwrap();
        prop_assert_eq!(normal(&added), with_entries(&text, &server, &mark, use_context), "{}", &added);
        let removed = remove(&added, &mark);
        // The name of a context that is not there is not set again.
        let expected = normal(&text);
        let current = &expected["current-context"];
        let mut contexts = expected["contexts"].as_array().unwrap().iter();
        let dangles = !current.is_null() && !contexts.any(|context| context["name"] == *current);
        if use_context && dangles {
            prop_assert_eq!(&normal(&removed)["current-context"], &Value::Null);
        } else {
            prop_assert_eq!(normal(&removed), expected, "{}\n{}", &text, &added);
            let is_exact = !has_null && !use_context;
            prop_assert!(!is_exact || removed == text, "{}\n{}", &text, &added);
        }
    }

    #[test]
    fn whatever_is_not_a_kubeconfig_is_refused_without_a_panic(text in "[a-z:\\- \n{}\\[\\],#&*|>'\"]{0,60}") {
        let text = format!("kind: Config\n{text}");
        let (server, mark) = (server("ours"), dead("ours"));
        if let Ok(added) = edit::add(&text, &server, &mark, false) {
            prop_assert_eq!(edit::find(&added).unwrap().iter().filter(|found| found.mark.is_some()).count(), 5);
            let removed = edit::remove(&added, |_, _| true);
            prop_assert!(removed.is_ok(), "{}", added);
        }
    }
}
