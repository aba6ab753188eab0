//! PATCH: JSON patches (RFC 6902), merge patches (RFC 7386) and strategic merge patches.

use axum::response::Response;
use fakeserver_kinds::custom_resources::read_metadata;
use fakeserver_value::{
    go_text::plain,
    json::{json_type, parse_value},
    patch::{PatchError, consumed, merge_document, merge_strategically, touched_by},
    resource::GroupVersionKind,
    schema::{
        PatchedParts, decode, duplicate_fields, print_in_go_order, schemas_in, type_in, types_in,
    },
    status::{FieldError, Status},
};
use fakeserver_versions::KubernetesVersion;
use http::StatusCode;
use serde_json::{Value, json};

use super::{
    Api, Request, answer, apply,
    author::author,
    duplicate_owners::{AFTER_ADMISSION, drop_duplicate_owners},
    inert::inert_warning,
    patch_operations::{apply_operations, check_operation, undecodable, unknown_members},
};
use crate::{
    edge::{
        request::{PatchType, parse_patch, patch_type, write_options},
        response::Shape,
    },
    write::{Attempt, Draft, FieldValidation, ReceivedObject, Source, Target, data_text, run},
};

/// The maximum number of operations in a JSON patch.
const OPERATIONS_MAX: usize = 10_000;

/// A patch that was read, and is to be applied.
enum Change {
    Json(Vec<Value>),
    Merge(Value),
    Strategic(Value),
}

/// Applies the patch in `body`.
pub(super) async fn patch(
    api: &Api,
    request: &Request<'_>,
    body: &[u8],
) -> Result<Response, Status> {
    let kind = request.target.resource.group_version_kind();
    let is_custom = request.target.rules().is_custom();
    let patch_type = patch_type(request.headers, api.media_types, is_custom)?;
    if patch_type.is_apply() {
        return apply::apply(api, request, patch_type, body).await;
    }
    let encoding = answer::encoding(api, request, Shape::Object)?;
    let options = write_options(&request.query, "PatchOptions")?;
    let target = &request.target;
    let mut warnings = Vec::new();
    let work = |attempt: &mut Attempt<'_, '_>| {
        // In the attempt: a patch is applied to the latest version each time, so that it conflicts with no other write.
        let existing = attempt.existing(target)?;
        let validation = options.validation();
        let received = receive_patched(
            target,
            patch_type,
            &kind,
            &existing.object,
            body,
            validation,
        )?;
        // Replaced, not extended: the warnings of an earlier attempt are about another version.
        warnings = received.warnings;
        let mut object = received.object;
        target.set_namespace(&mut object)?;
        target.check_name(&object)?;
        warnings.extend(drop_duplicate_owners(&mut object, AFTER_ADMISSION));
        let author = author(request, &options);
        let text = match patch_type {
            PatchType::Strategic => None,
            _ => data_text::patched(target, &existing.stored, &object),
        };
        let draft = Draft::update(target, author, existing, object, Source::Patch, attempt)?;
        let draft = draft.with_data_text(text);
        run(attempt, draft)
    };
    let written = api.backend.write(target, &options, work).await;
    let (outcome, admission_warnings) = written.map_err(|status| status.after(&warnings))?;
    warnings.extend(admission_warnings);
    warnings.extend(inert_warning(api, request, &outcome));
    Ok(answer::written(
        request,
        StatusCode::OK,
        &encoding,
        &outcome,
        &warnings,
    ))
}

/// Applies the patch in `body` to `object` of a kind, and decodes the result.
pub(super) fn receive_patched(
    target: &Target,
    patch_type: PatchType,
    kind: &GroupVersionKind,
    object: &Value,
    body: &[u8],
    validation: FieldValidation,
) -> Result<ReceivedObject, Status> {
    let change = match validation {
        FieldValidation::Ignore => Change::parse_unvalidated(patch_type, body),
        FieldValidation::Warn | FieldValidation::Strict => Change::parse(patch_type, body),
    };
    change?.receive(target, kind, object, body, validation)
}

// === impl Change ===

impl Change {
    fn parse(patch_type: PatchType, body: &[u8]) -> Result<Self, Status> {
        if patch_type == PatchType::Strategic {
            return match parse_value(body).map_err(Status::bad_request)? {
                patch @ Value::Object(_) => Ok(Self::Strategic(patch)),
                Value::Null => Ok(Self::Strategic(json!({}))),
                other => Err(Status::bad_request(format!(
                    "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                    json_type(&other)
                ))),
            };
        }
        let patch = parse_patch(body)?;
        match (patch_type, patch) {
            (PatchType::Merge, patch @ Value::Object(_)) => Ok(Self::Merge(patch)),
            (PatchType::Json, Value::Array(operations)) if operations.len() > OPERATIONS_MAX => {
                Err(Status::too_large(&format!(
                    "The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {}",
                    operations.len()
                )))
            }
            (PatchType::Json, Value::Array(operations)) => {
                operations.iter().try_for_each(check_operation)?;
                Ok(Self::Json(operations))
            }
            (PatchType::Json, Value::Null) => Ok(Self::Json(Vec::new())),
            (PatchType::Json, other) => Err(undecodable(&format!(
                "json: cannot unmarshal {} into Go value of type []handlers.jsonPatchOp",
                json_type(&other)
            ))),
            (_, Value::Null) => Err(Status::bad_request("Invalid JSON Patch")),
            (_, other) => Err(undecodable(&format!(
                "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                json_type(&other)
            ))),
        }
    }

    /// Parses a patch without field validation, whose errors have other texts.
    fn parse_unvalidated(patch_type: PatchType, body: &[u8]) -> Result<Self, Status> {
        let bad = |why: String| Err(Status::bad_request(why));
        let unfit = |value: &Value, go: &str| {
            format!(
                "json: cannot unmarshal {} into Go value of type jsonpatch.{go}",
                json_type(value)
            )
        };
        match (patch_type, parse_value(body)) {
            (PatchType::Merge, Ok(patch @ (Value::Object(_) | Value::Array(_)))) => {
                Ok(Self::Merge(patch))
            }
            (PatchType::Merge, _) => bad("Invalid JSON Patch".to_owned()),
            (PatchType::Json, Err(why)) => bad(why),
            (PatchType::Json, Ok(Value::Array(operations))) => {
                let is_none = |operation: &&Value| !operation.is_object() && !operation.is_null();
                match operations.iter().find(is_none) {
                    Some(other) => bad(unfit(other, "Operation")),
                    None => Self::parse(patch_type, body),
                }
            }
            (PatchType::Json, Ok(other)) if !other.is_null() => bad(unfit(&other, "Patch")),
            _ => Self::parse(patch_type, body),
        }
    }

    fn apply(
        &self,
        kubernetes: KubernetesVersion,
        kind: &GroupVersionKind,
        mut object: Value,
    ) -> Result<Value, Status> {
        match self {
            Self::Merge(patch) => {
                merge_document(&mut object, patch);
                Ok(object)
            }
            Self::Json(operations) => {
                apply_operations(&mut object, operations)?;
                Ok(object)
            }
            Self::Strategic(patch) => {
                let schema = schemas_in(kubernetes)
                    .of_kind(&kind.group, &kind.version, &kind.kind)
                    .expect("only types with a schema take such patches");
                merge_strategically(object, patch.clone(), schema).map_err(|error| refused(&error))
            }
        }
    }

    /// Applies the patch to an object, and reads what it makes as an object again.
    fn receive(
        &self,
        target: &Target,
        kind: &GroupVersionKind,
        object: &Value,
        body: &[u8],
        validation: FieldValidation,
    ) -> Result<ReceivedObject, Status> {
        let kubernetes = target.resource.kubernetes;
        let patched = self.apply(kubernetes, kind, object.clone())?;
        if target.rules().is_custom() {
            self.check_type_meta(target, kind, object, &patched)?;
        }
        let text = match self {
            Self::Strategic(_) => String::new(),
            Self::Json(_) | Self::Merge(_) => self.printed(kubernetes, kind, object, &patched),
        };
        let invalid = |why: &str| {
            let made = match self {
                Self::Strategic(patch) => &plain(&consumed(patch, object)),
                Self::Json(_) | Self::Merge(_) => &text,
            };
            let error = FieldError::invalid("patch", &json!(made), why);
            Status::invalid("", "", "", &[error])
        };
        let is_silent = validation == FieldValidation::Ignore;
        let reading = if is_silent {
            FieldValidation::Ignore
        } else {
            FieldValidation::Warn
        };
        let read = match self {
            Self::Strategic(_) => target.read_value(kind, patched, reading),
            Self::Json(_) | Self::Merge(_) => match unversioned(target, kind, &patched, reading) {
                Some(received) => Ok(received),
                None => target
                    .read_patched(kind, patched.clone(), &text, reading)
                    .map_err(|why| kind_mismatch(kubernetes, kind, &patched).unwrap_or(why)),
            },
        };
        let mut received = read.map_err(|why| invalid(&why))?;
        if !is_silent {
            // Duplicate fields of the patch come before those of the result.
            let twice = duplicate_fields(body).unwrap_or_default();
            let twice = twice.iter().map(ToString::to_string);
            let warnings: Vec<String> = match self {
                Self::Json(operations) => (twice.chain(unknown_members(operations)))
                    .map(|what| format!("json patch {what}"))
                    .collect(),
                Self::Merge(_) | Self::Strategic(_) => twice.collect(),
            };
            received.warnings.splice(0..0, warnings);
        }
        if validation == FieldValidation::Strict && !received.warnings.is_empty() {
            let errors = received.warnings.join(", ");
            return Err(invalid(&format!("strict decoding error: {errors}")));
        }
        Ok(received)
    }

    /// Checks that a patched custom object has kind and apiVersion, by which a real server decodes it.
    fn check_type_meta(
        &self,
        target: &Target,
        kind: &GroupVersionKind,
        object: &Value,
        patched: &Value,
    ) -> Result<(), Status> {
        let invalid = |why: &str| {
            let made = self.printed(target.resource.kubernetes, kind, object, patched);
            let error = FieldError::invalid("patch", &json!(made), why);
            Err(Status::invalid("", "", "", &[error]))
        };
        for field in ["apiVersion", "kind"] {
            if let Some(value) = patched.get(field)
                && !value.is_string()
                && !value.is_null()
            {
                let ty = json_type(value);
                return invalid(&format!(
                    "couldn't get version/kind; json parse error: json: cannot unmarshal {ty} into Go struct field \
                     .{field} of type string"
                ));
            }
        }
        let kind_text = patched["kind"].as_str().unwrap_or_default();
        if kind_text.is_empty() {
            let made = self.printed(target.resource.kubernetes, kind, object, patched);
            return invalid(&format!("Object 'Kind' is missing in '{made}'"));
        }
        if let Err(why) = read_metadata(&patched["metadata"]) {
            return invalid(&why);
        }
        match patched.get("apiVersion") {
            // An object without a name is refused for that.
            None if !patched["metadata"]["name"].is_null() => {
                let why = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
                return Err(Status::internal(why));
            }
            Some(Value::Null) => {
                return invalid(
                    ".apiVersion accessor error: <nil> is of the type <nil>, expected string",
                );
            }
            None | Some(_) => {}
        }
        check_patched_type(target, kind, patched)
    }

    /// Returns the patched object as a real server prints it before it reads it again.
    fn printed(
        &self,
        kubernetes: KubernetesVersion,
        kind: &GroupVersionKind,
        object: &Value,
        patched: &Value,
    ) -> String {
        let touched = match self {
            Self::Strategic(_) => PatchedParts::default(),
            Self::Merge(patch) => PatchedParts::by_merge(patch),
            Self::Json(operations) => touched_by(operations, object),
        };
        let id = type_in(kubernetes, &kind.group, &kind.version, &kind.kind);
        print_in_go_order(types_in(kubernetes), id, patched, Some(&touched))
    }
}

/// Checks that the kind and apiVersion of a patched custom object are unchanged.
fn check_patched_type(
    target: &Target,
    kind: &GroupVersionKind,
    patched: &Value,
) -> Result<(), Status> {
    let text = |field: &str| patched[field].as_str().unwrap_or_default();
    let (kind_text, version) = (text("kind"), text("apiVersion"));
    let mut errors = Vec::new();
    for (field, value, wanted) in [
        ("kind", kind_text, kind.kind.to_string()),
        ("apiVersion", version, kind.api_version()),
    ] {
        // A version that is absent is refused elsewhere.
        if value != wanted && (field == "kind" || patched.get(field).is_some()) {
            let why = format!("must be {wanted}");
            errors.push(FieldError::invalid(field, &json!(value), &why));
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    target.check_name(patched)?;
    let group = match patched.get("apiVersion") {
        Some(_) => version.rsplit_once('/').map_or("", |(group, _)| group),
        None => &target.resource.group,
    };
    let name = patched["metadata"]["name"].as_str().unwrap_or_default();
    Err(Status::invalid(kind_text, group, name, &errors))
}

/// Decodes a built-in object without apiVersion, which a patch has removed. A real server decodes it as the internal
/// kind, whose field names differ: the result is empty.
fn unversioned(
    target: &Target,
    kind: &GroupVersionKind,
    object: &Value,
    validation: FieldValidation,
) -> Option<ReceivedObject> {
    let is_absent =
        |name: &str| object[name].is_null() || object[name].as_str().is_some_and(str::is_empty);
    let is_of_kind = is_absent("kind") || object["kind"] == *kind.kind;
    if target.rules().is_custom() || !is_absent("apiVersion") || !is_of_kind {
        return None;
    }
    let members = object.as_object()?.keys();
    let unknown = members.filter(|name| !matches!(name.as_str(), "kind" | "apiVersion"));
    let warnings = match validation {
        FieldValidation::Ignore => Vec::new(),
        _ => unknown
            .map(|name| format!("unknown field {name:?}"))
            .collect(),
    };
    Some(ReceivedObject {
        object: json!({"kind": &*kind.kind, "apiVersion": kind.api_version(), "metadata": {}}),
        warnings,
    })
}

/// Returns the error of reading an object as the other kind that it claims to be.
fn kind_mismatch(
    kubernetes: KubernetesVersion,
    wanted: &GroupVersionKind,
    object: &Value,
) -> Option<String> {
    let kind = object["kind"].as_str()?;
    let api_version = object["apiVersion"].as_str()?;
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let is_other = kind != &*wanted.kind || api_version != wanted.api_version();
    let id = type_in(kubernetes, group, version, kind).filter(|_| is_other)?;
    let read = decode(id, object.to_string().as_bytes());
    read.err().map(|error| error.to_string())
}

/// The answer to a strategic merge patch that does not fit.
fn refused(error: &PatchError) -> Status {
    match error.code() {
        400 => Status::bad_request(error.to_string()),
        422 => Status::unprocessable(),
        _ => Status::unclassified(error.to_string()),
    }
}
