//! The text of a kubeconfig, and changes of it that keep all other bytes.
//!
//! Each change replaces one range of bytes, which the parsed [tree](super::tree) gives. The new text is parsed, and
//! compared with the expected tree. If they differ, the change is refused.

use std::ops::Range;

use serde_json::{Value, json};

use super::{
    error::EditError,
    tree::{self, Content, Node},
};

/// The lists of named entries.
pub(super) const SECTIONS: [&str; 3] = ["clusters", "contexts", "users"];

pub(super) const CURRENT_CONTEXT: &str = "current-context";

/// A kubeconfig that has a root.
#[derive(Debug)]
pub(super) struct Config {
    text: String,
    root: Node,
}

/// A range of bytes and what comes in its place.
type Splice = (Range<usize>, String);

// === impl Config ===

impl Config {
    /// Parses a kubeconfig; `None` if nothing but comments is in it.
    pub(super) fn parse(text: &str) -> Result<Option<Self>, EditError> {
        let root = tree::parse(text).map_err(EditError::Syntax)?;
        let Some(root) = root.filter(|root| !(root.is_null() && root.span.is_empty())) else {
            return Ok(None);
        };
        check(&root)?;
        let text = text.to_owned();
        Ok(Some(Self { text, root }))
    }

    /// Appends items to the list `section`.
    pub(super) fn append(&mut self, section: &str, items: &[Value]) -> Result<(), EditError> {
        let added = Value::from(items);
        let Some((key, list)) = self.pair(section) else {
            return self.append_key(section, &added);
        };
        let splice = match &list.content {
            Content::Sequence { is_flow: true, .. } => {
                let items = items.iter().map(Value::to_string).collect::<Vec<_>>();
                let places = list.items().iter().map(|item| item.span.clone());
                self.append_in_flow(list, &places.collect::<Vec<_>>(), &items.join(", "))
            }
            Content::Sequence { .. } => {
                let indent = self.indent_of_items(key, list)?;
                self.append_lines(list.span.end, &lines(&added, indent)?)
            }
            // A null, as `check` says.
            _ => instead_of(list, &added.to_string()),
        };
        let mut expected = self.root.clone();
        let list = changed(&mut expected, section)?;
        let mut all = list.items().to_vec();
        all.extend(items.iter().map(Node::from_value));
        list.content = Content::Sequence {
            is_flow: true,
            items: all,
        };
        self.replace(splice, &expected)
    }

    /// Appends a pair to the root.
    pub(super) fn append_key(&mut self, key: &str, value: &Value) -> Result<(), EditError> {
        let splice = if self.is_flow() {
            let new = format!("{}: {value}", Value::from(key));
            self.append_in_flow(&self.root, &self.places(), &new)
        } else {
            let indent = self.indent_of(self.root.span.start)?;
            self.append_lines(self.root.span.end, &lines(&json!({key: value}), indent)?)
        };
        let mut expected = self.root.clone();
        let pair = (Node::from_text(key), Node::from_value(value));
        expected.pairs_mut().ok_or(EditError::Shape)?.push(pair);
        self.replace(splice, &expected)
    }

    /// Sets the name of the current context.
    pub(super) fn set_current_context(&mut self, name: &str) -> Result<(), EditError> {
        let Some((_, node)) = self.pair(CURRENT_CONTEXT) else {
            return self.append_key(CURRENT_CONTEXT, &name.into());
        };
        let new = if self.is_flow() {
            Value::from(name).to_string()
        } else {
            lines(&name.into(), 0)?.trim_end().to_owned()
        };
        let splice = instead_of(node, &new);
        let mut expected = self.root.clone();
        let node = changed(&mut expected, CURRENT_CONTEXT)?;
        node.content = Node::from_text(name).content;
        self.replace(splice, &expected)
    }

    /// Removes an item of the list `section`. A list in block style goes with its last item.
    pub(super) fn remove(&mut self, section: &str, index: usize) -> Result<(), EditError> {
        let (key, list) = self.pair(section).ok_or(EditError::Shape)?;
        let (is_flow, items) = match &list.content {
            Content::Sequence { is_flow, items } => (*is_flow, items),
            _ => return Err(EditError::Shape),
        };
        let splice = if is_flow {
            let places = items.iter().map(|item| item.span.clone());
            self.cut_in_flow(&places.collect::<Vec<_>>(), index)
        } else {
            let dash = self.dash_of(&items[index])?;
            let cut = self.lines_of(dash..items[index].span.end)?;
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
        let mut expected = self.root.clone();
        match &mut changed(&mut expected, section)?.content {
            Content::Sequence { items, .. } => drop(items.remove(index)),
            _ => return Err(EditError::Shape),
        }
        self.replace(splice, &expected)
    }

    /// Removes a pair of the root.
    pub(super) fn remove_key(&mut self, key: &str) -> Result<(), EditError> {
        let index = self.root.pairs().iter();
        let index = index.clone().position(|(name, _)| name.is_text(key));
        let index = index.ok_or(EditError::Shape)?;
        let splice = if self.is_flow() {
            self.cut_in_flow(&self.places(), index)
        } else {
            (self.lines_of(self.places()[index].clone())?, String::new())
        };
        let mut expected = self.root.clone();
        expected.pairs_mut().ok_or(EditError::Shape)?.remove(index);
        self.replace(splice, &expected)
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn root(&self) -> &Node {
        &self.root
    }

    /// Returns the name of the current context, empty if it is there without one.
    pub(super) fn current_context(&self) -> Option<&str> {
        let node = self.root.get(CURRENT_CONTEXT)?;
        Some(node.text().unwrap_or_default())
    }

    /// Replaces a range of bytes, if that leads to the expected tree.
    fn replace(&mut self, (at, new): Splice, expected: &Node) -> Result<(), EditError> {
        let mut new = new;
        if let Some(end) = self.text.find('\n')
            && self.text[..end].ends_with('\r')
        {
            new = new.replace("\r\n", "\n").replace('\n', "\r\n");
        }
        let mut text = self.text.clone();
        text.replace_range(at, &new);
        match tree::parse(&text) {
            Ok(Some(root)) if root == *expected => {
                *self = Self { text, root };
                Ok(())
            }
            _ => Err(EditError::Shape),
        }
    }

    fn pair(&self, key: &str) -> Option<&(Node, Node)> {
        let mut pairs = self.root.pairs().iter();
        pairs.find(|(name, _)| name.is_text(key))
    }

    fn is_flow(&self) -> bool {
        matches!(self.root.content, Content::Mapping { is_flow: true, .. })
    }

    /// Returns where the pairs of the root are.
    fn places(&self) -> Vec<Range<usize>> {
        let pairs = self.root.pairs().iter();
        pairs
            .map(|(key, value)| key.span.start..value.span.end)
            .collect()
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
    fn dash_of(&self, item: &Node) -> Result<usize, EditError> {
        let before = self.text[..item.span.start].trim_end();
        let before = before.strip_suffix('-').ok_or(EditError::Shape)?;
        Ok(before.len())
    }

    fn after_colon(&self, key: &Node) -> Result<usize, EditError> {
        let rest = self.text[key.span.end..].trim_start_matches(' ');
        let rest = rest.strip_prefix(':').ok_or(EditError::Shape)?;
        Ok(self.text.len() - rest.len())
    }

    /// Returns the start of the line of a place, behind a byte order mark.
    fn line_of(&self, at: usize) -> usize {
        let mark = if self.text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        self.text[..at].rfind('\n').map_or(mark, |end| end + 1)
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

/// Tells what is wrong with a root that is no kubeconfig's, or that could be meant in two ways.
fn check(root: &Node) -> Result<(), EditError> {
    let Content::Mapping { pairs, .. } = &root.content else {
        return Err(EditError::NotConfig("it is not a mapping".to_owned()));
    };
    let kind = root.get("kind").and_then(Node::text);
    if kind != Some("Config") && !pairs.is_empty() {
        let kind = kind.map_or("it has no kind".to_owned(), |kind| {
            format!("its kind is {kind}")
        });
        return Err(EditError::NotConfig(kind));
    }
    if let Some(version) = root.get("apiVersion")
        && !version.is_text("v1")
    {
        let version = version.text().unwrap_or_default();
        return Err(EditError::NotConfig(format!("its version is {version}")));
    }
    for (index, (key, value)) in pairs.iter().enumerate() {
        let name = key.text().unwrap_or_default();
        let is_list = matches!(value.content, Content::Sequence { .. });
        let is_scalar = matches!(value.content, Content::Scalar { .. });
        let is_wrong = match name {
            // Pairs of another mapping, which a list of ours would hide.
            "<<" => return Err(EditError::Shape),
            CURRENT_CONTEXT => !is_scalar,
            _ if SECTIONS.contains(&name) => !is_list && !value.is_null(),
            _ => false,
        };
        if is_wrong {
            return Err(EditError::NotConfig(format!("its {name} cannot be read")));
        }
        if pairs[..index].iter().any(|(other, _)| other == key) {
            return Err(EditError::NotConfig(format!("it has {name} twice")));
        }
    }
    Ok(())
}

/// Returns the value of a pair of the root that is to be changed.
fn changed<'a>(root: &'a mut Node, key: &str) -> Result<&'a mut Node, EditError> {
    let node = root.get_mut(key).filter(|node| !node.has_anchor());
    node.ok_or(EditError::Shape)
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

/// Returns a value as YAML in block style.
pub(super) fn lines(value: &Value, indent: usize) -> Result<String, EditError> {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    let text = serde_saphyr::to_string_with_options(value, options);
    let text = text.map_err(|error| EditError::Syntax(error.to_string()))?;
    let indent = " ".repeat(indent);
    let lines = text.lines().flat_map(|line| [&indent, line, "\n"]);
    Ok(lines.collect())
}
