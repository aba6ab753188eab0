//! The rules of one kind of object.

mod checks;

use std::{
    borrow::Cow,
    fmt,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use fakeserver_value::{names::subdomain_problems, object::Pairs, resource::GroupResource};
use fakeserver_versions::KubernetesVersion;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    AcceptedObject, Habits, SelectableFields, Validation,
    custom_resources::{Conversion, CustomType},
    table::cell::Cells,
};

/// The name among the selectable fields of the version in which a custom object is stored.
pub const STORED_VERSION: &str = "apiVersion";

/// Lists the problems of a name.
type NameProblems = fn(&str) -> Vec<String>;
/// Completes an object in place.
type CompleteFn = fn(&mut Value);
/// Changes the next version of an object depending on the present one.
type KeepFn = fn(&Value, &mut Value);
/// Adds warnings about an object.
type WarnFn = fn(&AcceptedObject<'_>, &mut Vec<String>);
/// The printed cells of an object at a time.
pub(crate) type PrintCells = fn(&Value, Timestamp) -> Cells;
/// The rules of one kind, in all its versions.
///
/// A built-in kind is a `static` in its own module. A custom resource's is made of its definition, for one version.
pub struct Kind {
    group: Cow<'static, str>,
    plural: Cow<'static, str>,
    /// The kind whose storage it shares, if it has none of its own.
    stored_as: Option<&'static Kind>,
    storage: OnceLock<GroupResource>,
    pub habits: Habits,
    name_problems: NameProblems,
    /// The rules of its names in versions without a change.
    earlier_names: Option<(&'static str, NameProblems)>,
    defaults: CompleteFn,
    prepare: CompleteFn,
    keep: KeepFn,
    prepare_update: KeepFn,
    complete_update: CompleteFn,
    status: CompleteFn,
    validation: Option<Validation>,
    warn: WarnFn,
    cells: PrintCells,
    cells_by_column: fn(&str, &Value) -> Option<Value>,
    row_conditions: fn(&Value) -> Option<Value>,
    pub(super) fields: Option<&'static SelectableFields>,
    deprecation: Option<&'static str>,
    /// The change of Kubernetes that has deprecated the kind, if some versions are from before that.
    deprecated_by: Option<&'static str>,
    /// The pointer to the pod, or the template of pods, that an object is or has.
    pod_at: Option<&'static str>,
    custom: Option<Arc<CustomType>>,
}

/// A reference to a kind, built in or made by a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KindRef {
    BuiltIn(&'static Kind),
    Custom(Arc<Kind>),
}

// === impl Kind ===

impl Kind {
    /// Returns a kind that follows the rules of most.
    pub const fn new(group: &'static str, plural: &'static str) -> Self {
        Self {
            group: Cow::Borrowed(group),
            plural: Cow::Borrowed(plural),
            stored_as: None,
            storage: OnceLock::new(),
            habits: Habits::COMMON,
            name_problems: subdomain_problems,
            earlier_names: None,
            defaults: |_| {},
            prepare: |_| {},
            keep: |_, _| {},
            prepare_update: |_, _| {},
            complete_update: |_| {},
            status: |_| {},
            validation: None,
            warn: |_, _| {},
            cells: |_, _| Vec::new(),
            cells_by_column: |_, _| None,
            row_conditions: |_| None,
            fields: None,
            deprecation: None,
            deprecated_by: None,
            pod_at: None,
            custom: None,
        }
    }

    /// Returns the kind of a custom resource in one version.
    pub fn custom(group: &str, plural: &str, custom: CustomType, has_status: bool) -> Self {
        Self {
            group: group.to_owned().into(),
            plural: plural.to_owned().into(),
            habits: Habits::custom(has_status),
            custom: Some(Arc::new(custom)),
            ..Self::new("", "")
        }
    }

    /// Sets how it differs from other kinds.
    pub const fn habits(mut self, habits: Habits) -> Self {
        self.habits = habits;
        self
    }

    /// Stores its objects among those of another kind.
    pub const fn stored_as(mut self, kind: &'static Kind) -> Self {
        self.stored_as = Some(kind);
        self
    }

    /// Sets the rules of its names.
    pub const fn names(mut self, problems: fn(&str) -> Vec<String>) -> Self {
        self.name_problems = problems;
        self
    }

    /// Sets the rules of its names in versions without a change.
    pub const fn names_without(
        mut self,
        change: &'static str,
        problems: fn(&str) -> Vec<String>,
    ) -> Self {
        self.earlier_names = Some((change, problems));
        self
    }

    /// Sets what fills in the fields that a client may leave out. They belong to the writer of the object.
    pub const fn defaults(mut self, set: CompleteFn) -> Self {
        self.defaults = set;
        self
    }

    /// Sets the function that adds server-set fields to a new object, which has its name and uid by then. No manager owns
    /// these fields.
    pub const fn prepare(mut self, prepare: CompleteFn) -> Self {
        self.prepare = prepare;
        self
    }

    /// Sets the function that carries fields of the present object over an update.
    pub const fn keep(mut self, keep: KeepFn) -> Self {
        self.keep = keep;
        self
    }

    /// Sets the function that changes server-set fields in an object that replaces another. No manager owns these fields.
    pub const fn prepare_update(mut self, prepare: KeepFn) -> Self {
        self.prepare_update = prepare;
        self
    }

    /// Sets the function that adds server-set fields to an object that was updated through itself, and not through a
    /// subresource. No manager owns these fields.
    pub const fn complete_update(mut self, complete: CompleteFn) -> Self {
        self.complete_update = complete;
        self
    }

    /// Sets what completes a status that a client has written.
    pub const fn status(mut self, complete: CompleteFn) -> Self {
        self.status = complete;
        self
    }

    /// Sets the checks of its objects.
    pub const fn validation(mut self, validation: Validation) -> Self {
        self.validation = Some(validation);
        self
    }

    /// Sets what lists warnings about objects that are accepted.
    pub const fn warnings(mut self, warn: WarnFn) -> Self {
        self.warn = warn;
        self
    }

    /// Sets what prints the cells of a row, of which the last may be missing.
    pub const fn cells(mut self, cells: PrintCells) -> Self {
        self.cells = cells;
        self
    }

    /// Sets what prints the cell of a column by its name, for columns that only some versions have.
    pub const fn cells_by_column(mut self, cell: fn(&str, &Value) -> Option<Value>) -> Self {
        self.cells_by_column = cell;
        self
    }

    /// Sets what returns the conditions of a row.
    pub const fn row_conditions(mut self, conditions: fn(&Value) -> Option<Value>) -> Self {
        self.row_conditions = conditions;
        self
    }

    /// Sets the fields that clients may select by, beside name and namespace.
    pub const fn fields(mut self, fields: &'static SelectableFields) -> Self {
        self.fields = Some(fields);
        self
    }

    /// Sets the warning of every answer.
    pub const fn deprecated(mut self, warning: &'static str) -> Self {
        self.deprecation = Some(warning);
        self
    }

    /// Leaves the warning to versions that have a change.
    pub const fn deprecated_by(mut self, change: &'static str) -> Self {
        self.deprecated_by = Some(change);
        self
    }

    /// Sets the pointer to the pod, or the template of pods, that an object is or has.
    pub const fn pod_at(mut self, pointer: &'static str) -> Self {
        self.pod_at = Some(pointer);
        self
    }

    pub fn group(&self) -> &str {
        &self.group
    }

    pub fn plural(&self) -> &str {
        &self.plural
    }

    /// Returns where its objects are stored.
    pub fn storage(&self) -> &GroupResource {
        if let Some(other) = self.stored_as {
            return other.storage();
        }
        let make = || GroupResource::new(&*self.group, &*self.plural);
        self.storage.get_or_init(make)
    }

    /// Tells whether its objects are stored among those of another kind.
    pub(super) fn is_stored_elsewhere(&self) -> bool {
        self.stored_as.is_some()
    }

    /// Tells whether it is this built-in kind.
    pub fn is(&self, other: &'static Self) -> bool {
        std::ptr::eq(self, other)
    }

    /// Tells whether a definition has made it.
    pub fn is_custom(&self) -> bool {
        self.custom.is_some()
    }

    /// Returns the conversion by a webhook between its version and the stored one, if they differ.
    pub fn conversion(&self) -> Option<&Arc<Conversion>> {
        self.custom.as_ref()?.conversion()
    }

    /// Tells whether a webhook converts between the versions of its definition.
    pub fn has_conversion_webhook(&self) -> bool {
        self.custom
            .as_ref()
            .is_some_and(|custom| custom.webhook().is_some())
    }

    /// Returns what its definition says, if it is a custom resource.
    pub fn as_custom(&self) -> Option<&Arc<CustomType>> {
        self.custom.as_ref()
    }

    /// Tells whether objects are checked beyond their metadata.
    #[cfg(test)]
    pub fn has_validation(&self) -> bool {
        self.validation.is_some()
    }

    /// Returns the pointer to the template of pods that its objects have.
    pub fn pod_template_at(&self) -> Option<&'static str> {
        self.pod_at.filter(|pointer| !pointer.is_empty())
    }

    /// Lists the errors of a name.
    #[cfg(test)]
    pub fn name_problems(&self, name: &str) -> Vec<String> {
        (self.name_problems)(name)
    }

    /// Fills in the fields that a client may leave out, before it is known which manager owns which field.
    pub fn set_defaults(&self, object: &mut Value) {
        (self.defaults)(object);
    }

    /// Adds server-set fields to a new object, which has its name and uid already. No manager owns these fields.
    pub fn prepare_create(&self, kubernetes: KubernetesVersion, object: &mut Value) {
        if self.habits.has_generation && !self.habits.begins_without_generation {
            object["metadata"]["generation"] = json!(1);
        }
        (self.prepare)(object);
        self.drop_disabled(kubernetes, &Value::Null, object);
    }

    /// Copies to `new` the fields of `old` that an update may not change or leaves out.
    pub(super) fn keep_on_update(&self, old: &Value, new: &mut Value) {
        (self.keep)(old, new);
    }

    /// Changes fields that the server does not accept in the next version of `old`, which was written through `subresource`.
    /// No manager owns these changes.
    pub fn prepare_next(
        &self,
        kubernetes: KubernetesVersion,
        subresource: &str,
        old: &Value,
        new: &mut Value,
    ) {
        (self.prepare_update)(old, new);
        if subresource.is_empty() {
            (self.complete_update)(new);
        }
        self.drop_disabled(kubernetes, old, new);
    }

    /// Sets the defaults of a status: one that a client has written, or that of a new object.
    pub fn complete_status(&self, object: &mut Value) {
        (self.status)(object);
    }

    /// Returns the name under which a selectable field is stored.
    pub fn stored_field<'a>(&self, label: &'a str) -> &'a str {
        self.fields
            .map_or(label, |fields| fields.stored_label(label))
    }

    /// Returns the values of the selectable fields of a stored object, without name and namespace. For a custom resource the
    /// version in which it is stored is among them, though no selector can name it.
    pub fn selectable_values(&self, object: &Value) -> Pairs {
        if let Some(custom) = self.as_custom() {
            let fields = custom.selectable_fields(object);
            let fields = fields
                .iter()
                .map(|(label, value)| (label.as_str(), value.as_str()));
            let stored_version = object["apiVersion"].as_str();
            let stored_version = stored_version.unwrap_or(custom.storage_version());
            return fields.chain([(STORED_VERSION, stored_version)]).collect();
        }
        self.fields
            .map(|fields| fields.values(object))
            .unwrap_or_default()
    }

    /// Returns the definitions of the columns that its definition names, as JSON, if it is a custom resource.
    pub(super) fn own_columns(&self) -> Option<String> {
        self.custom.as_ref().map(|custom| custom.table_columns())
    }

    /// Returns the cells of a row that it prints itself: all of a custom resource, or the first of a built-in kind.
    pub(super) fn own_cells(&self, object: &Value, now: Timestamp) -> Cells {
        match &self.custom {
            Some(custom) => custom.table_cells(object, now),
            None => (self.cells)(object, now),
        }
    }

    /// Returns the cell of a column that it prints by its name.
    pub(super) fn own_cell(&self, column: &str, object: &Value) -> Option<Value> {
        (self.cells_by_column)(column, object)
    }

    /// Returns the conditions of a row.
    pub(super) fn row_conditions_of(&self, object: &Value) -> Option<Value> {
        (self.row_conditions)(object)
    }

    /// Returns the warning of every answer, if the kind is deprecated in a version of Kubernetes.
    pub fn deprecation_warning(&self, kubernetes: KubernetesVersion) -> Option<&str> {
        let is_deprecated = |change| kubernetes.gates().is_on(change);
        match &self.custom {
            Some(custom) => custom.deprecation_warning(),
            None => self
                .deprecation
                .filter(|_| self.deprecated_by.is_none_or(is_deprecated)),
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kind")
            .field("group", &self.group)
            .field("plural", &self.plural)
            .finish_non_exhaustive()
    }
}

/// Compares names, and the definitions of custom resources.
impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.group == other.group && self.plural == other.plural && self.custom == other.custom
    }
}

impl Eq for Kind {}

// === impl KindRef ===

impl Deref for KindRef {
    type Target = Kind;

    fn deref(&self) -> &Kind {
        match self {
            Self::BuiltIn(kind) => kind,
            Self::Custom(kind) => kind,
        }
    }
}
