//! The nodes of a document: scalars, sequences and mappings, and aliases of them.

use std::{
    borrow::Cow,
    cell::Cell,
    collections::BTreeMap,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    str::Utf8Error,
};

use libyaml_safer::{
    Error, ErrorKind, Event, EventData, MappingStyle, Mark, Parser, ScalarStyle, SequenceStyle,
};
use serde_json::Value;

use crate::json::DEPTH_MAX;

use super::{decode::decode, limits::check_directives, lines::Lines};

/// The error of nodes that stand in too many others, in the words of a real server.
pub(super) const TOO_DEEP: &str = "yaml: exceeded max depth of 10000";

/// The error of a text that ends within quotes.
const UNCLOSED: &str = "found unexpected end of stream";

/// The index of a node in its document.
pub type NodeId = usize;

/// A part of a document.
#[derive(Debug)]
pub struct Node {
    /// The line of its beginning, counted from 1.
    pub(super) line: u64,
    /// Its bytes, with its anchor and tag. A collection in block style ends with its last leaf.
    pub span: Range<usize>,
    /// True for a collection within brackets.
    pub is_flow: bool,
    pub content: Content,
}

#[derive(Debug)]
pub enum Content {
    Scalar(Scalar),
    /// Another node, by its anchor.
    Alias(String, NodeId),
    Sequence(Vec<NodeId>),
    Mapping(Vec<(NodeId, NodeId)>),
}

#[derive(Debug)]
pub struct Scalar {
    pub(super) tag: String,
    pub text: String,
    /// True if the text decides on its type: it is not quoted, and has no tag.
    pub(super) is_plain: bool,
}

/// The first document of a text.
#[derive(Debug, Default)]
pub struct Document {
    nodes: Vec<Node>,
    /// The number of bytes of its text.
    pub(super) length: usize,
    /// The node that all others are part of; none if the text is empty.
    pub root: Option<NodeId>,
}

/// The part of a text that is read, and the versions of YAML that it may name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// The first document, of version 1.1.
    First,
    /// The only document, of any version that the parser knows.
    Only,
}

/// The events of a text, of which nodes are made.
struct Reader<'a> {
    events: Parser<Lines<'a>>,
    document: Document,
    extent: Extent,
    /// The line of the end of the text, if a line break was added there.
    added_end: Option<u64>,
    anchors: BTreeMap<String, NodeId>,
}

// === impl Document ===

impl Document {
    /// Parses the first document of a text, and ignores the rest.
    ///
    /// # Errors
    ///
    /// The text is no YAML, in the words of a real server.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        Self::read(bytes, Extent::First)
    }

    /// Reads a text that is one document. Without a line break at its end it is read as if it had one.
    ///
    /// # Errors
    ///
    /// The text is no YAML, in the words of a real server, or it has more than one document.
    pub fn parse_single(text: &str) -> Result<Self, String> {
        Self::read(text.as_bytes(), Extent::Only)
    }

    fn read(bytes: &[u8], extent: Extent) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| format!("yaml: {}", undecodable(bytes, error)))?;
        if text.chars().any(is_control) {
            return Err("yaml: control characters are not allowed".to_owned());
        }
        check_directives(text)?;
        // The parser panics at the end of some texts without a line break.
        let breaks = text.matches('\n').count() as u64;
        let (text, added_end) = if bytes.is_empty() || bytes.ends_with(b"\n") {
            (Cow::Borrowed(bytes), None)
        } else {
            (Cow::Owned([bytes, b"\n"].concat()), Some(breaks + 1))
        };
        let begun = Cell::new(0);
        let mut events = Parser::new();
        events.set_input(Lines::new(&text, &begun));
        let reader = Reader {
            events,
            document: Self {
                length: bytes.len(),
                ..Self::default()
            },
            extent,
            added_end,
            anchors: BTreeMap::new(),
        };
        // It also panics where a comma follows a tag.
        let read = catch_unwind(AssertUnwindSafe(|| reader.document()));
        read.unwrap_or_else(|_| {
            let problem = "did not find expected whitespace or line break";
            let line = begun.get().saturating_sub(1);
            Err(at_line(if line == 0 { 0 } else { line + 1 }, problem))
        })
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    /// Returns its value as JSON; of equal keys, the last one counts.
    ///
    /// # Errors
    ///
    /// No JSON can be made of it, in the words of a real server.
    pub fn value(&self) -> Result<Value, String> {
        decode(self)?.value.into_json()
    }
}

// === impl Reader ===

impl Reader<'_> {
    /// Reads the first document.
    fn document(mut self) -> Result<Document, String> {
        self.next()?;
        let start = self.next()?;
        let EventData::DocumentStart {
            version_directive, ..
        } = &start.data
        else {
            return Ok(self.document);
        };
        if self.extent == Extent::First
            && version_directive.is_some_and(|version| (version.major, version.minor) != (1, 1))
        {
            let line = start.start_mark.line;
            return Err(at_line(line, "found incompatible YAML document"));
        }
        let root = self.next()?;
        self.document.root = Some(self.node(root, 0)?);
        self.next()?;
        if self.extent == Extent::Only && !matches!(self.next()?.data, EventData::StreamEnd) {
            return Err("it has more than one document".to_owned());
        }
        Ok(self.document)
    }

    fn next(&mut self) -> Result<Event, String> {
        let event = self.events.parse();
        event.map_err(|error| in_go_words(&error, self.added_end))
    }

    /// Reads the node that begins with an event.
    fn node(&mut self, event: Event, depth: usize) -> Result<NodeId, String> {
        if depth > DEPTH_MAX {
            return Err(TOO_DEEP.to_owned());
        }
        let start = event.start_mark;
        let end = event.end_mark;
        match event.data {
            EventData::Alias { anchor } => {
                let Some(target) = self.anchors.get(&anchor).copied() else {
                    return Err(format!("yaml: unknown anchor '{anchor}' referenced"));
                };
                let id = self.begin(start, false, None);
                Ok(self.end(id, Content::Alias(anchor, target), end))
            }
            EventData::Scalar {
                anchor,
                tag,
                value,
                plain_implicit,
                style,
                ..
            } => {
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let mut value = value;
                let ends_there = self.extent == Extent::First && self.added_end == Some(end.line);
                if is_block && ends_there {
                    // The line break at its end is the added one.
                    value.truncate(value.trim_end_matches('\n').len());
                }
                let scalar = Scalar {
                    tag: tag.unwrap_or_default(),
                    text: value,
                    is_plain: plain_implicit,
                };
                let id = self.begin(start, false, anchor);
                Ok(self.end(id, Content::Scalar(scalar), end))
            }
            EventData::SequenceStart { anchor, style, .. } => {
                let id = self.begin(start, style == SequenceStyle::Flow, anchor);
                let (items, end) = self.children(depth)?;
                Ok(self.end(id, Content::Sequence(items), end))
            }
            EventData::MappingStart { anchor, style, .. } => {
                let id = self.begin(start, style == MappingStyle::Flow, anchor);
                let (children, end) = self.children(depth)?;
                let members = children.chunks_exact(2).map(|pair| (pair[0], pair[1]));
                Ok(self.end(id, Content::Mapping(members.collect()), end))
            }
            _ => unreachable!("a parser gives a node where one begins"),
        }
    }

    /// Reads the nodes up to the end of a sequence or a mapping.
    fn children(&mut self, depth: usize) -> Result<(Vec<NodeId>, Mark), String> {
        let mut children = Vec::new();
        loop {
            let event = self.next()?;
            if matches!(event.data, EventData::SequenceEnd | EventData::MappingEnd) {
                return Ok((children, event.end_mark));
            }
            children.push(self.node(event, depth + 1)?);
        }
    }

    /// Adds a node without its content, as its children may be aliases of it.
    fn begin(&mut self, start: Mark, is_flow: bool, anchor: Option<String>) -> NodeId {
        let id = self.document.nodes.len();
        let at = self.place(start);
        self.document.nodes.push(Node {
            line: start.line + 1,
            span: at..at,
            is_flow,
            content: Content::Sequence(Vec::new()),
        });
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, id);
        }
        id
    }

    fn end(&mut self, id: NodeId, content: Content, end: Mark) -> NodeId {
        let last = match &content {
            Content::Sequence(items) => items.last(),
            Content::Mapping(members) => members.last().map(|(_, value)| value),
            Content::Scalar(_) | Content::Alias(..) => None,
        };
        let end = match last {
            // The parser has it end where the next node begins.
            Some(last) if !self.document.nodes[id].is_flow => self.document.nodes[*last].span.end,
            _ => self.place(end),
        };
        let node = &mut self.document.nodes[id];
        node.span.end = end;
        node.content = content;
        id
    }

    /// Returns the place of a mark in the text, which the added line break is no part of.
    fn place(&self, mark: Mark) -> usize {
        usize::try_from(mark.index).map_or(self.document.length, |index| {
            index.min(self.document.length)
        })
    }
}

/// Returns an error of the parser in the words of a real server.
///
/// Lines count from 0, and line 0 is omitted. The scanner of a real server adds one to the line, its parser does not.
fn in_go_words(error: &Error, added_end: Option<u64>) -> String {
    let line_of = |mark: Option<Mark>| mark.map_or(0, |mark| mark.line);
    let is_of_scanner = error.kind() == ErrorKind::Scanner;
    let found = match line_of(error.problem_mark()) {
        // The scanner does not count the end of a text as a line.
        line if is_of_scanner && added_end == Some(line) && error.problem() == UNCLOSED => line - 1,
        line => line,
    };
    let line = match found {
        0 => line_of(error.context_mark()),
        line if is_of_scanner => line + 1,
        line => line,
    };
    at_line(line, error.problem())
}

fn at_line(line: u64, problem: &str) -> String {
    match line {
        0 => format!("yaml: {problem}"),
        line => format!("yaml: line {line}: {problem}"),
    }
}

/// Returns the error of bytes that are no UTF-8.
fn undecodable(bytes: &[u8], error: Utf8Error) -> &'static str {
    let rest = &bytes[error.valid_up_to()..];
    let width = match rest[0] {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => return "invalid leading UTF-8 octet",
    };
    if rest.len() < width {
        return "incomplete UTF-8 octet sequence";
    }
    let is_trailing = |byte: &u8| byte & 0xc0 == 0x80;
    if !rest[1..width].iter().all(is_trailing) {
        return "invalid trailing UTF-8 octet";
    }
    // A longer sequence than the character needs, or a character that there is not.
    let is_too_long = matches!(
        rest[..2],
        [0xc0 | 0xc1, _] | [0xe0, ..0xa0] | [0xf0, ..0x90]
    );
    if is_too_long {
        "invalid length of a UTF-8 sequence"
    } else {
        "invalid Unicode character"
    }
}

/// Returns whether a text may not have a character.
fn is_control(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        c => c.is_control(),
    }
}
