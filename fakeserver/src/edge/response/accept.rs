//! Content negotiation: selects the representation that the `Accept` header prefers.

use http::{HeaderMap, header};

use super::Format;
use crate::value::status::Status;

/// The shape of the requested answer; a representation of one shape is none of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One object.
    Object,
    /// A collection.
    List,
    /// A stream of events.
    Watch,
}

/// As what objects are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// As themselves.
    Object,
    /// As `PartialObjectMetadata`.
    Metadata,
    /// As `PartialObjectMetadataList`.
    MetadataList,
    /// As rows of a `Table`.
    Table,
}

/// The version of the kinds that are no kinds of the resource: tables and mere metadata.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum MetaVersion {
    #[default]
    V1,
    V1Beta1,
}

/// The negotiated representation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) format: Format,
    pub(crate) view: View,
    pub(crate) meta_version: MetaVersion,
}

/// The media types of every collection and object.
const KNOWN: &str = if cfg!(feature = "protobuf") {
    "application/json, application/yaml, application/vnd.kubernetes.protobuf"
} else {
    "application/json, application/yaml"
};
/// The media types of a stream of events.
const STREAMS: &str = if cfg!(feature = "protobuf") {
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
} else {
    "application/json;stream=watch"
};

/// The representations that a kind has beside JSON and YAML of its objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Served {
    pub(crate) protobuf: bool,
    pub(crate) tables: bool,
}

/// The first representation that `headers` accept and the server has.
pub(crate) fn negotiate(
    headers: &HeaderMap,
    shape: Shape,
    served: Served,
) -> Result<Accepted, Status> {
    let is_served = |format: Format, view: View| match format {
        _ if view == View::Table && !served.tables => false,
        Format::Json => true,
        Format::Yaml => shape != Shape::Watch,
        Format::Protobuf => served.protobuf,
    };
    first_of(headers, is_served).map_err(|is_known| match (is_known, shape) {
        (true, Shape::Watch) => Status::not_representable(only(STREAMS)),
        (true, _) => Status::not_representable(only(KNOWN)),
        // One route answers lists and watches.
        (false, Shape::List | Shape::Watch) => Status::not_acceptable(format!(
            "406: Not Acceptable\n\nAvailable representations: {KNOWN}, {STREAMS}"
        )),
        (false, Shape::Object) => unknown(),
    })
}

/// The first format that `headers` accept, of what can be shown as itself only.
pub(super) fn negotiate_plain(headers: &HeaderMap) -> Result<Format, Status> {
    let accepted = first_of(headers, |_, view| view == View::Object);
    accepted
        .map(|accepted| accepted.format)
        .map_err(|is_known| {
            if is_known {
                Status::not_representable(only(KNOWN))
            } else {
                unknown()
            }
        })
}

fn unknown() -> Status {
    Status::not_acceptable(format!(
        "406: Not Acceptable\n\nAvailable representations: {KNOWN}"
    ))
}

/// The first range that is served, or whether there was one of a known format at all.
fn first_of(
    headers: &HeaderMap,
    is_served: impl Fn(Format, View) -> bool,
) -> Result<Accepted, bool> {
    let ranges = media_ranges(headers);
    if ranges.is_empty() {
        return Ok(Accepted::default());
    }
    let mut is_known = false;
    for range in &ranges {
        let Some(format) = range.format() else {
            continue;
        };
        is_known = true;
        if let Some((view, meta_version)) = range.view(format)
            && is_served(format, view)
        {
            return Ok(Accepted {
                format,
                view,
                meta_version,
            });
        }
    }
    Err(is_known)
}

fn only(media_types: &str) -> String {
    format!("only the following media types are accepted: {media_types}")
}

/// Returns the format of a failure: the best one for objects that the client accepts, or JSON.
pub(crate) fn negotiate_failure(headers: &HeaderMap) -> Format {
    media_ranges(headers)
        .iter()
        .find_map(MediaRange::format)
        .unwrap_or(Format::Json)
}

/// Returns whether the `Accept` header asks for an answer that people can read.
pub(crate) fn accepts_pretty(headers: &HeaderMap) -> bool {
    let first = media_ranges(headers)
        .into_iter()
        .find(|range| range.format().is_some());
    first.is_some_and(|range| range.is_pretty)
}

/// Returns the accepted media ranges, the best first; equal ones in their order.
fn media_ranges(headers: &HeaderMap) -> Vec<MediaRange<'_>> {
    let mut ranges: Vec<MediaRange<'_>> = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|accept| accept.to_str().ok())
        .flat_map(|accept| accept.split(','))
        .filter(|range| !range.trim().is_empty())
        .map(MediaRange::parse)
        .collect();
    ranges.sort_by_key(|range| std::cmp::Reverse(range.quality));
    ranges
}

/// One of the alternatives in an `Accept` header.
struct MediaRange<'a> {
    media_type: &'a str,
    /// `as=...;g=meta.k8s.io;v=v1`: another kind than the object's own.
    convert_to: Option<&'a str>,
    group: Option<&'a str>,
    version: Option<&'a str>,
    is_pretty: bool,
    /// In thousandths.
    quality: u32,
}

// === impl MetaVersion ===

impl MetaVersion {
    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "v1" => Some(Self::V1),
            "v1beta1" => Some(Self::V1Beta1),
            _ => None,
        }
    }
}

// === impl Accepted ===

impl Default for Accepted {
    fn default() -> Self {
        Self {
            format: Format::Json,
            view: View::Object,
            meta_version: MetaVersion::V1,
        }
    }
}

// === impl MediaRange ===

impl<'a> MediaRange<'a> {
    fn parse(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let mut range = Self {
            media_type: parts.next().unwrap_or_default(),
            convert_to: None,
            group: None,
            version: None,
            is_pretty: false,
            quality: 1_000,
        };
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            match name {
                "as" => range.convert_to = Some(value),
                "g" => range.group = Some(value),
                "v" => range.version = Some(value),
                "pretty" => range.is_pretty = value == "1",
                "q" => range.quality = parse_quality(value),
                _ => {}
            }
        }
        range
    }

    fn format(&self) -> Option<Format> {
        match self.media_type {
            _ if self.quality == 0 => None,
            "application/json" | "*/*" => Some(Format::Json),
            "application/yaml" => Some(Format::Yaml),
            "application/vnd.kubernetes.protobuf" if cfg!(feature = "protobuf") => {
                Some(Format::Protobuf)
            }
            _ => None,
        }
    }

    /// Returns the requested view, if this format has such a view. Whether it fits what is asked is seen later.
    fn view(&self, format: Format) -> Option<(View, MetaVersion)> {
        let Some(kind) = self.convert_to else {
            return Some((View::Object, MetaVersion::V1));
        };
        if self.group != Some("meta.k8s.io") {
            return None;
        }
        let version = MetaVersion::parse(self.version?)?;
        let view = match kind {
            "Table" if format != Format::Protobuf => View::Table,
            "PartialObjectMetadata" => View::Metadata,
            "PartialObjectMetadataList" => View::MetadataList,
            _ => return None,
        };
        Some((view, version))
    }
}

/// `0.5` as 500. What cannot be read counts as fully wanted.
fn parse_quality(text: &str) -> u32 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction:0<3.3}");
    digits.parse().unwrap_or(1_000).min(1_000)
}
