//! The text of a kubeconfig, and changes of it that keep all other bytes.
//!
//! Each change replaces one range of bytes, which the parsed document gives. The new text is parsed, and its value compared
//! with the expected one. If they differ, the change is refused.

use std::{collections::BTreeSet, ops::Range};

use fakeserver_value::yaml::{self, Content, Document, Node, NodeId};
use serde_json::{Value, json};

use super::error::EditError;

/// The lists of named entries.
pub(super) const SECTIONS: [&str; 3] = ["clusters", "contexts", "users"];

pub(super) const CURRENT_CONTEXT: &str = "current-context";

/// A byte order mark.
const MARK: char = '\u{feff}';

/// A kubeconfig that has a root.
#[derive(Debug)]
pub(super) struct Config {
    /// Without the byte order mark, which may come before it.
    text: String,
    has_mark: bool,
    document: Document,
    value: Value,
}

/// A range of bytes and its replacement.
type Splice = (Range<usize>, String);

// === impl Config ===

impl Config {
    /// Parses a kubeconfig; `None` if nothing but comments is in it.
    pub(super) fn parse(text: &str) -> Result<Option<Self>, EditError> {
        let rest = text.strip_prefix(MARK);
        let config = Self::read(rest.unwrap_or(text), rest.is_some())?;
        if let Some(config) = &config {
            config.check()?;
        }
        Ok(config)
    }

    fn read(text: &str, has_mark: bool) -> Result<Option<Self>, EditError> {
        let document = Document::parse_single(text).map_err(EditError::Syntax)?;
        let root = document.root.map(|root| document.node(root));
        if root.is_none_or(|root| root.span.is_empty()) {
            return Ok(None);
        }
        let value = document.value().map_err(EditError::Syntax)?;
        let text = text.to_owned();
        Ok(Some(Self {
            text,
            has_mark,
            document,
            value,
        }))
    }

    /// Appends items to the list `section`.
    pub(super) fn append(&mut self, section: &str, items: &[Value]) -> Result<(), EditError> {
        let added = Value::from(items);
        let Some((key, list)) = self.pair(section) else {
            return self.append_key(section, &added);
        };
        let splice = match &list.content {
            Content::Sequence(old) if list.is_flow => {
                let items = items.iter().map(Value::to_string).collect::<Vec<_>>();
                self.append_in_flow(list, &self.spans(old), &items.join(", "))
            }
            Content::Sequence(_) => {
                let indent = self.indent_of_items(key, list)?;
                self.append_lines(list.span.end, &lines(&added, indent))
            }
            // A null, as `check` says.
            _ => instead_of(list, &added.to_string()),
        };
        let mut expected = self.value.clone();
        let list = &mut expected[section];
        if list.is_null() {
            *list = json!([]);
        }
        let list = list.as_array_mut().ok_or(EditError::Shape)?;
        list.extend_from_slice(items);
        self.replace(section, splice, &expected)
    }

    /// Appends a pair to the root.
    pub(super) fn append_key(&mut self, key: &str, value: &Value) -> Result<(), EditError> {
        let splice = if self.root().is_flow {
            let new = format!("{}: {value}", Value::from(key));
            self.append_in_flow(self.root(), &self.places(), &new)
        } else {
            let root = &self.root().span;
            let indent = self.indent_of(root.start)?;
            self.append_lines(root.end, &lines(&json!({key: value}), indent))
        };
        let mut expected = self.value.clone();
        expected[key] = value.clone();
        self.replace(key, splice, &expected)
    }

    /// Sets the name of the current context.
    pub(super) fn set_current_context(&mut self, name: &str) -> Result<(), EditError> {
        let Some((_, node)) = self.pair(CURRENT_CONTEXT) else {
            return self.append_key(CURRENT_CONTEXT, &name.into());
        };
        let new = if self.root().is_flow {
            Value::from(name).to_string()
        } else {
            lines(&name.into(), 0).trim_end().to_owned()
        };
        let splice = instead_of(node, &new);
        let mut expected = self.value.clone();
        expected[CURRENT_CONTEXT] = name.into();
        self.replace(CURRENT_CONTEXT, splice, &expected)
    }

    /// Removes an item of the list `section`. A list in block style goes with its last item.
    pub(super) fn remove(&mut self, section: &str, index: usize) -> Result<(), EditError> {
        let (key, list) = self.pair(section).ok_or(EditError::Shape)?;
        let Content::Sequence(items) = &list.content else {
            return Err(EditError::Shape);
        };
        let spans = self.spans(items);
        let splice = if list.is_flow {
            self.cut_in_flow(&spans, index)
        } else {
            let dash = self.dash_of(&spans[index])?;
            let cut = self.lines_of(dash..spans[index].end)?;
            if items.len() > 1 {
                (cut, String::new())
            } else {
                let colon = self.after_colon(key)?;
                let between = self.text.get(colon..cut.start).ok_or(EditError::Shape)?;
                if between.trim().is_empty() {
                    return self.remove_key(section);
                }
                // A comment stands between the key and the item.
                (colon..cut.end, format!(" []{between}"))
            }
        };
        let mut expected = self.value.clone();
        let list = expected[section].as_array_mut();
        list.ok_or(EditError::Shape)?.remove(index);
        self.replace(section, splice, &expected)
    }

    /// Removes a pair of the root.
    pub(super) fn remove_key(&mut self, key: &str) -> Result<(), EditError> {
        let is_this = |(name, _): (&Node, &Node)| text_of(name) == Some(key);
        let index = self.pairs().position(is_this).ok_or(EditError::Shape)?;
        let splice = if self.root().is_flow {
            self.cut_in_flow(&self.places(), index)
        } else {
            (self.lines_of(self.places()[index].clone())?, String::new())
        };
        let mut expected = self.value.clone();
        let root = expected.as_object_mut().ok_or(EditError::Shape)?;
        root.remove(key);
        self.replace(key, splice, &expected)
    }

    pub(super) fn into_text(self) -> String {
        if self.has_mark {
            format!("{MARK}{}", self.text)
        } else {
            self.text
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns a value of the root. Aliases are resolved.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.value.get(key)
    }

    /// Returns the values of the root.
    pub(super) fn values(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.value.as_object().into_iter().flatten()
    }

    /// Returns the items of a list of the root; of others none.
    pub(super) fn items(&self, section: &str) -> &[Value] {
        let list = self.value[section].as_array();
        list.map_or(&[], Vec::as_slice)
    }

    /// Returns the name of the current context, empty if it is there without one.
    pub(super) fn current_context(&self) -> Option<String> {
        self.get(CURRENT_CONTEXT).map(name_of)
    }

    /// Replaces a range of bytes of the pair `key`, if that leads to the expected value.
    fn replace(&mut self, key: &str, (at, new): Splice, expected: &Value) -> Result<(), EditError> {
        // Of an anchor it is not known who uses it.
        if self
            .pair(key)
            .is_some_and(|(_, old)| self.text[old.span.start..].starts_with('&'))
        {
            return Err(EditError::Shape);
        }
        let mut new = new;
        if let Some(end) = self.text.find('\n')
            && self.text[..end].ends_with('\r')
        {
            new = new.replace("\r\n", "\n").replace('\n', "\r\n");
        }
        let mut text = self.text.clone();
        text.replace_range(at, &new);
        match Self::read(&text, self.has_mark) {
            Ok(Some(config)) if config.value == *expected => {
                *self = config;
                Ok(())
            }
            _ => Err(EditError::Shape),
        }
    }

    /// Checks that a root is that of a kubeconfig, and unambiguous.
    fn check(&self) -> Result<(), EditError> {
        let Value::Object(fields) = &self.value else {
            return Err(EditError::NotConfig("it is not a mapping".to_owned()));
        };
        if fields.get("kind").is_none_or(|kind| kind != "Config") && self.pairs().len() > 0 {
            let kind = fields.get("kind").filter(|kind| !kind.is_null());
            let kind = kind.map_or("it has no kind".to_owned(), |kind| {
                format!("its kind is {}", name_of(kind))
            });
            return Err(EditError::NotConfig(kind));
        }
        if let Some(version) = fields.get("apiVersion").filter(|version| *version != "v1") {
            let version = name_of(version);
            return Err(EditError::NotConfig(format!("its version is {version}")));
        }
        let mut seen = BTreeSet::new();
        for (key, value) in self.pairs() {
            let name = text_of(key).unwrap_or_default();
            let is_scalar = matches!(value.content, Content::Scalar(_));
            let is_list = matches!(value.content, Content::Sequence(_));
            let is_wrong = match name {
                // Pairs of another mapping, which a list of ours would hide.
                "<<" => return Err(EditError::Shape),
                CURRENT_CONTEXT => !is_scalar,
                _ if SECTIONS.contains(&name) => {
                    !(is_list || is_scalar && self.value[name].is_null())
                }
                _ => false,
            };
            if is_wrong {
                return Err(EditError::NotConfig(format!("its {name} cannot be read")));
            }
            if !seen.insert(name) {
                return Err(EditError::NotConfig(format!("it has {name} twice")));
            }
        }
        Ok(())
    }

    fn root(&self) -> &Node {
        let root = self.document.root.expect("a config has a root");
        self.document.node(root)
    }

    /// Returns the pairs of the root.
    fn pairs(&self) -> impl ExactSizeIterator<Item = (&Node, &Node)> {
        let pairs: &[(NodeId, NodeId)] = match &self.root().content {
            Content::Mapping(pairs) => pairs,
            _ => &[],
        };
        let node = |id: NodeId| self.document.node(id);
        pairs
            .iter()
            .map(move |(key, value)| (node(*key), node(*value)))
    }

    fn pair(&self, key: &str) -> Option<(&Node, &Node)> {
        self.pairs().find(|(name, _)| text_of(name) == Some(key))
    }

    /// Returns where the pairs of the root are.
    fn places(&self) -> Vec<Range<usize>> {
        let pairs = self.pairs();
        pairs
            .map(|(key, value)| key.span.start..value.span.end)
            .collect()
    }

    fn spans(&self, nodes: &[NodeId]) -> Vec<Range<usize>> {
        let spans = nodes.iter().map(|id| self.document.node(*id).span.clone());
        spans.collect()
    }

    /// Puts `new` behind the last element of a collection in flow style, separated as the last one is.
    fn append_in_flow(&self, collection: &Node, places: &[Range<usize>], new: &str) -> Splice {
        let Some(last) = places.last() else {
            let open = collection.span.start + 1;
            return (open..open, new.to_owned());
        };
        let before = &self.text[..last.start];
        let space = match &before[before.trim_end().len()..] {
            "" => " ",
            space => space,
        };
        (last.end..last.end, format!(",{space}{new}"))
    }

    /// Cuts one element of a collection in flow style out, with one comma and the space around it.
    fn cut_in_flow(&self, places: &[Range<usize>], index: usize) -> Splice {
        let is_comma = |range: Range<usize>| self.text[range].trim() == ",";
        let place = &places[index];
        if let Some(before) = index.checked_sub(1).map(|index| places[index].end)
            && is_comma(before..place.start)
        {
            return (before..place.end, String::new());
        }
        if let Some(next) = places.get(index + 1)
            && is_comma(place.end..next.start)
        {
            return (place.start..next.start, String::new());
        }
        let rest = self.text[place.end..].trim_start();
        let end = match rest.strip_prefix(',') {
            Some(rest) => self.text.len() - rest.len(),
            None => place.end,
        };
        (place.start..end, String::new())
    }

    /// Puts lines behind the line in which a node ends.
    fn append_lines(&self, end: usize, new: &str) -> Splice {
        let at = self.after_line(end);
        let is_open = at == self.text.len() && !self.text.is_empty() && !self.text.ends_with('\n');
        let new = if is_open {
            format!("\n{}", new.trim_end_matches('\n'))
        } else {
            new.to_owned()
        };
        (at..at, new)
    }

    /// Returns the whole lines of a node that is the first in its line.
    fn lines_of(&self, node: Range<usize>) -> Result<Range<usize>, EditError> {
        let mut start = node.start - self.indent_of(node.start)?;
        let end = self.after_line(node.end);
        if end == self.text.len() && !self.text.ends_with('\n') {
            let before = &self.text[..start];
            let before = before.strip_suffix('\n').unwrap_or(before);
            start = before.strip_suffix('\r').unwrap_or(before).len();
        }
        Ok(start..end)
    }

    /// Returns how many spaces, and nothing else, stand before a place in its line.
    fn indent_of(&self, at: usize) -> Result<usize, EditError> {
        let before = &self.text[self.line_of(at)..at];
        let is_blank = before.bytes().all(|byte| byte == b' ');
        is_blank.then_some(before.len()).ok_or(EditError::Shape)
    }

    /// Returns how far the dashes of a list in block style are indented.
    fn indent_of_items(&self, key: &Node, list: &Node) -> Result<usize, EditError> {
        // The parser says where the first dash is, but not in a list that is no further indented than its key.
        match self.indent_of(list.span.start) {
            Ok(indent) if self.text[list.span.start..].starts_with('-') => Ok(indent),
            _ => self.indent_of(key.span.start),
        }
    }

    /// Returns where the dash of an item is.
    fn dash_of(&self, item: &Range<usize>) -> Result<usize, EditError> {
        let before = self.text[..item.start].trim_end();
        let before = before.strip_suffix('-').ok_or(EditError::Shape)?;
        Ok(before.len())
    }

    fn after_colon(&self, key: &Node) -> Result<usize, EditError> {
        let rest = self.text[key.span.end..].trim_start_matches(' ');
        let rest = rest.strip_prefix(':').ok_or(EditError::Shape)?;
        Ok(self.text.len() - rest.len())
    }

    /// Returns the start of the line of a place.
    fn line_of(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |end| end + 1)
    }

    /// Returns the start of the line after the one in which a node ends.
    fn after_line(&self, end: usize) -> usize {
        let start = self.line_of(end);
        // The parser has block scalars end where the next node begins.
        if self.text[start..end].trim().is_empty() {
            return start;
        }
        let newline = self.text[end..].find('\n');
        newline.map_or(self.text.len(), |newline| end + newline + 1)
    }
}

/// Returns the text of a scalar.
fn text_of(node: &Node) -> Option<&str> {
    match &node.content {
        Content::Scalar(scalar) => Some(&scalar.text),
        _ => None,
    }
}

/// Returns a name, which YAML may take for a number or a boolean.
pub(super) fn name_of(value: &Value) -> String {
    match value {
        Value::String(name) => name.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        _ => String::new(),
    }
}

/// Puts `new` in place of a scalar.
fn instead_of(scalar: &Node, new: &str) -> Splice {
    let place = scalar.span.clone();
    if place.is_empty() {
        (place, format!(" {new}"))
    } else {
        (place, new.to_owned())
    }
}

/// Returns a value as YAML in block style, with all texts quoted if clients would read another value otherwise.
pub(super) fn lines(value: &Value, indent: usize) -> String {
    let mut text = yaml::to_string(value);
    let read = Document::parse_single(&text).and_then(|document| document.value());
    if read.as_ref() != Ok(value) || has_line_break(value) {
        text = quoted_lines(value);
    }
    let indent = " ".repeat(indent);
    let lines = text.lines().flat_map(|line| [&indent, line, "\n"]);
    lines.collect()
}

/// Returns whether a text in a value has several lines, which would be in block style.
fn has_line_break(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\n'),
        Value::Array(items) => items.iter().any(has_line_break),
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| name.contains('\n') || has_line_break(value)),
        _ => false,
    }
}

/// Returns a value whose texts are all quoted, with a line for each of its items or fields.
pub(super) fn quoted_lines(value: &Value) -> String {
    let lines: Vec<String> = match value {
        Value::Array(items) => items.iter().map(|item| format!("- {item}\n")).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let lines = fields.map(|(name, value)| format!("{}: {value}\n", json!(name)));
            lines.collect()
        }
        scalar => vec![scalar.to_string()],
    };
    lines.concat()
}
