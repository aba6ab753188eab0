//! Answers: their negotiated form, and those to writes.

use axum::response::Response;
use fakeserver_kinds::printer::Printer;
use fakeserver_value::{
    parse::internal_package,
    resource::GroupVersionKind,
    schema::type_in,
    status::{Status, Success, warning_headers},
};
use http::{StatusCode, header};
use serde_json::Value;

use super::{Api, Request, reviews::Review, usage_metrics::MetricsKind};
use crate::{
    edge::response::{
        Delivery, Encoding, IncludeObject, Representation, ServedForms, Shape, TableView, View,
        negotiate,
    },
    write::{Outcome, Target},
};

/// Returns the form of the answer that the client accepts.
pub(super) fn encoding(api: &Api, request: &Request<'_>, shape: Shape) -> Result<Encoding, Status> {
    let target = &request.target;
    let encoding = encoding_of(api, request, &target.resource.group_version_kind(), shape)?;
    let encoding = match target.resource.converted_form() {
        Some(form) => encoding.with_form(form),
        None => encoding,
    };
    let has_own_fields = api.backend.writers.has_only(target.resource.kubernetes);
    let encoding = if has_own_fields || target.rules().is_custom() {
        encoding
    } else {
        encoding.dropping_unknown()
    };
    Ok(match target.rules().as_custom() {
        Some(custom) => encoding
            .with_whole_items()
            .with_custom(custom)
            .with_list_kind(target.resource.list_kind.clone()),
        None => encoding,
    })
}

/// Returns whether responses have a table form. Reviews, commands and usage metrics have none.
fn has_tables(target: &Target) -> bool {
    Review::of(target).is_none()
        && MetricsKind::of(target).is_none()
        && !matches!(target.subresource(), "token" | "eviction" | "binding")
}

/// Returns the encoding of a response whose kind is not the resource's.
pub(super) fn encoding_of(
    api: &Api,
    request: &Request<'_>,
    kind: &GroupVersionKind,
    shape: Shape,
) -> Result<Encoding, Status> {
    let kubernetes = request.target.resource.kubernetes;
    let served = ServedForms {
        media_types: api.media_types,
        is_routed: !request.target.rules().is_custom(),
        protobuf: type_in(kubernetes, &kind.group, &kind.version, &kind.kind).is_some(),
        tables: has_tables(&request.target),
        drops_managed_fields: request.features.drops_managed_fields,
    };
    let accepted = negotiate(request.headers, shape, served)?;
    if let Some(why) = unsupported_view(accepted.view, shape) {
        let go_type = go_type(&request.target, kind, shape);
        return Err(Status::not_representable(format!("{why} ({go_type})")));
    }
    let representation = match accepted.view {
        View::Metadata | View::MetadataList => Representation::Metadata,
        View::Object | View::Table => Representation::Object,
    };
    let encoding = Encoding::new(&kind.kind, &kind.api_version(), representation)
        .of_kubernetes(kubernetes)
        .in_format(accepted.format)
        .in_meta_version(accepted.meta_version);
    let encoding = if accepted.drops_managed_fields {
        encoding.without_managed_fields()
    } else {
        encoding
    };
    if accepted.view != View::Table {
        return Ok(encoding);
    }
    let include = request.query.get("includeObject").unwrap_or_default();
    let include = IncludeObject::parse(include).ok_or_else(|| {
        Status::bad_request(format!(
            "Unable to convert to Table as requested: includeObject: Invalid value: {include:?}: must be \
             'Metadata', 'Object', 'None', or empty"
        ))
    })?;
    let printer = Printer::of(&request.target.resource);
    Ok(encoding.with_table(TableView::new(printer, include, api.backend.clock)))
}

/// Returns the delivery of an answer in `encoding`.
pub(super) fn delivery(request: &Request<'_>, encoding: &Encoding) -> Delivery {
    Delivery::new(encoding.format(), &request.query, request.headers)
}

/// Answers a write that succeeded.
pub(super) fn written(
    request: &Request<'_>,
    code: StatusCode,
    encoding: &Encoding,
    outcome: &Outcome,
    warnings: &[String],
) -> Response {
    let body = match outcome {
        Outcome::Stored(object) => encoding.object(object),
        Outcome::Object(object) | Outcome::Deleted(object) => encoding.value(object),
    };
    let mut response = delivery(request, encoding).whole(code, body);
    add_warnings(&mut response, warnings);
    response
}

/// Answers a request whose object is not stored. `warnings` are those of decoding, which errors include too.
pub(super) fn answered(
    request: &Request<'_>,
    encoding: &Encoding,
    mut warnings: Vec<String>,
    answer: Result<(Value, Vec<String>), Status>,
) -> Result<Response, Status> {
    let (object, admission_warnings) = answer.map_err(|status| status.after(&warnings))?;
    warnings.extend(admission_warnings);
    let outcome = Outcome::Object(object);
    Ok(written(
        request,
        StatusCode::CREATED,
        encoding,
        &outcome,
        &warnings,
    ))
}

/// Answers a request that leaves no object.
pub(super) fn succeeded(
    request: &Request<'_>,
    code: StatusCode,
    encoding: &Encoding,
    success: &Success,
) -> Response {
    delivery(request, encoding).negotiated(code, success.to_json())
}

/// Adds warnings to an answer.
pub(super) fn add_warnings(response: &mut Response, warnings: &[String]) {
    for warning in warning_headers(warnings) {
        response.headers_mut().append(header::WARNING, warning);
    }
}

/// Returns the reason why a shape cannot be represented as a view.
fn unsupported_view(view: View, shape: Shape) -> Option<&'static str> {
    match (view, shape) {
        (View::Metadata, Shape::List) => {
            Some("you requested PartialObjectMetadata, but the requested object is a list")
        }
        (View::MetadataList, Shape::Object | Shape::Watch) => {
            Some("you requested PartialObjectMetadataList, but the requested object is not a list")
        }
        _ => None,
    }
}

/// Returns the Go type of the objects in a real server.
fn go_type(target: &Target, kind: &GroupVersionKind, shape: Shape) -> String {
    let list = match shape {
        Shape::List => "List",
        Shape::Object | Shape::Watch => "",
    };
    if target.rules().as_custom().is_some() {
        return format!("*unstructured.Unstructured{list}");
    }
    let package = internal_package(&kind.group);
    format!("*{package}.{}{list}", kind.kind)
}
