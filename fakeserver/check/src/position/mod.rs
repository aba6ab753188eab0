//! Positions of fields: from the path by which the API names a field to its place in the text of a manifest.

#[cfg(test)]
mod tests;

use std::ops::Range;

use fakeserver_value::yaml::{Content, Document, NodeId};

use crate::{
    finding::Position,
    sources::{Manifest, ManifestSet, node_of},
};

/// The aliases and merged mappings that are followed on the way to one field.
const FOLLOWED_MAX: usize = 64;

/// The part of a field at which a finding points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// Its name.
    Key,
    /// Its value; the name of a field whose value is an object or a list.
    Value,
}

/// Finds fields of manifests. The document of the last one is kept, since findings come one manifest after another.
#[derive(Debug)]
pub(crate) struct Locator<'a> {
    set: &'a ManifestSet,
    document: Option<ParsedDocument>,
}

#[derive(Debug)]
struct ParsedDocument {
    file: usize,
    range: Range<usize>,
    /// None if the text is JSON that is no YAML.
    nodes: Option<Document>,
}

/// A node on the way to a field, and the place at which findings about it point.
#[derive(Clone, Copy, Debug)]
struct Step {
    node: NodeId,
    /// Its key; of an item of a list, itself.
    key: NodeId,
}

// === impl Locator ===

impl<'a> Locator<'a> {
    pub(crate) fn new(set: &'a ManifestSet) -> Self {
        Self {
            set,
            document: None,
        }
    }

    /// Returns the position of a field, or of the nearest one around it that is there.
    pub(crate) fn position(&mut self, manifest: &Manifest, path: &str, part: Part) -> Position {
        let file = &self.set.files[manifest.file];
        let start = manifest.document.start;
        let is_parsed = self.document.as_ref().is_some_and(|document| {
            document.file == manifest.file && document.range == manifest.document
        });
        if !is_parsed {
            self.document = Some(ParsedDocument {
                file: manifest.file,
                range: manifest.document.clone(),
                nodes: Document::parse(&file.text[manifest.document.clone()]).ok(),
            });
        }
        let nodes = self
            .document
            .as_ref()
            .and_then(|document| document.nodes.as_ref());
        let place = nodes.and_then(|nodes| {
            let root = node_of(nodes, &manifest.items)?;
            Some(locate(nodes, root, path, part))
        });
        file.position(start + place.unwrap_or_default())
    }
}

/// Returns the offset of a field in its document.
fn locate(document: &Document, root: NodeId, path: &str, part: Part) -> usize {
    let mut step = Step {
        node: root,
        key: root,
    };
    let mut rest = path;
    let mut left = FOLLOWED_MAX;
    while let Some((next, after)) = next_step(document, step.node, rest, &mut left) {
        (step, rest) = (next, after);
    }
    let is_leaf = matches!(
        document.node(step.node).content,
        Content::Scalar(_) | Content::Alias(..)
    );
    let is_there = rest.is_empty();
    let at = if part == Part::Value && is_leaf && is_there {
        step.node
    } else {
        step.key
    };
    document.node(at).span.start
}

/// Goes one step towards a field, and returns the rest of the path; none if there is no such step, or no path any more.
fn next_step<'a>(
    document: &Document,
    node: NodeId,
    path: &'a str,
    left: &mut usize,
) -> Option<(Step, &'a str)> {
    let path = path.strip_prefix('.').unwrap_or(path);
    if path.is_empty() || *left == 0 {
        return None;
    }
    match &document.node(node).content {
        Content::Scalar(_) => None,
        Content::Alias(_, target) => {
            *left -= 1;
            next_step(document, *target, path, left)
        }
        Content::Sequence(items) => {
            let (which, rest) = path.strip_prefix('[')?.split_once(']')?;
            let item = match which.parse::<usize>() {
                Ok(index) => *items.get(index)?,
                Err(_) => keyed_item(document, items, which)?,
            };
            Some((
                Step {
                    node: item,
                    key: item,
                },
                rest,
            ))
        }
        Content::Mapping(members) => {
            let mut longest: Option<(Step, &str)> = None;
            let mut merged = Vec::new();
            for (key, value) in members {
                let Content::Scalar(name) = &document.node(*key).content else {
                    continue;
                };
                if name.text == "<<" {
                    merged.push(*value);
                }
                let Some(rest) = rest_after(path, &name.text) else {
                    continue;
                };
                // The key that covers most of the path: keys have dots and brackets themselves. Of equal keys, the last
                // one counts.
                if longest.is_none_or(|(_, other)| rest.len() <= other.len()) {
                    let step = Step {
                        node: *value,
                        key: *key,
                    };
                    longest = Some((step, rest));
                }
            }
            longest.or_else(|| {
                merged.into_iter().find_map(|value| {
                    *left = left.checked_sub(1)?;
                    next_merged(document, value, path, left)
                })
            })
        }
    }
}

/// Returns the item of a list that has these keys, as server-side apply names it: `name="web"`, or `port=80,protocol="TCP"`.
/// Keys that have their default are not looked at.
fn keyed_item(document: &Document, items: &[NodeId], keys: &str) -> Option<NodeId> {
    let keys: Vec<(&str, &str)> = keys
        .split(',')
        .filter_map(|key| key.split_once('='))
        .map(|(key, value)| (key, value.trim_matches('"')))
        .collect();
    let text = |node: NodeId| match &document.node(node).content {
        Content::Scalar(scalar) => Some(&*scalar.text),
        _ => None,
    };
    let has_keys = |item: &&NodeId| {
        let Content::Mapping(members) = &document.node(**item).content else {
            return false;
        };
        let mut differs = keys.iter().filter(|(key, value)| {
            let mut own = members.iter().filter(|(name, _)| text(*name) == Some(key));
            own.any(|(_, own)| text(*own) != Some(value))
        });
        differs.next().is_none()
    };
    (!keys.is_empty()).then(|| items.iter().find(has_keys).copied())?
}

/// Goes one step within a mapping that is merged into another one, or within a list of such.
fn next_merged<'a>(
    document: &Document,
    node: NodeId,
    path: &'a str,
    left: &mut usize,
) -> Option<(Step, &'a str)> {
    match &document.node(node).content {
        Content::Sequence(items) => items.iter().find_map(|item| {
            *left = left.checked_sub(1)?;
            next_step(document, *item, path, left)
        }),
        _ => next_step(document, node, path, left),
    }
}

/// Returns the rest of a path that begins with a member of this name: `name`, `[name]` or `["name"]`.
fn rest_after<'a>(path: &'a str, name: &str) -> Option<&'a str> {
    if let Some(rest) = path.strip_prefix(name)
        && (rest.is_empty() || rest.starts_with(['.', '[']))
    {
        return Some(rest);
    }
    let inner = path.strip_prefix('[')?;
    for quote in ["", "\"", "'"] {
        let rest = inner
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_prefix(name))
            .and_then(|rest| rest.strip_prefix(quote))
            .and_then(|rest| rest.strip_prefix(']'));
        if rest.is_some() {
            return rest;
        }
    }
    None
}
