//! What all writes share: reading the body, who writes, and how the outcome is answered.

use std::sync::Arc;

use axum::response::Response;
use http::{StatusCode, header};
use serde_json::Value;

use super::Call;
use crate::{
    admission::{configuration_errors, is_configuration},
    custom_resources::{CustomType, definition_errors},
    managed_fields::{self, Described, Manager, described},
    protobuf::encode_object,
    request::{
        FieldValidation, WriteOptions, is_protobuf, object_json, parse_object, parse_protobuf,
    },
    resource::GroupVersionKind,
    response::{Encoding, Format},
    schema::{self, Decoded, Document, StrictError, TypeId},
    status::{FieldError, Status, Success, warning_header},
    storage::{Change, ObjectKey, StoredObject, Transaction},
    strategy::Strategy,
    validation::{finalizer_warnings, kind_errors, object_warnings},
};

/// How long the name of a manager may be that is taken from the user agent.
const MANAGER_MAX_BYTES: usize = 128;
/// The manager of requests that do not say who they are from.
const UNKNOWN_MANAGER: &str = "unknown";
/// How deep an object may nest values. Readers of JSON give up at 128, and what surrounds an object counts too.
const OBJECT_DEPTH_MAX: usize = 100;

/// An object as a client sent it, in the form in which the server holds objects of its type.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) object: Value,
    /// What the client should know about what it sent.
    pub(super) warnings: Vec<String>,
}

/// What a write has come to.
#[derive(Debug)]
pub(super) enum Outcome {
    Stored(Arc<StoredObject>),
    /// Nothing was stored: the object as it would be, or as it was when it went away.
    Shown(Value),
}

/// Where what is written comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Source {
    /// It was sent as a whole: its uid is a condition.
    #[default]
    Sent,
    Patch,
    /// It was put in from behind the API, and may come from another server.
    Loaded,
    /// A configuration was applied: it is known already who owns what.
    Apply,
}

// === impl Outcome ===

impl Outcome {
    /// The same, if it was stored by one of `changes`.
    pub(super) fn made_by(self, changes: &[Arc<Change>]) -> Self {
        let Self::Stored(stored) = &self else {
            return self;
        };
        let mut made = changes.iter().rev().filter_map(|change| change.after());
        match made.find(|made| made.key() == stored.key()) {
            Some(made) => Self::Stored(Arc::clone(made)),
            None => self,
        }
    }
}

// === impl Received ===

impl Received {
    /// What was read as an object of this kind, unless it is to be read strictly and cannot be.
    fn of(
        wanted: &GroupVersionKind,
        decoded: Decoded,
        validation: FieldValidation,
    ) -> Result<Self, String> {
        let mut object = decoded.value;
        object["kind"] = wanted.kind.to_string().into();
        object["apiVersion"] = wanted.api_version().into();
        let strict = match validation {
            FieldValidation::Ignore => Vec::new(),
            _ => decoded.strict,
        };
        let warnings: Vec<String> = strict.iter().map(StrictError::to_string).collect();
        if validation == FieldValidation::Strict && !warnings.is_empty() {
            return Err(format!("strict decoding error: {}", warnings.join(", ")));
        }
        Ok(Self { object, warnings })
    }
}

// === impl Call ===

impl Call<'_> {
    pub(super) fn strategy(&self) -> Strategy<'_> {
        Strategy::of(&self.resource)
    }

    /// Empty for the object itself.
    pub(super) fn subresource(&self) -> &str {
        self.path.subresource.as_deref().unwrap_or_default()
    }

    /// The name in the path.
    pub(super) fn name(&self) -> &str {
        self.path.name.as_deref().unwrap_or_default()
    }

    /// Reads the body of a request as an object of this type.
    pub(super) fn receive(
        &self,
        bytes: &[u8],
        validation: FieldValidation,
    ) -> Result<Received, Status> {
        self.receive_as(&self.resource.group_version_kind(), bytes, validation)
    }

    /// Reads the body of a request as an object of another kind than the resource's.
    pub(super) fn receive_as(
        &self,
        wanted: &GroupVersionKind,
        bytes: &[u8],
        validation: FieldValidation,
    ) -> Result<Received, Status> {
        if is_protobuf(self.headers) {
            // What is unknown is not there, and nothing is twice: there is nothing to warn of.
            return Ok(Received {
                object: parse_protobuf(bytes, wanted)?,
                warnings: Vec::new(),
            });
        }
        let bytes = &*object_json(self.headers, bytes, &wanted.kind)?;
        let read = if let Some((id, document)) = self.expected(wanted, bytes) {
            let decoded = document.decode(id).map_err(|error| error.to_string());
            decoded.and_then(|decoded| Received::of(wanted, decoded, validation))
        } else {
            let parsed = parse_object(bytes, wanted)?;
            self.read_parsed(wanted, parsed, bytes, validation)
        };
        read.map_err(|why| {
            Status::bad_request(format!(
                "{kind} in version {:?} cannot be handled as a {kind}: {why}",
                &*wanted.version,
                kind = wanted.kind,
            ))
        })
    }

    /// Reads `bytes` into the form in which objects of a kind are held, or tells why they cannot be.
    pub(super) fn read_as(
        &self,
        wanted: &GroupVersionKind,
        bytes: &[u8],
        validation: FieldValidation,
    ) -> Result<Received, String> {
        let parsed = parse_object(bytes, wanted).map_err(|status| status.message)?;
        self.read_parsed(wanted, parsed, bytes, validation)
    }

    /// A body that says that it is of the wanted kind, or does not say what it is, and the type of that kind, if it is built
    /// in. What is anything else is looked at closely.
    fn expected<'b>(
        &self,
        wanted: &GroupVersionKind,
        bytes: &'b [u8],
    ) -> Option<(TypeId, Document<'b>)> {
        let id = schema::type_of_kind(&wanted.group, &wanted.version, &wanted.kind)?;
        let document = Document::parse(bytes).ok()?;
        let is = |field: &str, wanted: &str| {
            let said = document.text(field);
            said.is_some_and(|said| said.is_empty() || said == wanted)
        };
        let is_expected = self.custom_of(wanted).is_none()
            && is("kind", &wanted.kind)
            && is("apiVersion", &wanted.api_version());
        is_expected.then_some((id, document))
    }

    /// The resource of objects of a kind, if that is custom.
    fn custom_of(&self, wanted: &GroupVersionKind) -> Option<&CustomType> {
        let custom = self.resource.custom.as_deref();
        custom.filter(|_| wanted.kind == self.resource.kind)
    }

    /// The same, where `bytes` have been parsed already.
    fn read_parsed(
        &self,
        wanted: &GroupVersionKind,
        parsed: Value,
        bytes: &[u8],
        validation: FieldValidation,
    ) -> Result<Received, String> {
        let decoded = if let Some(custom) = self.custom_of(wanted) {
            custom.read(parsed, bytes)?
        } else {
            let id = schema::type_of_kind(&wanted.group, &wanted.version, &wanted.kind);
            let Some(id) = id else {
                return Ok(Received {
                    object: parsed,
                    warnings: Vec::new(),
                });
            };
            schema::decode(id, bytes).map_err(|error| error.to_string())?
        };
        Received::of(wanted, decoded, validation)
    }

    /// Fills in what every object of this type has in `field`, and leaves out what says nothing.
    pub(super) fn complete_field(&self, object: &mut Value, field: &str) {
        let resource = &*self.resource;
        let id = schema::type_of_kind(&resource.group, &resource.version, &resource.kind);
        if let Some(id) = id {
            schema::canonical_field(schema::types(), id, field, object);
        }
    }

    /// Puts an object that says no namespace into that of the request, and refuses one that says another.
    pub(super) fn place(&self, object: &mut Value) -> Result<(), Status> {
        let metadata = &mut object["metadata"];
        let said = metadata["namespace"].as_str().unwrap_or_default();
        match self.path.namespace.as_deref() {
            Some(namespace) if said.is_empty() => metadata["namespace"] = namespace.into(),
            Some(namespace) if said != namespace => {
                return Err(Status::bad_request(
                    "the namespace of the provided object does not match the namespace sent on the request",
                ));
            }
            Some(_) => {}
            None => remove(metadata, "namespace"),
        }
        Ok(())
    }

    /// The same of an object that a patch made, in other words.
    pub(super) fn place_patched(&self, object: &mut Value) -> Result<(), Status> {
        let said = object["metadata"]["namespace"].as_str().unwrap_or_default();
        if let Some(namespace) = self.path.namespace.as_deref()
            && !said.is_empty()
            && said != namespace
        {
            return Err(Status::bad_request(format!(
                "the namespace of the object ({said}) does not match the namespace on the request ({namespace})"
            )));
        }
        self.place(object)
    }

    /// What is stored, as this version of the type shows it.
    pub(super) fn shown(&self, stored: &StoredObject) -> Value {
        let mut object = stored.to_value();
        if let Some(form) = self.form().filter(|form| !form.is_stored()) {
            return form.convert(object);
        }
        if let Some(custom) = &self.resource.custom {
            object = custom.show(object);
        }
        object["kind"] = self.resource.kind.to_string().into();
        object["apiVersion"] = self.resource.api_version().into();
        object
    }

    /// Records who owns what, now that `new` replaces `old`.
    pub(super) fn record_managers(
        &self,
        options: &WriteOptions,
        old: Option<&Value>,
        new: &mut Value,
        now: &str,
    ) {
        let api_version = self.resource.api_version();
        let manager = Manager {
            name: self.manager(options),
            api_version: &api_version,
            subresource: self.subresource(),
        };
        // A scale is no object that could remember when it was written.
        let now = match self.subresource() {
            "scale" => "",
            _ => now,
        };
        managed_fields::record_update(old, new, self.described(), &manager, now);
    }

    /// What is known of the kind of these objects.
    pub(super) fn described(&self) -> Described<'_> {
        match &self.resource.custom {
            Some(custom) => Described::by(Some(custom.schema())),
            None => described(&self.resource.api_version(), &self.resource.kind),
        }
    }

    fn manager<'b>(&'b self, options: &'b WriteOptions) -> &'b str {
        let named = options.field_manager.as_str();
        let agent = self.client();
        let is_name = |name: &str| {
            !name.is_empty()
                && name.len() <= MANAGER_MAX_BYTES
                && !name.chars().any(char::is_control)
        };
        [named, agent]
            .into_iter()
            .find(|name| is_name(name))
            .unwrap_or(UNKNOWN_MANAGER)
    }

    /// What is wrong with an object apart from its metadata; `old` is what it replaces.
    pub(super) fn type_errors(&self, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
        match &self.resource.custom {
            Some(custom) => custom.errors(object, old),
            None if self.strategy().is_definition() => definition_errors(object, old),
            None if is_configuration(&self.resource.group, &self.resource.plural) => {
                configuration_errors(object)
            }
            None => kind_errors(&self.resource, self.subresource(), object, old),
        }
    }

    /// What a client should know of an object that is accepted; `old` is what it replaces.
    pub(super) fn object_warnings(&self, object: &Value, old: Option<&Value>) -> Vec<String> {
        if self.resource.custom.is_some() {
            return finalizer_warnings(&object["metadata"], old.map(|old| &old["metadata"]));
        }
        let kind = (&*self.resource.group, &*self.resource.plural);
        object_warnings(kind, object, old)
    }

    /// The object does not pass validation.
    pub(super) fn invalid(&self, name: &str, errors: &[FieldError]) -> Status {
        Status::invalid(&self.resource.kind, &self.resource.group, name, errors)
    }

    /// Stores `object`, unless the write is only tried.
    pub(super) fn store(
        tx: &mut Transaction<'_>,
        options: &WriteOptions,
        key: &ObjectKey,
        object: Value,
    ) -> Result<Outcome, Status> {
        let object = shallow(object)?;
        Ok(if options.is_dry_run {
            Outcome::Shown(object)
        } else {
            Outcome::Stored(tx.put(key, object))
        })
    }

    /// The answer to a request that leaves no object.
    pub(super) fn succeed(
        &self,
        code: StatusCode,
        encoding: &Encoding,
        success: &Success,
    ) -> Response {
        let mut body = success.to_json();
        if encoding.format() == Format::Protobuf {
            let status: Value = serde_json::from_slice(&body).expect("it was written as JSON");
            body = encode_object(&status)
                .expect("a status has a message")
                .into();
        }
        self.delivery(encoding).whole(code, body)
    }

    /// The answer to a write that went well.
    pub(super) fn answer(
        &self,
        code: StatusCode,
        encoding: &Encoding,
        outcome: &Outcome,
        warnings: &[String],
    ) -> Response {
        let body = match outcome {
            Outcome::Stored(object) => encoding.object(object),
            Outcome::Shown(object) => encoding.value(object),
        };
        let mut response = self.delivery(encoding).whole(code, body);
        add_warnings(&mut response, warnings);
        response
    }
}

/// Gives `object` back, unless it nests values deeper than can be read again.
pub(super) fn shallow(object: Value) -> Result<Value, Status> {
    if depth(&object) > OBJECT_DEPTH_MAX {
        return Err(Status::bad_request(format!(
            "the object is nested too deeply: the maximum is {OBJECT_DEPTH_MAX} levels"
        )));
    }
    Ok(object)
}

/// How deep values are nested in `value`.
pub(super) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

/// Tells the client all that it should know though all went well.
pub(super) fn add_warnings(response: &mut Response, warnings: &[String]) {
    for warning in warnings {
        add_warning(response, warning);
    }
}

/// Tells the client what it should know though all went well.
pub(super) fn add_warning(response: &mut Response, warning: &str) {
    if let Some(value) = warning_header(warning) {
        response.headers_mut().append(header::WARNING, value);
    }
}

/// Takes a field out of an object.
pub(super) fn remove(object: &mut Value, field: &str) {
    if let Some(object) = object.as_object_mut() {
        object.remove(field);
    }
}
