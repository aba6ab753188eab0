//! Content negotiation: which representation the `Accept` header asks for, of those that there are.

use http::{HeaderMap, header};

use super::Representation;
use crate::status::Status;

/// What is asked for; a representation of one of these is not one of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One object, or a watch.
    Object,
    /// A collection.
    List,
}

const NONE_KNOWN: &str = "406: Not Acceptable\n\nAvailable representations: application/json, \
     application/yaml, application/vnd.kubernetes.protobuf";
const NONE_ACCEPTED: &str = "only the following media types are accepted: application/json, \
     application/yaml, application/vnd.kubernetes.protobuf";

/// The first representation that `headers` accept and the server has.
pub(crate) fn negotiate(headers: &HeaderMap, shape: Shape) -> Result<Representation, Status> {
    let mut ranges: Vec<MediaRange<'_>> = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|accept| accept.to_str().ok())
        .flat_map(|accept| accept.split(','))
        .filter(|range| !range.trim().is_empty())
        .map(MediaRange::parse)
        .collect();
    if ranges.is_empty() {
        return Ok(Representation::Object);
    }
    // Stable: what is wanted equally goes by order.
    ranges.sort_by_key(|range| std::cmp::Reverse(range.quality));
    let mut refusal = NONE_KNOWN;
    for range in ranges.iter().filter(|range| range.is_json()) {
        match range.representation(shape) {
            Some(representation) => return Ok(representation),
            None => refusal = NONE_ACCEPTED,
        }
    }
    Err(Status::not_acceptable(refusal))
}

/// One of the alternatives in an `Accept` header.
struct MediaRange<'a> {
    media_type: &'a str,
    /// `as=...;g=meta.k8s.io;v=v1`: another kind than the object's own.
    convert_to: Option<&'a str>,
    group: Option<&'a str>,
    version: Option<&'a str>,
    /// In thousandths.
    quality: u32,
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
            quality: 1_000,
        };
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            match name {
                "as" => range.convert_to = Some(value),
                "g" => range.group = Some(value),
                "v" => range.version = Some(value),
                "q" => range.quality = parse_quality(value),
                _ => {}
            }
        }
        range
    }

    fn is_json(&self) -> bool {
        self.quality > 0 && matches!(self.media_type, "application/json" | "*/*")
    }

    fn representation(&self, shape: Shape) -> Option<Representation> {
        let Some(kind) = self.convert_to else {
            return Some(Representation::Object);
        };
        let expected = match shape {
            Shape::Object => "PartialObjectMetadata",
            Shape::List => "PartialObjectMetadataList",
        };
        let is_known =
            kind == expected && self.group == Some("meta.k8s.io") && self.version == Some("v1");
        is_known.then_some(Representation::Metadata)
    }
}

/// `0.5` as 500. What cannot be read counts as fully wanted.
fn parse_quality(text: &str) -> u32 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction:0<3.3}");
    digits.parse().unwrap_or(1_000).min(1_000)
}
