//! Creations: completion, preparation and validation of new objects, and their names.

use fakeserver_kinds::{
    certificates::certificate_signing_request, metadata::generic_metadata_errors,
    resource::device_taint_rule,
};
use fakeserver_value::{edit::remove, managed_fields, status::Status};
use serde_json::{Map, Value, json};

use super::{
    Attempt, AttemptError, Author, Outcome, Source, Target, Write, admin_access,
    admission::Operation,
    allocation, chain,
    deletion::is_deleted,
    escalation,
    run::{Action, Draft},
};

/// The length of a generated name up to the generated suffix.
const BASE_MAX_BYTES: usize = 58;
/// The number of generated names to try if they are taken.
const NAMES_TRIED: usize = 8;
/// Fields of the metadata that only the server sets.
const SERVER_SET: [&str; 5] = [
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
];

/// Server-set fields that an imported object keeps.
#[derive(Clone, Debug, Default)]
pub(super) struct ImportedFields {
    metadata: Map<String, Value>,
    status: Option<Value>,
}

// === impl Draft ===

impl<'a> Draft<'a> {
    /// Drafts a creation of `object`, which was sent at `now`.
    pub fn create(
        target: &'a Target,
        author: Author<'a>,
        mut object: Value,
        source: Source,
        now: &str,
    ) -> Self {
        // Before `complete`, which removes these fields as a client must not set them.
        let imported = match source {
            Source::Import => ImportedFields::of(target, &object),
            Source::Body | Source::Patch | Source::Apply => ImportedFields::default(),
        };
        // First of all changes: the fields that this rebuilds from annotations are subject to defaults and field
        // management.
        target.convert_through_stored_form(&mut object);
        // Before the defaults: Go's defaulting functions test `len(list) == 0`, so an empty list gets the default of an
        // absent one.
        let empty = target.strip_empty_members(&mut object);
        // Judged by what the client has sent, and not by what the server adds.
        let is_comparable = target.is_comparable(&object);
        // Before the managers are recorded: the creator owns defaults as well, as upstream, and owns no field that the
        // server drops.
        complete(target, &mut object);
        // A few kinds test for nil instead. Their empty lists are kept, and owned by the creator.
        target.restore_empty_lists(&mut object, &empty);
        // Server-side apply has computed the managers from the configuration, which knows nothing of defaults.
        if source != Source::Apply {
            author.record(target, target.described(), None, &mut object, now);
        }
        // After `record`, so that managers from the client's object are dropped, too.
        if !is_comparable {
            managed_fields::set(&mut object, None);
        }
        // After the managers are recorded: upstream drops the status in the strategy, which runs behind field
        // management.
        target.reset_status_in_stored_form(None, &mut object);
        // The last step that looks at empty members: they are owned like others, but not stored, as they are not
        // encoded in etcd.
        target.canonicalize_empty_members(&mut object, &empty);
        // After the empty members, among which an empty status would be removed again.
        target.rules().complete_status(&mut object);
        let write = Write {
            source,
            new: object,
            empty,
            ..Write::new(target, author, Operation::Create)
        };
        Self {
            write,
            action: Action::Create { imported },
        }
    }
}

/// Removes server-set fields from a new object, and sets its defaults.
pub(super) fn complete(target: &Target, object: &mut Value) {
    for field in SERVER_SET {
        remove(&mut object["metadata"], field);
    }
    if !target.resource.is_created_with_status() {
        remove(object, "status");
        target.complete_field(object, "metadata");
        target.complete_field(object, "status");
    }
    target.rules().set_defaults(object);
}

/// Prepares, validates and stores a new object that admission has mutated.
pub(super) fn store(
    attempt: &mut Attempt<'_, '_>,
    mut write: Write<'_>,
    mut imported: ImportedFields,
) -> Result<Outcome, AttemptError> {
    // Upstream checks RBAC escalation in a wrapper around the registry: before the object gets its name, and before any
    // validation.
    escalation::check(&write)?;
    let target = write.target;
    let prefix = text(&write.new, "generateName").to_owned();
    let is_generated = write.new_name().is_empty() && !prefix.is_empty();
    let tries = if is_generated { NAMES_TRIED } else { 1 };
    let mut taken_by = None;
    // Each generated name goes through preparation and validation, as in the retry loop of the registry: a name
    // may be invalid only with its suffix.
    for tried in 0..tries {
        if is_generated {
            let name = format!("{}{}", base(&prefix), attempt.name_suffix(tried));
            write.new["metadata"]["name"] = name.into();
        }
        // The order of `rest.BeforeCreate`: system metadata, the strategy, validation, warnings.
        prepare(attempt, &mut write, std::mem::take(&mut imported))?;
        check(attempt, &write)?;
        // Upstream asks the strategy for warnings after validation. An import has no client to warn.
        if !write.is_import() {
            let kubernetes = target.resource.kubernetes;
            attempt.warn(target.rules().warnings_of(kubernetes, &write.new, None));
        }
        // Validating admission is called back by the registry, with the prepared and valid object: 422 comes before
        // 403.
        chain::validate(&write, attempt)?;
        // The storage layer of upstream rejects a version, and a dry run does not reach that layer.
        if !attempt.is_dry_run() {
            check_version(&write.new)?;
        }
        // Last, since etcd finds out about an existing object: an invalid object is 422, and not 409, even if its name
        // is taken.
        let key = target.key(write.new_name());
        match attempt.get(&key) {
            None => {
                // A dry run keeps the client's version in its response, as upstream.
                if !attempt.is_dry_run() {
                    remove(&mut write.new["metadata"], "resourceVersion");
                }
                target.rules().complete_status(&mut write.new);
                let text = write.data_text.as_deref();
                return attempt.store(target, &key, write.new, text);
            }
            Some(existing) => taken_by = Some(existing),
        }
    }
    let is_terminating = taken_by.is_some_and(|existing| is_deleted(&existing.to_value()));
    let named = target.named(write.new_name());
    // Whether the name was generated or not, as upstream.
    Err(if prefix.is_empty() {
        Status::already_exists(named, is_terminating)
    } else {
        Status::name_not_generated(named, is_terminating)
    }
    .into())
}

/// Sets the fields that the server and the kind set in a new object, which already has its name.
fn prepare(
    attempt: &mut Attempt<'_, '_>,
    write: &mut Write<'_>,
    imported: ImportedFields,
) -> Result<(), AttemptError> {
    let metadata = &mut write.new["metadata"];
    // The same uid in each attempt: webhooks have seen it in the attempt before.
    metadata["uid"] = json!(attempt.uid());
    metadata["creationTimestamp"] = json!(attempt.now_text());
    // Overwrites what mutating admission may have set: a webhook must not forge the requester.
    if write.creates(&certificate_signing_request::KIND) && !write.is_import() {
        sign(write.author, &mut write.new);
    }
    if write.creates(&device_taint_rule::KIND) {
        device_taint_rule::set_time(attempt.now_text(), &Value::Null, &mut write.new);
    }
    let kubernetes = write.target.resource.kubernetes;
    write
        .target
        .rules()
        .prepare_create(kubernetes, &mut write.new);
    // After the strategy, which resets the status and the generation of a new object.
    imported.restore(&mut write.new);
    // After the strategy, which sets the fields that allocation depends on, and before validation, which requires an
    // address.
    allocation::allocate(attempt, write)?;
    Ok(())
}

/// Validates a new object by the rules of its kind.
fn check(attempt: &mut Attempt<'_, '_>, write: &Write<'_>) -> Result<(), Status> {
    let target = write.target;
    let mut errors = Vec::from_iter(admin_access::error(attempt, write, None));
    let kubernetes = target.resource.kubernetes;
    let metadata = &write.new["metadata"];
    errors.extend(target.rules().metadata_errors(kubernetes, metadata));
    let verdict = write.verdict(None);
    let warnings = target.printed(verdict.warnings);
    attempt.warn(warnings.iter().map(ToString::to_string).collect());
    errors.extend(verdict.errors);
    attempt.tolerate(write, &mut errors);
    if errors.is_empty() {
        // Upstream checks generic metadata behind the strategy's validation, which would report the same fields twice.
        errors = generic_metadata_errors(&write.new["metadata"]);
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(target.invalid(write.new_name(), &errors))
}

/// Rejects an object with a resource version. An unparsable version counts as none, as upstream.
fn check_version(object: &Value) -> Result<(), Status> {
    match text(object, "resourceVersion").parse::<u64>() {
        Ok(0) | Err(_) => Ok(()),
        Ok(_) => Err(Status::unclassified(
            "resourceVersion should not be set on objects to be created",
        )),
    }
}

/// Sets the requester in a certificate signing request, and overwrites what the request has there.
fn sign(author: Author<'_>, object: &mut Value) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    for field in ["username", "uid", "groups", "extra"] {
        spec.remove(field);
    }
    if let Value::Object(user) = author.user.to_json() {
        spec.extend(user);
    }
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object["metadata"][field].as_str().unwrap_or_default()
}

/// Returns the part of a prefix that leaves room for the generated suffix.
fn base(prefix: &str) -> &str {
    let mut end = prefix.len().min(BASE_MAX_BYTES);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    &prefix[..end]
}

// === impl ImportedFields ===

impl ImportedFields {
    /// Returns the fields that an imported `object` keeps.
    fn of(target: &Target, object: &Value) -> Self {
        let metadata = &object["metadata"];
        let kept = ["uid", "creationTimestamp", "generation"].into_iter();
        let kept = kept.filter_map(|field| {
            let value = metadata.get(field)?;
            let says_something = !value.is_null() && *value != json!("") && *value != json!(0);
            says_something.then(|| (field.to_owned(), value.clone()))
        });
        let status = object.get("status").filter(|_| target.imports_status());
        Self {
            metadata: kept.collect(),
            status: status.cloned(),
        }
    }

    /// Puts the fields back into the object, which is prepared.
    fn restore(self, object: &mut Value) {
        for (field, value) in self.metadata {
            object["metadata"][field] = value;
        }
        let has_status = self.status.as_ref().and_then(Value::as_object);
        if has_status.is_some_and(|status| !status.is_empty()) {
            object["status"] = self.status.unwrap_or_default();
        }
    }
}
