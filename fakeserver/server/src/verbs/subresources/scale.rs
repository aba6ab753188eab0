//! `scale`: the replicas of a workload, as an autoscaler or `kubectl scale` sees them.

use axum::response::Response;
use fakeserver_kinds::{
    custom_resources::{CustomScale, ScaleParts},
    scale::ScaleOf,
};
use fakeserver_value::{
    apply::{Applier, inconvertible},
    managed_fields::{
        self, Entry, FieldSet, Manager, ReplicasPath, described_in, managers_after_scale,
        scale_managers,
    },
    resource::GroupVersionKind,
    schema::{canonical, type_in},
    status::{FieldError, Status},
};
use fakeserver_versions::KubernetesVersion;
use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    edge::{
        request::{PatchType, apply_options, patch_type, write_options},
        response::Shape,
    },
    verbs::{
        Api, Request, answer, apply::configuration, author::author, body::receive_as,
        patch::receive_patched, present::present,
    },
    write::{
        Attempt, Draft, FieldValidation, Part, ReceivedObject, Source, Target, WriteOptions, run,
    },
};

const GROUP: &str = "autoscaling";
const VERSION: &str = "v1";
const KIND: &str = "Scale";
/// The replicas by which an update recognizes that neither the object nor the client says how many there are to be.
const NO_REPLICAS: i64 = i32::MIN as i64;

/// The scales of the objects of a type.
struct Scales<'a> {
    target: &'a Target,
}

/// Answers with the scale.
pub(super) async fn get(api: &Api, request: &Request<'_>) -> Result<Response, Status> {
    let encoding = answer::encoding_of(api, request, &kind(), Shape::Object)?;
    let target = &request.target;
    let key = target.key(target.name());
    let storage = &api.backend.storage;
    let stored = storage
        .view(|view| view.get(&key).cloned())
        .ok_or_else(|| Status::not_found(target.named(target.name())))?;
    let stored = present(api, request, &stored).await?;
    let object = api.backend.api_object(target, &stored);
    let scales = Scales { target };
    let scale = scales.of(&object).map_err(Status::unclassified)?;
    if let Some(custom) = scales.custom_without_replicas(&object) {
        return Err(Status::internal(&format!(
            "the spec replicas field {:?} does not exist",
            custom.replicas_path()
        )));
    }
    let body = encoding.value(&scale);
    Ok(answer::delivery(request, &encoding).whole(StatusCode::OK, body))
}

/// Sets the replicas to those of the scale in `body`.
pub(super) async fn update(
    api: &Api,
    request: &Request<'_>,
    body: &[u8],
) -> Result<Response, Status> {
    let encoding = answer::encoding_of(api, request, &kind(), Shape::Object)?;
    let options = write_options(&request.query, "UpdateOptions")?;
    let target = &request.target;
    let received = receive_as(request, &kind(), body, options.validation());
    let ReceivedObject {
        mut object,
        mut warnings,
    } = received.map_err(|status| undecoded(target, status))?;
    let placed = target.set_namespace(&mut object);
    placed
        .and_then(|()| target.check_name(&object))
        .map_err(|status| status.after(&warnings))?;
    let (scales, author) = (Scales { target }, author(request, &options));
    let work = |attempt: &mut Attempt<'_, '_>| {
        let existing = attempt.existing(target)?;
        let (target, now) = ((target, &scales as &dyn Part), attempt.now_text());
        let scale = object.clone();
        let draft = Draft::update_part(target, author, existing, scale, Source::Body, now)?;
        run(attempt, draft)
    };
    let written = api.backend.write(target, &options, work).await;
    let (outcome, admission_warnings) = written.map_err(|status| status.after(&warnings))?;
    warnings.extend(admission_warnings);
    Ok(answer::written(
        request,
        StatusCode::OK,
        &encoding,
        &outcome,
        &warnings,
    ))
}

/// Returns the error of a body that is no scale. For custom resources the scheme lacks the type, so the text differs.
fn undecoded(target: &Target, status: Status) -> Status {
    if !target.rules().is_custom() || status.code != StatusCode::BAD_REQUEST {
        return status;
    }
    Status::bad_request(
        "no kind is registered for the type v1.Scale in scheme \
         \"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781\"",
    )
}

/// Applies a patch to the scale, and sets the replicas to those of the result.
pub(super) async fn patch(
    api: &Api,
    request: &Request<'_>,
    body: &[u8],
) -> Result<Response, Status> {
    let encoding = answer::encoding_of(api, request, &kind(), Shape::Object)?;
    let is_custom = request.target.rules().is_custom();
    let patch_type = patch_type(request.headers, api.media_types, is_custom)?;
    if patch_type.is_apply() {
        return apply(api, request, patch_type, body).await;
    }
    let options = write_options(&request.query, "PatchOptions")?;
    let (target, validation) = (&request.target, options.validation());
    let (scales, author) = (Scales { target }, author(request, &options));
    let mut warnings = Vec::new();
    let work = |attempt: &mut Attempt<'_, '_>| {
        let existing = attempt.existing(target)?;
        let scale = scales.managed(&existing.object)?;
        let received = receive_patched(target, patch_type, &kind(), &scale, body, validation)?;
        warnings = received.warnings;
        let mut scale = received.object;
        target.set_namespace(&mut scale)?;
        target.check_name(&scale)?;
        let (target, now) = ((target, &scales as &dyn Part), attempt.now_text());
        let draft = Draft::update_part(target, author, existing, scale, Source::Patch, now)?;
        run(attempt, draft)
    };
    let (outcome, admission_warnings) = api.backend.write(target, &options, work).await?;
    warnings.extend(admission_warnings);
    Ok(answer::written(
        request,
        StatusCode::OK,
        &encoding,
        &outcome,
        &warnings,
    ))
}

/// Applies the configuration of a scale in `body`.
async fn apply(
    api: &Api,
    request: &Request<'_>,
    patch_type: PatchType,
    body: &[u8],
) -> Result<Response, Status> {
    let encoding = answer::encoding_of(api, request, &kind(), Shape::Object)?;
    let options = apply_options(&request.query)?;
    let config = configuration(patch_type, body)?;
    let target = &request.target;
    let (scales, author) = (Scales { target }, author(request, &options));
    let work = |attempt: &mut Attempt<'_, '_>| {
        let existing = attempt.existing(target)?;
        let now = attempt.now_text();
        let mut scale = scales.applied(&options, &existing.object, &config, now)?;
        target.set_namespace(&mut scale)?;
        target.check_name(&scale)?;
        let target = (target, &scales as &dyn Part);
        let draft = Draft::update_part(target, author, existing, scale, Source::Apply, now)?;
        run(attempt, draft)
    };
    let (outcome, admission_warnings) = api.backend.write(target, &options, work).await?;
    Ok(answer::written(
        request,
        StatusCode::OK,
        &encoding,
        &outcome,
        &admission_warnings,
    ))
}

fn kind() -> GroupVersionKind {
    GroupVersionKind::new(GROUP, VERSION, KIND)
}

// === impl Scales ===

impl Scales<'_> {
    /// Returns the scale of `object` with `config` applied, with its managers.
    fn applied(
        &self,
        options: &WriteOptions,
        object: &Value,
        config: &Value,
        now: &str,
    ) -> Result<Value, Status> {
        let api_version = kind().api_version();
        let applier = Applier {
            manager: Manager {
                name: &options.field_manager,
                api_version: &api_version,
                subresource: self.target.subresource(),
            },
            is_forced: options.is_forced,
            described: described_in(self.target.resource.kubernetes, &api_version, KIND),
            now,
        };
        applier.check(config, KIND)?;
        let mut scale = applier.apply(Some(&self.managed(object)?), config)?;
        let managers = managed_fields::take(&mut scale);
        let read = self
            .target
            .read_value(&kind(), scale, FieldValidation::Ignore);
        let received = read.map_err(|why| inconvertible(config, &why))?;
        let mut scale = received.object;
        let managers = managed_fields::decode(&managers).unwrap_or_default();
        managed_fields::put(&mut scale, managers);
        Ok(scale)
    }

    /// Refuses replicas that a built-in object cannot have.
    fn check_replicas(&self, replicas: i64) -> Result<(), Status> {
        if replicas >= 0 {
            return Ok(());
        }
        let error = FieldError::invalid(
            "spec.replicas",
            &json!(replicas),
            "must be greater than or equal to 0",
        );
        Err(Status::invalid(KIND, GROUP, self.target.name(), &[error]))
    }

    /// Returns the scale of the definition if `object` is a custom one that does not say how many replicas it wants.
    fn custom_without_replicas(&self, object: &Value) -> Option<CustomScale<'_>> {
        let scale = ScaleOf(&self.target.resource);
        let parts = scale.parts(object).unwrap_or_default();
        scale.custom().filter(|_| parts.replicas.is_none())
    }

    /// Returns the path to the replicas in objects of a version, as a set of fields.
    fn replicas_in(&self, api_version: &str) -> ReplicasPath {
        let path = match self.target.rules().as_custom() {
            None => ".spec.replicas",
            Some(custom) => match custom.scale_of(api_version) {
                None => return ReplicasPath::UnknownVersion,
                Some(scale) => scale.replicas_path(),
            },
        };
        let names = path.split('.').filter(|name| !name.is_empty());
        let elements: Vec<String> = names.map(|name| format!("f:{name}")).collect();
        let mut fields = FieldSet::default();
        fields.insert(&elements);
        ReplicasPath::Of(fields)
    }
}

impl Part for Scales<'_> {
    fn kind(&self) -> GroupVersionKind {
        kind()
    }

    fn of(&self, object: &Value) -> Result<Value, String> {
        let parts = ScaleOf(&self.target.resource).parts(object)?;
        Ok(scale_of(self.target.resource.kubernetes, object, &parts))
    }

    fn managed(&self, object: &Value) -> Result<Value, Status> {
        let mut parts = ScaleOf(&self.target.resource)
            .parts(object)
            .map_err(Status::unclassified)?;
        if self.custom_without_replicas(object).is_some() {
            parts.replicas = Some(NO_REPLICAS);
        }
        let mut scale = scale_of(self.target.resource.kubernetes, object, &parts);
        let api_version = kind().api_version();
        let path = |version: &str| self.replicas_in(version);
        let managers = scale_managers(&managers_of(object), path, &api_version);
        managed_fields::put(&mut scale, managers);
        Ok(scale)
    }

    fn put_into(&self, object: &Value, scale: &Value) -> Result<Value, Status> {
        let replicas = scale["spec"]["replicas"].as_i64().unwrap_or_default();
        let parts = ScaleOf(&self.target.resource);
        match parts.custom() {
            Some(custom) if replicas == NO_REPLICAS => {
                return Err(Status::bad_request(format!(
                    "the spec replicas field {:?} cannot be empty",
                    custom.replicas_path()
                )));
            }
            // The replicas of a custom object are validated with the object.
            Some(_) => {}
            None => self.check_replicas(replicas)?,
        }
        let mut new = object.clone();
        parts
            .set_replicas(&mut new, replicas)
            .map_err(Status::unclassified)?;
        let managers = managers_after_scale(
            managers_of(object),
            &managers_of(scale),
            |version| self.replicas_in(version),
            &self.target.resource.api_version(),
        );
        managed_fields::take(&mut new);
        managed_fields::put(&mut new, managers);
        // Without a version of the scale, that of the object stays: no update through a scale is unconditional.
        for field in ["resourceVersion", "uid"] {
            let condition = scale["metadata"][field].as_str().unwrap_or_default();
            if !condition.is_empty() {
                new["metadata"][field] = condition.into();
            }
        }
        Ok(new)
    }
}

/// Returns the scale of `object` with these parts.
fn scale_of(kubernetes: KubernetesVersion, object: &Value, parts: &ScaleParts) -> Value {
    let mut scale = json!({
        "metadata": {},
        "spec": {"replicas": parts.replicas.unwrap_or_default()},
        "status": {"replicas": parts.present_replicas, "selector": parts.selector},
    });
    for field in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        scale["metadata"][field] = object["metadata"][field].clone();
    }
    if let Some(id) = type_in(kubernetes, GROUP, VERSION, KIND) {
        scale = canonical(id.table(), id, scale);
        scale["kind"] = KIND.into();
        scale["apiVersion"] = kind().api_version().into();
    }
    scale
}

/// Returns the managers of an object.
fn managers_of(object: &Value) -> Vec<Entry> {
    let entries = managed_fields::of(object).unwrap_or_default();
    managed_fields::decode(&entries).unwrap_or_default()
}
