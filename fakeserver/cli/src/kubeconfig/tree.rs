//! YAML as a tree of nodes, each with its range of bytes in the text.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, StructureStyle, options};
use serde_json::{Map, Value};

/// A node of a document. Two nodes are equal if their contents are, regardless of style and position.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The bytes of the content, without anchor and tag. A collection in block style ends with its last leaf.
    pub(super) span: Range<usize>,
    pub(super) content: Content,
    /// The identifier of its anchor, and its tag.
    properties: (Option<usize>, Option<String>),
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Scalar {
        text: String,
        is_plain: bool,
    },
    /// The identifier of the anchor.
    Alias(usize),
    Sequence {
        is_flow: bool,
        items: Vec<Node>,
    },
    Mapping {
        is_flow: bool,
        pairs: Vec<(Node, Node)>,
    },
}

/// The events of a text that are left to read.
struct Reader<'a> {
    text: &'a str,
    events: Parser<'a, StrInput<'a>>,
}

/// Returns the root of the only document in `text`, or `None` if nothing but comments is there.
pub(super) fn parse(text: &str) -> Result<Option<Node>, String> {
    let options = options! { emit_comments: false };
    let events = Parser::new_from_str_with_options(text, options);
    Reader { text, events }.stream()
}

// === impl Reader ===

impl<'a> Reader<'a> {
    fn stream(&mut self) -> Result<Option<Node>, String> {
        let mut root = None;
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(root),
                (Event::StreamStart | Event::DocumentEnd, _) => {}
                (Event::DocumentStart(..), _) if root.is_none() => {
                    let (event, span) = self.next()?;
                    root = Some(self.node(event, span)?);
                }
                (Event::DocumentStart(..), _) => {
                    return Err("it has more than one document".to_owned());
                }
                (event, _) => return Err(format!("{event:?} is out of place")),
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), String> {
        match self.events.next_event() {
            Some(event) => event.map_err(|error| error.to_string()),
            None => Err("it ends too early".to_owned()),
        }
    }

    /// Returns the node that begins with `event`.
    fn node(&mut self, event: Event<'a>, span: Span) -> Result<Node, String> {
        let mut bytes = span
            .byte_range()
            .ok_or("the parser does not count bytes for it")?;
        let properties = (event.anchor_id(), event.tag().map(|tag| format!("{tag:?}")));
        let content = match event {
            Event::Scalar(text, style, ..) => Content::Scalar {
                text: text.into_owned(),
                is_plain: style == ScalarStyle::Plain,
            },
            Event::Alias(anchor) => Content::Alias(anchor),
            Event::SequenceStart(style, ..) => {
                let is_flow = style == StructureStyle::Flow;
                let mut items = Vec::new();
                let end = loop {
                    match self.next()? {
                        (Event::SequenceEnd, end) => break end,
                        (event, span) => items.push(self.node(event, span)?),
                    }
                };
                bytes.end = end_of(is_flow, &end, items.last(), bytes.end);
                Content::Sequence { is_flow, items }
            }
            Event::MappingStart(style, ..) => {
                let is_flow = style == StructureStyle::Flow;
                let mut pairs = Vec::new();
                let end = loop {
                    match self.next()? {
                        (Event::MappingEnd, end) => break end,
                        (event, span) => pairs.push(self.pair(event, span)?),
                    }
                };
                let last = pairs.last().map(|(_, value)| value);
                bytes.end = end_of(is_flow, &end, last, bytes.end);
                Content::Mapping { is_flow, pairs }
            }
            event => return Err(format!("{event:?} is out of place")),
        };
        Ok(Node {
            span: bytes,
            content,
            properties,
        })
    }

    /// Returns the pair whose key begins with `event`.
    fn pair(&mut self, event: Event<'a>, span: Span) -> Result<(Node, Node), String> {
        let key = self.node(event, span)?;
        let (event, span) = self.next()?;
        let mut value = self.node(event, span)?;
        if value.span.is_empty() && value.is_null() {
            // The parser puts a value that is left out before the colon.
            let rest = &self.text[key.span.end..];
            let trimmed = rest.trim_start_matches(' ');
            let at = match trimmed.strip_prefix(':') {
                Some(_) => key.span.end + rest.len() - trimmed.len() + 1,
                None => key.span.end,
            };
            value.span = at..at;
        }
        Ok((key, value))
    }
}

/// Returns where a collection ends: behind its bracket, or with its last leaf.
fn end_of(is_flow: bool, end: &Span, last: Option<&Node>, begin: usize) -> usize {
    let end = end.byte_range().map_or(begin, |bytes| bytes.end);
    match last {
        Some(last) if !is_flow => last.span.end,
        _ => end,
    }
}

// === impl Node ===

impl Node {
    /// Returns a node that says what `value` says, at no place.
    pub(super) fn from_value(value: &Value) -> Self {
        let content = match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Content::Scalar {
                text: value.to_string(),
                is_plain: true,
            },
            Value::String(text) => Content::Scalar {
                text: text.clone(),
                is_plain: false,
            },
            Value::Array(items) => Content::Sequence {
                is_flow: true,
                items: items.iter().map(Self::from_value).collect(),
            },
            Value::Object(fields) => {
                let pair = |(name, value): (&String, &Value)| {
                    (Self::from_text(name), Self::from_value(value))
                };
                Content::Mapping {
                    is_flow: true,
                    pairs: fields.iter().map(pair).collect(),
                }
            }
        };
        Self {
            span: 0..0,
            content,
            properties: (None, None),
        }
    }

    /// Returns a scalar that is a string, at no place.
    pub(super) fn from_text(text: &str) -> Self {
        Self::from_value(&Value::from(text))
    }

    /// Returns the value of the first pair with this key, if this is a mapping that has one.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let pair = self.pairs().iter().find(|(name, _)| name.is_text(key));
        pair.map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let mut pairs = self.pairs_mut()?.iter_mut();
        let pair = pairs.find(|(name, _)| name.is_text(key));
        pair.map(|(_, value)| value)
    }

    pub(super) fn pairs_mut(&mut self) -> Option<&mut Vec<(Self, Self)>> {
        match &mut self.content {
            Content::Mapping { pairs, .. } => Some(pairs),
            _ => None,
        }
    }

    /// Returns the pairs of a mapping; of others none.
    pub(super) fn pairs(&self) -> &[(Self, Self)] {
        match &self.content {
            Content::Mapping { pairs, .. } => pairs,
            _ => &[],
        }
    }

    /// Returns the items of a sequence; of others none.
    pub(super) fn items(&self) -> &[Self] {
        match &self.content {
            Content::Sequence { items, .. } => items,
            _ => &[],
        }
    }

    /// Returns the text of a scalar that is no null.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar { text, .. } if !self.is_null() => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_text(&self, expected: &str) -> bool {
        self.text() == Some(expected)
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar { text, is_plain: true }
            if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Tells whether nothing is in it: a null, an empty text or an empty collection.
    pub(super) fn is_empty(&self) -> bool {
        match &self.content {
            Content::Scalar { text, .. } => self.is_null() || text.is_empty(),
            Content::Alias(_) => false,
            Content::Sequence { items, .. } => items.is_empty(),
            Content::Mapping { pairs, .. } => pairs.is_empty(),
        }
    }

    /// Tells whether it may be used in another place of the document, too.
    pub(super) fn has_anchor(&self) -> bool {
        self.properties.0.is_some()
    }

    /// Returns it as JSON. An alias becomes null.
    pub(super) fn to_value(&self) -> Value {
        match &self.content {
            Content::Scalar { text, is_plain } => {
                let plain = is_plain.then(|| serde_json::from_str(text).ok()).flatten();
                plain.unwrap_or_else(|| Value::from(self.text()))
            }
            Content::Alias(_) => Value::Null,
            Content::Sequence { items, .. } => items.iter().map(Self::to_value).collect(),
            Content::Mapping { pairs, .. } => {
                let pair =
                    |(key, value): &(Self, Self)| Some((key.text()?.to_owned(), value.to_value()));
                pairs.iter().filter_map(pair).collect::<Map<_, _>>().into()
            }
        }
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.properties == other.properties && self.content == other.content
    }
}

// === impl Content ===

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Scalar { text, is_plain },
                Self::Scalar {
                    text: other,
                    is_plain: other_is_plain,
                },
            ) => text == other && is_string(text, *is_plain) == is_string(other, *other_is_plain),
            (Self::Alias(anchor), Self::Alias(other)) => anchor == other,
            (Self::Sequence { items, .. }, Self::Sequence { items: other, .. }) => items == other,
            (Self::Mapping { pairs, .. }, Self::Mapping { pairs: other, .. }) => pairs == other,
            _ => false,
        }
    }
}

/// Tells whether a scalar is a string, and no number, boolean or null.
fn is_string(text: &str, is_plain: bool) -> bool {
    let is_word = || {
        let words = ["", "~", "null", "true", "false", ".nan"];
        words.iter().any(|word| text.eq_ignore_ascii_case(word))
    };
    let is_number = || {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0o"));
        text.parse::<f64>().is_ok()
            || digits.is_some_and(|digits| u64::from_str_radix(digits, 16).is_ok())
    };
    !is_plain || !(is_word() || is_number())
}
