//! `scale`: the replicas of a workload, as an autoscaler or `kubectl scale` sees them.

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    admission::Operation,
    apply::{Applier, print_object},
    handlers::{
        Call,
        attempt::{Attempt, Halt},
        patch::receive_patched,
        update::{Existing, check_name, replace},
        write::{Outcome, Received, Source},
    },
    managed_fields::{self, FieldSet, Manager, described, managers_after_scale, scale_managers},
    object::selectors::print_label_selector,
    request::{FieldValidation, PatchType, WriteOptions, parse_config, patch_type},
    resource::GroupVersionKind,
    response::Shape,
    schema::{canonical, type_of_kind, types},
    status::{FieldError, Status},
};

const GROUP: &str = "autoscaling";
const VERSION: &str = "v1";
const KIND: &str = "Scale";

fn kind() -> GroupVersionKind {
    GroupVersionKind::new(GROUP, VERSION, KIND)
}

/// Answers with the scale.
pub(super) async fn get(call: &Call<'_>) -> Result<Response, Status> {
    let encoding = call.encoding_of(&kind(), Shape::Object)?;
    let key = call.key(call.name());
    let stored = call
        .server
        .core
        .storage
        .view(|view| view.get(&key).cloned())
        .ok_or_else(|| Status::not_found(call.named(call.name())))?;
    let stored = call.present(&stored).await?;
    let body = encoding.value(&scale_of(call, &call.shown(&stored)));
    Ok(call.delivery(&encoding).whole(StatusCode::OK, body))
}

/// Sets the replicas to those of the scale in `body`.
pub(super) async fn update(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let encoding = call.encoding_of(&kind(), Shape::Object)?;
    let options = WriteOptions::parse(&call.query, "UpdateOptions")?;
    let mut received = call.receive_as(&kind(), body, options.field_validation)?;
    call.place(&mut received.object)?;
    check_name(call, &received.object)?;
    let Received {
        object,
        mut warnings,
    } = received;
    let written = call.write(&options, |tx| {
        let existing = existing(call, tx)?;
        write(call, tx, &options, existing, &object, Source::Sent)
    });
    let (outcome, said) = written.await?;
    warnings.extend(said);
    Ok(call.answer(StatusCode::OK, &encoding, &outcome, &warnings))
}

/// Applies a patch to the scale, and sets the replicas to what it says.
pub(super) async fn patch(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let encoding = call.encoding_of(&kind(), Shape::Object)?;
    let patch_type = patch_type(call.headers, &kind())?;
    if patch_type == PatchType::Apply {
        return apply(call, body).await;
    }
    let options = WriteOptions::parse(&call.query, "PatchOptions")?;
    let mut warnings = Vec::new();
    let written = call.write(&options, |tx| {
        let existing = existing(call, tx)?;
        let shown = scale_of(call, &existing.shown);
        let received = receive_patched(
            call,
            patch_type,
            &kind(),
            &shown,
            body,
            options.field_validation,
        )?;
        warnings = received.warnings;
        let mut scale = received.object;
        call.place(&mut scale)?;
        check_name(call, &scale)?;
        write(call, tx, &options, existing, &scale, Source::Patch)
    });
    let (outcome, said) = written.await?;
    warnings.extend(said);
    Ok(call.answer(StatusCode::OK, &encoding, &outcome, &warnings))
}

/// Applies the configuration of a scale in `body`.
async fn apply(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let encoding = call.encoding_of(&kind(), Shape::Object)?;
    let options = WriteOptions::parse_apply(&call.query)?;
    let config = parse_config(body)?;
    let written = call.write(&options, |tx| {
        let existing = existing(call, tx)?;
        let mut scale = applied(call, &options, &existing.shown, &config)?;
        call.place(&mut scale)?;
        check_name(call, &scale)?;
        write(call, tx, &options, existing, &scale, Source::Apply)
    });
    let (outcome, said) = written.await?;
    Ok(call.answer(StatusCode::OK, &encoding, &outcome, &said))
}

/// The scale of an object with `config` applied. Its managers are those of the whole object.
fn applied(
    call: &Call<'_>,
    options: &WriteOptions,
    object: &Value,
    config: &Value,
) -> Result<Value, Status> {
    let api_version = kind().api_version();
    let replicas = replicas_field(call);
    let entries = managed_fields::of(object).unwrap_or_default();
    let entries = managed_fields::decode(&entries).unwrap_or_default();
    let mut live = scale_of(call, object);
    managed_fields::put(&mut live, scale_managers(&entries, &replicas, &api_version));
    let applier = Applier {
        manager: Manager {
            name: &options.field_manager,
            api_version: &api_version,
            subresource: call.subresource(),
        },
        is_forced: options.is_forced,
        described: described(&api_version, KIND),
        now: "",
    };
    applier.check(config, KIND)?;
    let mut scale = applier.apply(Some(&live), config)?;
    let managers = managed_fields::decode(&managed_fields::take(&mut scale)).unwrap_or_default();
    let managers =
        managers_after_scale(entries, &managers, &replicas, &call.resource.api_version());
    let received = call.read_as(
        &kind(),
        scale.to_string().as_bytes(),
        FieldValidation::Ignore,
    );
    let mut scale = received.map_err(|why| {
        Status::unclassified(format!(
            "failed to convert new object ({}) to proper version: {why}",
            print_object(config)
        ))
    })?;
    managed_fields::put(&mut scale.object, managers);
    Ok(scale.object)
}

/// Where the replicas of the objects are, as a set of fields.
fn replicas_field(call: &Call<'_>) -> FieldSet {
    let custom = call.resource.custom.as_ref();
    let path = custom.and_then(|custom| custom.scale_path("specReplicasPath"));
    let path = path.map_or_else(|| "spec.replicas".to_owned(), |path| path.to_string());
    let elements: Vec<String> = path.split('.').map(|name| format!("f:{name}")).collect();
    let mut fields = FieldSet::default();
    fields.insert(&elements);
    fields
}

fn existing(call: &Call<'_>, tx: &mut Attempt<'_, '_>) -> Result<Existing, Halt> {
    let key = call.key(call.name());
    let stored = tx
        .get(&key)
        .ok_or_else(|| Status::not_found(call.named(call.name())))?;
    let shown = tx.shown(call, &stored)?;
    Ok(Existing { key, stored, shown })
}

/// Makes `scale` the scale of an object. Its version and uid are conditions on the object.
fn write(
    call: &Call<'_>,
    tx: &mut Attempt<'_, '_>,
    options: &WriteOptions,
    existing: Existing,
    scale: &Value,
    source: Source,
) -> Result<Outcome, Halt> {
    let old = scale_of(call, &existing.shown);
    let mutated = tx.mutate(call, Operation::Update, Some(scale), Some(&old))?;
    let scale = mutated.as_ref().unwrap_or(scale);
    let replicas = scale["spec"]["replicas"].as_i64().unwrap_or_default();
    if replicas < 0 {
        let error = FieldError::invalid(
            "spec.replicas",
            &json!(replicas),
            "must be greater than or equal to 0",
        );
        return Err(Status::invalid(KIND, GROUP, call.name(), &[error]).into());
    }
    let mut new = existing.shown.clone();
    set_replicas(call, &mut new, replicas);
    if source == Source::Apply {
        managed_fields::set(&mut new, managed_fields::of(scale));
    }
    let condition = |field: &str| scale["metadata"][field].as_str().unwrap_or_default();
    new["metadata"]["resourceVersion"] = condition("resourceVersion").into();
    if !condition("uid").is_empty() {
        new["metadata"]["uid"] = condition("uid").into();
    }
    let outcome = replace(call, tx, options, existing, new, source)?;
    tx.validate(call, Operation::Update, Some(scale), Some(&old))?;
    let object = match outcome {
        Outcome::Stored(object) => object.to_value(),
        Outcome::Shown(object) => object,
    };
    Ok(Outcome::Shown(scale_of(call, &object)))
}

/// Sets the replicas of an object: where its definition says, or where all workloads have them.
fn set_replicas(call: &Call<'_>, object: &mut Value, replicas: i64) {
    let custom = call.resource.custom.as_ref();
    match custom.and_then(|custom| custom.scale_path("specReplicasPath")) {
        Some(path) => path.set(object, json!(replicas)),
        None => object["spec"]["replicas"] = json!(replicas),
    }
}

/// The scale of an object.
fn scale_of(call: &Call<'_>, object: &Value) -> Value {
    let (metadata, spec) = (&object["metadata"], &object["spec"]);
    let at = |field: &str, otherwise: &Value| match &call.resource.custom {
        Some(custom) => {
            let path = custom.scale_path(field);
            path.and_then(|path| path.get(object).cloned())
                .unwrap_or_default()
        }
        None => otherwise.clone(),
    };
    let selector = match &*call.resource.kind {
        _ if call.resource.custom.is_some() => at("labelSelectorPath", &Value::Null),
        "ReplicationController" => {
            print_label_selector(&json!({"matchLabels": spec["selector"]})).into()
        }
        _ => print_label_selector(&spec["selector"]).into(),
    };
    let mut scale = json!({
        "metadata": {},
        "spec": {"replicas": at("specReplicasPath", &spec["replicas"])},
        "status": {
            "replicas": at("statusReplicasPath", &object["status"]["replicas"]),
            "selector": selector,
        },
    });
    for field in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        scale["metadata"][field] = metadata[field].clone();
    }
    match type_of_kind(GROUP, VERSION, KIND) {
        Some(id) => {
            let mut scale = canonical(types(), id, scale);
            scale["kind"] = KIND.into();
            scale["apiVersion"] = kind().api_version().into();
            scale
        }
        None => scale,
    }
}
