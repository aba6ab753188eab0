//! Updates: preconditions, preparation and validation of objects that replace others.

use std::sync::Arc;

use fakeserver_kinds::{
    certificates::{certificate_signing_request, pod_certificate_request},
    core::persistent_volume,
    custom_resources::CustomType,
    resource::device_taint_rule,
};
use fakeserver_value::{
    edit::{remove, with_empty},
    managed_fields,
    resource::GroupVersionKind,
    status::{FieldError, NamedObject, Status},
};
use serde_json::{Value, json};

use super::{
    Attempt, AttemptError, Author, Outcome, Source, Target, Write, admin_access,
    admission::Operation,
    allocation, chain, data_text,
    deletion::is_finished,
    escalation,
    run::{Action, Draft},
    target::replace_metadata,
};
use crate::store::StoredObject;

/// An existing object that is written.
#[derive(Clone, Debug)]
pub struct ExistingObject {
    pub stored: Arc<StoredObject>,
    /// The object in the version of the request.
    pub object: Value,
}

/// A part of an object that clients write as if it was an object, such as its scale.
pub trait Part: Send + Sync {
    /// Returns the kind of the part.
    fn kind(&self) -> GroupVersionKind;

    /// Returns the part of `object`.
    ///
    /// # Errors
    ///
    /// The object has something else in the place of the part.
    fn of(&self, object: &Value) -> Result<Value, String>;

    /// Returns the part of `object` that an update replaces, with the managers of its fields.
    ///
    /// # Errors
    ///
    /// The object has something else in the place of the part.
    fn managed(&self, object: &Value) -> Result<Value, Status>;

    /// Returns `object` with another part, and with the version and the uid of the part as preconditions.
    ///
    /// # Errors
    ///
    /// The part is not valid.
    fn put_into(&self, object: &Value, part: &Value) -> Result<Value, Status>;
}

// === impl Draft ===

impl<'a> Draft<'a> {
    /// Drafts an update that replaces `existing` by `new`, as far as the endpoint allows.
    ///
    /// # Errors
    ///
    /// The object has another uid than a client expects, or a webhook has to convert it first.
    pub fn update(
        target: &'a Target,
        author: Author<'a>,
        mut existing: ExistingObject,
        mut new: Value,
        source: Source,
        attempt: &mut Attempt<'_, '_>,
    ) -> Result<Self, AttemptError> {
        // A precondition: it fails before anything is computed from an object of the same name that the client does not
        // mean.
        check_uid(target, &existing.stored, &new, source)?;
        let old = existing.object.take();
        // Server-side apply has computed the managers already: the reset of the endpoint's fields must not undo them.
        let managers = managed_fields::of(&new);
        // The same order as in a creation, for the same reasons; see `Draft::create`.
        target.convert_through_stored_form(&mut new);
        let empty = target.strip_empty_members(&mut new);
        let is_custom = target.rules().is_custom();
        // The schema of a custom resource may have changed since the object was written.
        let is_comparable =
            target.is_comparable(&new) && (!is_custom || target.is_comparable(&old));
        let owns_metadata =
            target.subresource() == "status" && target.resource.status_owns_metadata();
        let sent = owns_metadata.then(|| new["metadata"].clone());
        // Before the managers are recorded: a manager must not own changes that the endpoint takes back.
        complete(target, &old, &mut new);
        target.restore_empty_lists(&mut new, &empty);
        // `complete` may have reset them together with the metadata.
        if source == Source::Apply {
            managed_fields::set(&mut new, managers);
        } else {
            let kept = sent.map(|sent| replace_metadata(&mut new, &sent));
            attempt.with_versions(target, |described, now| {
                author.record(target, described, Some(&old), &mut new, now);
            })?;
            if let Some(kept) = kept {
                replace_metadata(&mut new, &kept);
            }
        }
        if !is_comparable {
            managed_fields::set(&mut new, None);
        }
        // After the managers are recorded, as in a creation.
        target.reset_status_in_stored_form(Some(&old), &mut new);
        target.canonicalize_empty_members(&mut new, &empty);
        let write = Write {
            source,
            new,
            old,
            empty,
            ..Write::new(target, author, Operation::Update)
        };
        Ok(Self {
            write,
            action: Action::Update {
                existing,
                part: None,
            },
        })
    }

    /// Drafts an update that replaces a part of `existing` by `new` at `now`.
    ///
    /// # Errors
    ///
    /// The object has another uid than a client expects.
    pub fn update_part(
        (target, part): (&'a Target, &'a dyn Part),
        author: Author<'a>,
        existing: ExistingObject,
        mut new: Value,
        source: Source,
        now: &str,
    ) -> Result<Self, Status> {
        check_uid(target, &existing.stored, &new, source)?;
        // Compares parts, not objects: the manager of a scale owns its replicas, and nothing else.
        let old = part.managed(&existing.object)?;
        if source != Source::Apply {
            author.record_kind(target, &part.kind(), Some(&old), &mut new, now);
        }
        let write = Write {
            source,
            new,
            old,
            is_stored: false,
            ..Write::new(target, author, Operation::Update)
        };
        Ok(Self {
            write,
            action: Action::Update {
                existing,
                part: Some(part),
            },
        })
    }
}

/// Resets the fields that the endpoint may not change, and sets the defaults of absent fields.
pub(super) fn complete(target: &Target, old: &Value, new: &mut Value) {
    let subresource = target.subresource();
    target.resource.reset_for_endpoint(subresource, old, new);
    if matches!(
        subresource,
        "" | "status" | "ephemeralcontainers" | "resize"
    ) {
        target.rules().set_defaults(new);
    }
    restore_server_fields(&old["metadata"], &mut new["metadata"]);
}

/// Prepares, validates and stores the new version of an object that admission has mutated.
///
/// An update that changes nothing is not stored, and the object keeps its version. A deleted object whose last
/// finalizer was removed is deleted.
pub(super) fn store(
    attempt: &mut Attempt<'_, '_>,
    mut write: Write<'_>,
    existing: ExistingObject,
    part: Option<&dyn Part>,
) -> Result<Outcome, AttemptError> {
    let ExistingObject { stored, object } = existing;
    // Mutating admission has seen the part. From here on the write is one of the whole object, with the part's version
    // and uid as preconditions.
    if let Some(part) = part {
        write.new = part.put_into(&object, &write.new)?;
        write.old = object;
    }
    // Before validation, as in a creation.
    escalation::check(&write)?;
    // The registry compares versions before `rest.BeforeUpdate`: a conflict is 409, even if the object is invalid.
    // Under the store's lock, or confirmed at commit, so that no other write comes in between.
    check_version(write.target, &stored, &write.new)?;
    // The order of `rest.BeforeUpdate`: the strategy, validation, warnings.
    prepare(attempt, &mut write)?;
    check(attempt, &write, &stored)?;
    if write.target.subresource().is_empty() {
        let rules = write.target.rules();
        let kubernetes = write.target.resource.kubernetes;
        attempt.warn(rules.warnings_of(kubernetes, &write.new, Some(&write.old)));
    }
    // After the check of the version, and before admission, which sees the version that is replaced. `commit` compares
    // whole objects: an update without a version must not differ by that.
    write.new["metadata"]["resourceVersion"] = json!(stored.revision().to_string());
    match part {
        None => chain::validate(&write, attempt)?,
        Some(part) => {
            // Validating admission sees the part again, as upstream's registries of scales pass it on.
            let seen = Write {
                source: write.source,
                new: part.of(&write.new).map_err(Status::unclassified)?,
                old: part.of(&write.old).map_err(Status::unclassified)?,
                is_stored: false,
                ..Write::new(write.target, write.author, write.operation)
            };
            chain::validate(&seen, attempt)?;
        }
    }
    // After all checks: an update that changes nothing is validated, too.
    let outcome = commit(attempt, write, stored)?;
    Ok(match part {
        None => outcome,
        Some(part) => {
            let written = match outcome {
                Outcome::Stored(object) => part.of(&object.to_value()),
                Outcome::Object(object) | Outcome::Deleted(object) => part.of(&object),
            };
            Outcome::Object(written.map_err(Status::bad_request)?)
        }
    })
}

/// Sets the fields that the server and the kind change in an updated object.
fn prepare(attempt: &Attempt<'_, '_>, write: &mut Write<'_>) -> Result<(), Status> {
    allocation::allocate(attempt, write)?;
    if write.target.rules().is(&persistent_volume::KIND) {
        note_phase(attempt.now_text(), &write.old, &mut write.new);
    }
    if write.target.rules().is(&certificate_signing_request::KIND)
        && !write.target.subresource().is_empty()
    {
        let subresource = write.target.subresource();
        let now = attempt.now_text();
        certificate_signing_request::settle_conditions(
            subresource,
            now,
            &write.old,
            &mut write.new,
        );
    }
    if write.target.rules().is(&device_taint_rule::KIND) {
        device_taint_rule::set_time(attempt.now_text(), &write.old, &mut write.new);
    }
    if write.target.rules().is(&pod_certificate_request::KIND) {
        let now = attempt.now_text();
        pod_certificate_request::settle_conditions(now, &write.old, &mut write.new);
    }
    let (rules, old) = (write.target.rules(), &write.old);
    // Before the strategy: some kinds count fields that it drops as changes.
    let sent = rules.habits.counts_dropped.then(|| write.new.clone());
    if matches!(write.target.subresource(), "" | "status") {
        let kubernetes = write.target.resource.kubernetes;
        let subresource = write.target.subresource();
        rules.prepare_next(kubernetes, subresource, old, &mut write.new);
    }
    let first = rules.habits.begins_without_generation.then_some(0);
    let sent = sent.as_ref().unwrap_or(&write.new);
    let with_empty = rules
        .habits
        .counts_empty
        .then(|| with_empty(sent, &write.empty));
    let compared = with_empty.flatten();
    // After the strategy, which may have reset fields: only remaining differences are a new generation.
    if let Some(generation) = old["metadata"]["generation"].as_i64().or(first)
        && rules.habits.has_generation
        && write.target.subresource() != "status"
        && rules
            .habits
            .is_next_generation(old, compared.as_ref().unwrap_or(sent))
    {
        write.new["metadata"]["generation"] = json!(generation + 1);
    }
    Ok(())
}

/// Validates an object that replaces another by the rules of its kind.
fn check(
    attempt: &mut Attempt<'_, '_>,
    write: &Write<'_>,
    stored: &StoredObject,
) -> Result<(), Status> {
    let (target, old, new) = (write.target, &write.old, &write.new);
    let (was, is) = (&old["metadata"], &new["metadata"]);
    let mut errors = target.rules().metadata_update_errors(
        target.resource.kubernetes,
        target.subresource(),
        was,
        is,
    );
    errors.extend(admin_access::error(attempt, write, Some(old)));
    let verdict = write.verdict(Some(old));
    let warnings = target.printed(verdict.warnings);
    attempt.warn(warnings.iter().map(ToString::to_string).collect());
    errors.extend(verdict.errors);
    // A log has objects, and not their texts: the stored one is as it is printed here.
    let text = write.data_text.as_deref().filter(|_| !attempt.is_logged());
    errors.extend(data_text::error(target, stored, new, text));
    // After all errors are collected: tolerated ones must not hide the others.
    attempt.tolerate(write, &mut errors);
    if errors.is_empty() {
        return Ok(());
    }
    Err(target.invalid(target.name(), &errors))
}

/// Stores the new version of `stored`.
fn commit(
    attempt: &mut Attempt<'_, '_>,
    write: Write<'_>,
    stored: Arc<StoredObject>,
) -> Result<Outcome, AttemptError> {
    let Write {
        target,
        old,
        new,
        data_text,
        ..
    } = write;
    // etcd is not written if the encoded object is equal: no new version, and no event for watchers.
    let is_unchanged = match target.rules().as_custom() {
        Some(custom) => is_stored_unchanged(custom, &stored, &old, &new),
        None => is_unchanged(&old, &new),
    };
    if is_unchanged {
        if target.conversion().is_some() {
            return Ok(Outcome::Object(old));
        }
        return Ok(Outcome::Stored(stored));
    }
    // Upstream deletes an object that an update has freed of its last finalizer in place of the update: watchers see
    // only the deletion.
    if is_finished(target.rules(), &old, &new) {
        if !attempt.is_dry_run() {
            attempt.delete(stored.key());
        }
        return Ok(Outcome::Object(new));
    }
    attempt.store(target, stored.key(), new, data_text.as_deref())
}

/// Rejects a write for another uid.
fn check_uid(
    target: &Target,
    stored: &StoredObject,
    new: &Value,
    source: Source,
) -> Result<(), Status> {
    let uid = new["metadata"]["uid"].as_str().unwrap_or_default();
    if source == Source::Body && !uid.is_empty() && uid != stored.uid() {
        return Err(Status::conflict(
            target.named(target.name()),
            &format!(
                "StorageError: invalid object, Code: 4, Key: /registry/{}/{}, ResourceVersion: 0, AdditionalErrorMsg: \
                 Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
                target.group_resource(),
                target.key(target.name()),
                stored.uid(),
            ),
        ));
    }
    Ok(())
}

/// Rejects a write that is based on an outdated version.
fn check_version(target: &Target, stored: &StoredObject, new: &Value) -> Result<(), Status> {
    let named = target.named(target.name());
    let version = new["metadata"]["resourceVersion"]
        .as_str()
        .unwrap_or_default();
    let version = match version {
        "" => 0,
        text => text.parse::<u64>().map_err(|_| {
            Status::unclassified(format!(
                "strconv.ParseUint: parsing {text:?}: invalid syntax"
            ))
        })?,
    };
    if version == 0 {
        return if target.rules().habits.requires_version {
            Err(version_required(named))
        } else {
            Ok(())
        };
    }
    if version == stored.revision() {
        Ok(())
    } else {
        Err(Status::stale(named))
    }
}

/// Returns the error of an update without a version. It names the resource where other errors name the kind, as
/// upstream.
fn version_required(named: NamedObject<'_>) -> Status {
    let error = FieldError::invalid(
        "metadata.resourceVersion",
        &json!(0),
        "must be specified for an update",
    );
    Status::invalid(named.resource, named.group, named.name, &[error])
}

/// Restores metadata that a client leaves out or may not set.
fn restore_server_fields(old: &Value, new: &mut Value) {
    let Some(fields) = new.as_object_mut() else {
        return;
    };
    let mut keep = |field: &str, is_forced: bool| match old.get(field) {
        Some(value) if is_forced || fields.get(field).is_none_or(Value::is_null) => {
            fields.insert(field.to_owned(), value.clone());
        }
        None if is_forced => {
            fields.remove(field);
        }
        _ => {}
    };
    keep("uid", false);
    keep("creationTimestamp", true);
    keep("generation", true);
    keep("deletionTimestamp", old.get("deletionTimestamp").is_some());
    keep("deletionGracePeriodSeconds", false);
}

/// Sets the time of a volume's phase change, unless the update sets it.
fn note_phase(now: &str, old: &Value, new: &mut Value) {
    if old["status"]["phase"] == new["status"]["phase"] {
        return;
    }
    let field = "lastPhaseTransitionTime";
    let (was, is) = (&old["status"], &mut new["status"]);
    if is[field].is_null() || is[field] == was[field] {
        is[field] = json!(now);
    }
}

/// Returns whether `new` is encoded as the stored form of `old` is. An update that changes nothing writes a custom object
/// again if it is stored in another version than new ones, or before its definition had these defaults.
fn is_stored_unchanged(
    custom: &CustomType,
    stored: &StoredObject,
    old: &Value,
    new: &Value,
) -> bool {
    if stored.stored_version() != custom.storage_version() {
        return false;
    }
    // A webhook's answer is compared in the version of the request, to spare a question.
    if custom.conversion().is_some() {
        return is_unchanged(old, new);
    }
    let mut encoded = stored.to_value();
    for field in ["kind", "apiVersion"] {
        encoded[field] = new[field].clone();
    }
    is_unchanged(&encoded, new)
}

/// Returns whether two objects are equal, except for the times of their managers.
fn is_unchanged(old: &Value, new: &Value) -> bool {
    without_times(old) == without_times(new)
}

fn without_times(object: &Value) -> Value {
    let mut object = object.clone();
    let entries = object["metadata"]["managedFields"].as_array_mut();
    for entry in entries.into_iter().flatten() {
        remove(entry, "time");
    }
    object
}
