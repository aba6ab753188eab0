//! Content negotiation: selects the representation that the `Accept` header prefers.

use fakeserver_value::status::Status;
use http::{HeaderMap, header};

use super::{Format, clause::Clause};
use crate::edge::request::{MediaTypes, header_text};

/// The shape of the requested response. Each representation has one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One object.
    Object,
    /// A collection.
    List,
    /// A stream of events.
    Watch,
}

/// The representation of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// The objects themselves.
    Object,
    /// `PartialObjectMetadata`.
    Metadata,
    /// `PartialObjectMetadataList`.
    MetadataList,
    /// Rows of a `Table`.
    Table,
}

/// The version of `meta.k8s.io` for tables and partial metadata.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum MetaVersion {
    #[default]
    V1,
    V1Beta1,
}

/// The negotiated representation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NegotiatedForm {
    pub(crate) format: Format,
    pub(crate) view: View,
    pub(crate) meta_version: MetaVersion,
    /// True if objects come without `metadata.managedFields`.
    pub(crate) drops_managed_fields: bool,
}

/// The representations of a kind beside JSON and YAML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a form of answers, and independent of the others"
)]
pub(crate) struct ServedForms {
    pub(crate) media_types: MediaTypes,
    pub(crate) protobuf: bool,
    pub(crate) tables: bool,
    /// True if clients can ask for objects without `metadata.managedFields`.
    pub(crate) drops_managed_fields: bool,
    /// True for built-in kinds, whose router rejects media types that none of them serves before the handler
    /// negotiates.
    pub(crate) is_routed: bool,
}

/// The first representation that `headers` accept and the server has.
pub(crate) fn negotiate(
    headers: &HeaderMap,
    shape: Shape,
    served: ServedForms,
) -> Result<NegotiatedForm, Status> {
    let media_types = served.media_types;
    if served.is_routed {
        let mut produced = media_types.of_objects();
        // Lists and watches share a route, so it accepts the media types of both.
        if shape != Shape::Object {
            produced.extend(media_types.of_streams());
        }
        check_route(headers, &produced)?;
    }
    let accepted = first_of(headers, media_types, |clause, format| {
        if !matches!(clause.server_version, "" | "v1") {
            return None;
        }
        let (view, meta_version) = clause.view()?;
        let is_served = match view {
            View::Object => format != Format::Protobuf || served.protobuf,
            View::Table => served.tables && matches!(format, Format::Json | Format::Yaml),
            View::Metadata | View::MetadataList => true,
        };
        is_served.then_some(NegotiatedForm {
            format,
            view,
            meta_version,
            drops_managed_fields: served.drops_managed_fields && clause.drops_managed_fields(),
        })
    });
    let accepted = accepted.ok_or_else(|| only(&media_types.of_objects()))?;
    if shape == Shape::Watch && !accepted.format.has_streams() {
        return Err(only(&media_types.of_streams()));
    }
    Ok(accepted)
}

/// Negotiates the format of a document that has no tables and no partial metadata.
pub(super) fn negotiate_plain(
    headers: &HeaderMap,
    media_types: MediaTypes,
    is_routed: bool,
) -> Result<Format, Status> {
    if is_routed {
        check_route(headers, &media_types.of_objects())?;
    }
    let format = first_plain(headers, media_types);
    format.ok_or_else(|| only(&media_types.of_objects()))
}

/// Returns the format of a failure: the best one for objects that the client accepts, or nothing.
pub(super) fn negotiate_failure(headers: &HeaderMap, media_types: MediaTypes) -> Option<Format> {
    first_plain(headers, media_types)
}

/// Returns whether the `Accept` header asks for pretty-printed output.
pub(crate) fn accepts_pretty(headers: &HeaderMap) -> bool {
    let clauses = Clause::parse_all(accept(headers));
    let first = clauses.iter().find(|clause| {
        let formats = Format::ALL.into_iter();
        formats.into_iter().any(|format| clause.accepts(format))
    });
    first.is_some_and(|clause| clause.is_pretty)
}

/// Returns the first format that is accepted for what has one view.
fn first_plain(headers: &HeaderMap, media_types: MediaTypes) -> Option<Format> {
    let accepted = first_of(headers, media_types, |clause, format| {
        let is_plain = clause.server_version.is_empty() && clause.conversion.is_none();
        is_plain.then_some(NegotiatedForm {
            format,
            ..NegotiatedForm::default()
        })
    });
    accepted.map(|accepted| accepted.format)
}

/// Returns the first of the accepted representations that `serve` has.
fn first_of(
    headers: &HeaderMap,
    media_types: MediaTypes,
    serve: impl Fn(&Clause<'_>, Format) -> Option<NegotiatedForm>,
) -> Option<NegotiatedForm> {
    let accept = accept(headers);
    if accept.is_empty() {
        return Some(NegotiatedForm::default());
    }
    let clauses = Clause::parse_all(accept);
    clauses.iter().find_map(|clause| {
        let formats = Format::ALL.into_iter();
        let mut matching = formats.filter(|format| format.is_of(media_types));
        matching.find_map(|format| {
            let streams =
                clause.stream.is_empty() || (clause.stream == "watch" && format.has_streams());
            let accepts = clause.accepts(format) && streams;
            accepts.then(|| serve(clause, format)).flatten()
        })
    })
}

/// Refuses a header that names none of the types that a route produces. Its parameters do not count.
pub(crate) fn check_route(headers: &HeaderMap, produced: &[&str]) -> Result<(), Status> {
    let accept = accept(headers);
    let mut types = accept.split(',').map(|clause| {
        let media_type = clause.split(';').next().unwrap_or_default();
        media_type.trim_matches(' ')
    });
    if accept.is_empty() || types.any(|named| named == "*/*" || produced.contains(&named)) {
        return Ok(());
    }
    Err(Status::not_acceptable(format!(
        "406: Not Acceptable\n\nAvailable representations: {}",
        produced.join(", ")
    )))
}

/// Returns the header without the spaces around it.
fn accept(headers: &HeaderMap) -> &str {
    header_text(headers, header::ACCEPT).trim_matches([' ', '\t'])
}

fn only(media_types: &[&str]) -> Status {
    Status::not_representable(format!(
        "only the following media types are accepted: {}",
        media_types.join(", ")
    ))
}

// === impl MetaVersion ===

impl MetaVersion {
    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "v1" => Some(Self::V1),
            "v1beta1" => Some(Self::V1Beta1),
            _ => None,
        }
    }
}

// === impl NegotiatedForm ===

impl Default for NegotiatedForm {
    fn default() -> Self {
        Self {
            format: Format::Json,
            view: View::Object,
            meta_version: MetaVersion::V1,
            drops_managed_fields: false,
        }
    }
}
