//! An alternative in an `Accept` header.

use super::{
    Format,
    accept::{MetaVersion, View},
};

/// An accepted range of media types, with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Clause<'a> {
    kind: &'a str,
    subkind: &'a str,
    quality: f32,
    /// `as=...;g=meta.k8s.io;v=v1`: another kind than the object's own.
    pub(super) conversion: Option<Conversion<'a>>,
    pub(super) stream: &'a str,
    pub(super) server_version: &'a str,
    pub(super) is_pretty: bool,
    /// `drop=...`: fields that the answer leaves out, joined by `+`.
    drop: &'a str,
}

/// The fields that the parameter `drop` can name; others are ignored.
const DROPPED_FIELD: &str = "metadata.managedFields";

/// The requested kind of the representation, such as `Table`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Conversion<'a> {
    kind: &'a str,
    group: &'a str,
    version: &'a str,
}

// === impl Clause ===

impl<'a> Clause<'a> {
    /// Returns the clauses of a header, the best first.
    pub(super) fn parse_all(header: &'a str) -> Vec<Self> {
        let mut clauses: Vec<Self> = header.split(',').filter_map(Self::parse).collect();
        // The order of a real server is not one that a sort could use: what has no wildcard comes before what has one,
        // whatever their qualities are.
        for end in 1..clauses.len() {
            let mut at = end;
            while at > 0 && clauses[at].precedes(&clauses[at - 1]) {
                clauses.swap(at, at - 1);
                at -= 1;
            }
        }
        clauses
    }

    fn parse(text: &'a str) -> Option<Self> {
        let trimmed = |text: &'a str| text.trim_matches(' ');
        let (range, parameters) = text.split_once(';').unwrap_or((text, ""));
        let (kind, subkind) = match trimmed(range).split_once('/') {
            Some((_, subkind)) if subkind.contains('/') => return None,
            Some((kind, subkind)) if !subkind.is_empty() => (trimmed(kind), trimmed(subkind)),
            _ if trimmed(range).trim_end_matches('/') == "*" => ("*", "*"),
            _ => return None,
        };
        let mut clause = Self {
            kind,
            subkind,
            quality: 1.0,
            conversion: None,
            stream: "",
            server_version: "",
            is_pretty: false,
            drop: "",
        };
        for parameter in parameters.split(';') {
            match parameter.split_once('=') {
                Some((name, value)) if !value.is_empty() && !value.contains('=') => {
                    clause.set(trimmed(name), value);
                }
                _ => {}
            }
        }
        Some(clause)
    }

    fn set(&mut self, name: &str, value: &'a str) {
        let text = value.trim_matches(' ');
        match name {
            // An unparsable quality counts as zero.
            "q" => self.quality = value.parse().unwrap_or_default(),
            "as" => self.conversion.get_or_insert_default().kind = text,
            "g" => self.conversion.get_or_insert_default().group = text,
            "v" => self.conversion.get_or_insert_default().version = text,
            "stream" => self.stream = text,
            "sv" => self.server_version = text,
            "pretty" => self.is_pretty = text == "1",
            "drop" => self.drop = text,
            _ => {}
        }
    }

    /// Returns whether the client asks for objects without `metadata.managedFields`.
    pub(super) fn drops_managed_fields(&self) -> bool {
        self.drop.split('+').any(|field| field == DROPPED_FIELD)
    }

    fn precedes(&self, other: &Self) -> bool {
        self.quality > other.quality
            || (self.kind != "*" && other.kind == "*")
            || (self.subkind != "*" && other.subkind == "*")
    }

    /// Returns whether a format is within the range.
    pub(super) fn accepts(&self, format: Format) -> bool {
        match (self.kind, self.subkind) {
            ("*" | "application", "*") => true,
            ("application", subkind) => subkind == format.subtype(),
            _ => false,
        }
    }

    /// Returns the requested view. Whether it fits the request's shape is checked later.
    pub(super) fn view(&self) -> Option<(View, MetaVersion)> {
        let Some(conversion) = self.conversion else {
            return Some((View::Object, MetaVersion::V1));
        };
        if conversion.group != "meta.k8s.io" {
            return None;
        }
        let version = MetaVersion::parse(conversion.version)?;
        let view = match conversion.kind {
            "Table" => View::Table,
            "PartialObjectMetadata" => View::Metadata,
            "PartialObjectMetadataList" => View::MetadataList,
            _ => return None,
        };
        Some((view, version))
    }
}
