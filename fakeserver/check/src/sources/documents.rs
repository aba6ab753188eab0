//! Documents of a file: each becomes objects, or a finding that says why not.

use std::{fmt::Write as _, ops::Range, sync::Arc};

use fakeserver_value::yaml::{Content, Document, NodeId, split};
use rustc_hash::FxHashSet;
use serde_json::Value;

use super::{Manifest, ManifestSet, node_of};
use crate::finding::{Finding, ObjectName, Rule};

/// The levels to which lists of objects nest.
const LISTS_MAX: usize = 8;
/// The levels of a document that are searched for repeated keys. No kind has as many.
const LEVELS_MAX: usize = 200;
/// The number of repeated keys of a document that are reported.
const REPEATED_MAX: usize = 100;

/// A document that was parsed.
struct Parsed<'a> {
    file: usize,
    range: Range<usize>,
    /// The nodes with their places; none of JSON that is no YAML.
    nodes: Option<&'a Document>,
}

/// Adds the objects of a file to the set.
pub(super) fn read(set: &mut ManifestSet, file: usize) {
    let text = set.files[file].text.clone();
    let is_json = set.files[file].name.ends_with(".json");
    if !((is_json || starts_as_json(&text)) && read_json(set, file, &text, is_json)) {
        read_yaml(set, file, &text);
    }
}

fn starts_as_json(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(b"{")
}

/// Reads values of JSON, one after another. Returns false if the text has to be read as YAML.
fn read_json(set: &mut ManifestSet, file: usize, text: &[u8], is_json: bool) -> bool {
    let mut stream = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    let mut values = Vec::new();
    let mut start = 0;
    let error = loop {
        match stream.next() {
            None => break None,
            Some(Ok(value)) => {
                let end = stream.byte_offset();
                values.push((start..end, value));
                start = end;
            }
            Some(Err(error)) => break Some(error),
        }
    };
    if error.is_some() && !is_json {
        return false;
    }
    for (range, value) in values {
        let nodes = Document::parse(&text[range.clone()]).ok();
        let parsed = Parsed {
            file,
            range,
            nodes: nodes.as_ref(),
        };
        parsed.add(set, value);
    }
    if let Some(error) = error {
        let rest = &text[start..];
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        let before: usize = lines
            .take(error.line().saturating_sub(1))
            .map(<[u8]>::len)
            .sum();
        let offset = before + error.column().saturating_sub(1);
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let message = with_advice(message, rest);
        let added = finding(set, file, Rule::Syntax, offset, &message);
        set.findings.push(added);
    }
    true
}

fn read_yaml(set: &mut ManifestSet, file: usize, text: &[u8]) {
    let mut start = 0;
    for (_, document) in split(text) {
        let range = start..start + document.len();
        start = range.end;
        let parsed = Document::parse(document).and_then(|nodes| {
            let value = nodes.value()?;
            Ok((nodes, value))
        });
        match parsed {
            Ok((_, Value::Null)) => {}
            Ok((nodes, value)) => {
                let nodes = Some(&nodes);
                Parsed { file, range, nodes }.add(set, value);
            }
            Err(error) => {
                let (line, reason) = line_of(&error);
                let offset = range.start + offset_of(document, line, reason);
                let message = with_advice(reason, document);
                let added = finding(set, file, Rule::Syntax, offset, &message);
                set.findings.push(added);
            }
        }
    }
}

/// Splits an error into the line of the document that it names, counted from 1, and the reason.
fn line_of(error: &str) -> (Option<usize>, &str) {
    let reason = error.strip_prefix("yaml: ").unwrap_or(error);
    let place = reason.strip_prefix("line ").and_then(|rest| {
        let (line, reason) = rest.split_once(": ")?;
        Some((line.parse().ok()?, reason))
    });
    match place {
        Some((line, reason)) => (Some(line), reason),
        None => (None, reason),
    }
}

/// Returns the place of an error: the line that it names, or the first byte that no text has, or the first line with content.
fn offset_of(document: &[u8], line: Option<usize>, reason: &str) -> usize {
    let lines = || document.split_inclusive(|byte| *byte == b'\n');
    if let Some(line) = line {
        let before: usize = lines().take(line.saturating_sub(1)).map(<[u8]>::len).sum();
        return before.min(document.len().saturating_sub(1));
    }
    if let Err(error) = std::str::from_utf8(document) {
        return error.valid_up_to();
    }
    let is_control = |byte: &u8| byte.is_ascii_control() && !b"\t\n\r".contains(byte);
    if reason.starts_with("control characters") {
        return document.iter().position(is_control).unwrap_or(0);
    }
    let is_content = |line: &&[u8]| {
        let line = line.trim_ascii();
        !line.is_empty() && !line.starts_with(b"#") && line != b"---"
    };
    let before = lines().take_while(|line| !is_content(line));
    before.map(<[u8]>::len).sum()
}

/// Adds what to do to a message about a text that is a template.
fn with_advice(message: &str, text: &[u8]) -> String {
    let is_template = |text: &str| text.contains("{{");
    if std::str::from_utf8(text).is_ok_and(is_template) {
        format!(
            "{message}; it looks like a template: render it first, as in `helm template CHART | fakeserver check -`"
        )
    } else {
        message.to_owned()
    }
}

fn finding(set: &ManifestSet, file: usize, rule: Rule, offset: usize, message: &str) -> Finding {
    let file = &set.files[file];
    Finding {
        rule,
        file: Arc::clone(&file.name),
        position: Some(file.position(offset)),
        object: None,
        field: String::new(),
        message: message.to_owned(),
        versions: Vec::new(),
    }
}

// === impl Parsed ===

impl Parsed<'_> {
    /// Adds the objects of a value, which is an object or a list of some.
    fn add(&self, set: &mut ManifestSet, value: Value) {
        let first = set.manifests.len();
        self.unfold(set, value, &mut Vec::new(), None);
        let only = set.manifests.get(first).map(|only| Arc::clone(&only.name));
        let object = only.filter(|_| set.manifests.len() == first + 1);
        self.add_repeated(set, object.as_ref());
    }

    fn unfold(
        &self,
        set: &mut ManifestSet,
        value: Value,
        items: &mut Vec<usize>,
        kind_of_items: Option<(&str, &str)>,
    ) {
        let Value::Object(mut fields) = value else {
            let message = "this is no object with `kind` and `apiVersion`";
            return self.add_finding(set, items, message);
        };
        if let Some((kind, api_version)) = kind_of_items {
            // The items of a typed list may lack both.
            fields.entry("kind").or_insert_with(|| kind.into());
            let version = fields.entry("apiVersion");
            version.or_insert_with(|| api_version.into());
        }
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let (kind, api_version) = (text("kind"), text("apiVersion"));
        let (Some(kind), Some(api_version)) = (kind, api_version) else {
            let missing = [("kind", kind), ("apiVersion", api_version)];
            let missing = missing.iter().filter(|(_, text)| text.is_none());
            let missing: Vec<String> = missing.map(|(name, _)| format!("`{name}`")).collect();
            let message = format!("this object has no {}", missing.join(" and no "));
            return self.add_finding(set, items, &message);
        };
        let (kind, api_version) = (kind.to_owned(), api_version.to_owned());
        let is_list = kind == "List" || (kind.ends_with("List") && fields.contains_key("items"));
        if !is_list {
            let object = Value::Object(fields);
            set.manifests.push(Manifest {
                file: self.file,
                document: self.range.clone(),
                items: items.clone(),
                start: self.offset(items),
                name: Arc::new(ObjectName::of(&object)),
                object,
            });
            return;
        }
        let members = match fields.remove("items") {
            Some(Value::Array(members)) => members,
            None | Some(Value::Null) => Vec::new(),
            Some(_) => {
                let message = format!("the items of this {kind} are no list");
                return self.add_finding(set, items, &message);
            }
        };
        if items.len() >= LISTS_MAX {
            let message = format!("lists are nested deeper than {LISTS_MAX} levels");
            return self.add_finding(set, items, &message);
        }
        let item_kind = kind.strip_suffix("List").unwrap_or_default();
        let of_items = (!item_kind.is_empty()).then_some((item_kind, &*api_version));
        for (index, member) in members.into_iter().enumerate() {
            items.push(index);
            self.unfold(set, member, items, of_items);
            items.pop();
        }
    }

    /// Returns the place of an item in the file.
    fn offset(&self, items: &[usize]) -> usize {
        let node = self.nodes.and_then(|nodes| {
            let node = node_of(nodes, items)?;
            Some(nodes.node(node).span.start)
        });
        self.range.start + node.unwrap_or_default()
    }

    fn add_finding(&self, set: &mut ManifestSet, items: &[usize], message: &str) {
        let added = finding(set, self.file, Rule::NoObject, self.offset(items), message);
        set.findings.push(added);
    }

    /// Adds the keys that are there twice.
    fn add_repeated(&self, set: &mut ManifestSet, object: Option<&Arc<ObjectName>>) {
        let Some((nodes, root)) = self.nodes.and_then(|nodes| Some((nodes, nodes.root?))) else {
            return;
        };
        let mut repeated = Vec::new();
        find_repeated(nodes, root, &mut String::new(), 0, &mut repeated);
        for (key, path) in repeated {
            let offset = self.range.start + nodes.node(key).span.start;
            let message = "the key is there twice, and the last one counts";
            let mut added = finding(set, self.file, Rule::DuplicateField, offset, message);
            added.field = path;
            added.object = object.cloned();
            set.findings.push(added);
        }
    }
}

/// Finds the second ones of equal keys, with their paths. Aliases are not followed.
fn find_repeated(
    document: &Document,
    node: NodeId,
    path: &mut String,
    level: usize,
    repeated: &mut Vec<(NodeId, String)>,
) {
    if level > LEVELS_MAX || repeated.len() >= REPEATED_MAX {
        return;
    }
    let length = path.len();
    match &document.node(node).content {
        Content::Scalar(_) | Content::Alias(..) => {}
        Content::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                // Most items are texts, which have no keys.
                if is_leaf(document, *item) {
                    continue;
                }
                write!(path, "[{index}]").expect("a string takes what is written");
                find_repeated(document, *item, path, level + 1, repeated);
                path.truncate(length);
            }
        }
        Content::Mapping(members) => {
            let mut keys = FxHashSet::default();
            for (key, value) in members {
                let Content::Scalar(name) = &document.node(*key).content else {
                    continue;
                };
                let is_new = keys.insert(&*name.text);
                if is_new && is_leaf(document, *value) {
                    continue;
                }
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&name.text);
                if !is_new && name.text != "<<" && repeated.len() < REPEATED_MAX {
                    repeated.push((*key, path.clone()));
                }
                find_repeated(document, *value, path, level + 1, repeated);
                path.truncate(length);
            }
        }
    }
}

fn is_leaf(document: &Document, node: NodeId) -> bool {
    let content = &document.node(node).content;
    matches!(content, Content::Scalar(_) | Content::Alias(..))
}

/// Returns the node of an item of a list.
pub(super) fn item(document: &Document, list: NodeId, index: usize) -> Option<NodeId> {
    let Content::Mapping(members) = &document.node(followed(document, list)).content else {
        return None;
    };
    let is_items = |key: &NodeId| match &document.node(*key).content {
        Content::Scalar(name) => name.text == "items",
        _ => false,
    };
    // Of equal keys, the last one counts.
    let (_, items) = members.iter().rev().find(|(key, _)| is_items(key))?;
    match &document.node(followed(document, *items)).content {
        Content::Sequence(items) => items.get(index).copied(),
        _ => None,
    }
}

/// Returns the node that an alias stands for. A chain of aliases is as long as the text.
fn followed(document: &Document, node: NodeId) -> NodeId {
    match &document.node(node).content {
        Content::Alias(_, target) => *target,
        _ => node,
    }
}

// === impl ObjectName ===

impl ObjectName {
    /// Returns the name that an object has.
    pub(crate) fn of(object: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &object["metadata"];
        let (name, prefix) = (text(&metadata["name"]), text(&metadata["generateName"]));
        let is_generated = name.is_empty() && !prefix.is_empty();
        Self {
            api_version: text(&object["apiVersion"]),
            kind: text(&object["kind"]),
            namespace: text(&metadata["namespace"]),
            name: if is_generated {
                format!("{prefix}*")
            } else {
                name
            },
        }
    }
}
