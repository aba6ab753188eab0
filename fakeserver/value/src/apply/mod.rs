//! Server-side apply: a manager declares the fields that it wants, and owns them from then on.
//!
//! The configuration is merged into the object by the schema of the kind. A field that another manager owns and whose
//! value would change is a conflict, unless the manager applies with force. A field that the manager applied last time
//! and now leaves out is removed, unless another manager owns it.
//!
//! Everything here is a function of values: nothing is stored, and the time is an argument.

mod error;
mod owned;
mod merge;
mod remove;
mod prune;
mod last_applied;
#[cfg(test)]
mod tests;

use serde_json::Value;

use self::{
    error::Conflict,
    owned::owned,
    prune::{LastApplied, prune},
};
pub use self::{
    error::{ApplyError, inconvertible},
    last_applied::LAST_APPLIED_CONFIGURATION,
    merge::merge,
};
use crate::{
    managed_fields::{
        self, APPLY, Differences, Entry, FieldSet, KindDescription, Manager, UPDATE, check_typed,
        check_typed_with_duplicates, compare, cut_unowned, reconcile,
    },
    read::text,
};

/// The manager of fields that existed before the first apply and had no owner.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// A manager that applies configurations of one kind.
#[derive(Clone, Debug)]
pub struct Applier<'a> {
    pub manager: Manager<'a>,
    /// True if it takes over fields that others own.
    pub is_forced: bool,
    /// The kind; without a schema, objects merge key by key and lists are one value.
    pub described: KindDescription<'a>,
    /// In whole seconds, as objects write times.
    pub now: &'a str,
}

// === impl Applier ===

impl Applier<'_> {
    /// Refuses a configuration that is not of the kind, names managers, or has fields that the kind has not.
    ///
    /// `kind` is the one that is expected.
    ///
    /// # Errors
    /// [`ApplyError::WrongKind`], [`ApplyError::ManagersGiven`], [`ApplyError::Untyped`].
    pub fn check(&self, config: &Value, kind: &str) -> Result<(), ApplyError> {
        let type_text = |field: &str| text(&config[field]);
        if (type_text("apiVersion"), type_text("kind")) != (self.manager.api_version, kind) {
            return Err(ApplyError::wrong_kind(
                type_text("apiVersion"),
                type_text("kind"),
            ));
        }
        if !config["metadata"]["managedFields"].is_null() {
            return Err(ApplyError::ManagersGiven);
        }
        check_typed(config, self.described.schema).map_err(|why| ApplyError::untyped(config, &why))
    }

    /// Applies a configuration that was checked to `live`, or to nothing.
    ///
    /// The result brings its managers with it. It is not canonical yet: what the configuration says stands in it as the
    /// configuration says it.
    ///
    /// # Errors
    /// [`ApplyError::Conflicts`].
    pub fn apply(&self, live: Option<&Value>, config: &Value) -> Result<Value, ApplyError> {
        self.apply_part(live, config, config)
    }

    /// Does the same with the part of a configuration that the endpoint writes. A manager has the time of its last apply that
    /// would have changed something, if only in the rest of `whole`.
    ///
    /// # Errors
    /// [`ApplyError::Conflicts`].
    pub fn apply_part(
        &self,
        live: Option<&Value>,
        config: &Value,
        whole: &Value,
    ) -> Result<Value, ApplyError> {
        let config = &without_managers(config);
        let mut result = match self.apply_once(live, config, whole) {
            // kubectl migrates from client-side to server-side apply: conflicts about fields in its last-applied annotation are forced,
            // since that annotation proves that kubectl itself has written them.
            Err(ApplyError::Conflicts(conflicts)) if self.manager.name == last_applied::KUBECTL => {
                let allowed =
                    last_applied::fields(live, self.manager.api_version, self.described.schema);
                match ApplyError::without(conflicts, &allowed) {
                    Some(error) => Err(error),
                    None => Applier {
                        is_forced: true,
                        ..self.clone()
                    }
                    .apply_once(live, config, whole),
                }
            }
            other => other,
        }?;
        if self.manager.name == last_applied::KUBECTL {
            last_applied::renew(&mut result, config);
        }
        Ok(result)
    }

    fn apply_once(
        &self,
        live: Option<&Value>,
        config: &Value,
        whole: &Value,
    ) -> Result<Value, ApplyError> {
        let mut before = live.unwrap_or(self.described.zero).clone();
        let mut entries =
            managed_fields::decode(&managed_fields::take(&mut before)).unwrap_or_default();
        // An object from before field management gets one owner of all its fields. Otherwise the first apply would meet no
        // conflicts, and take over fields of other managers unnoticed.
        if entries.is_empty() && live.is_some() {
            entries.extend(self.first(&before));
        }
        let own_version = self.manager.api_version;
        if live.is_some() {
            self.check_live(&before)?;
            reconcile(&mut entries, &before, self.described, own_version)?;
        }
        let merged = merge(Some(&before), Some(config), self.described.schema);
        let wanted = owned(config, self.described.schema);
        // The new fields replace the old ones in the entries before pruning, which has to know what this manager still owns.
        let previous = self.own(&mut entries, &wanted);
        let merged = match previous {
            Some(last) => prune(&merged, &last, &entries, self.described, own_version)
                .map_err(|error| error.during("failed to prune fields"))?,
            None => merged,
        };

        let changes = Differences::new(&before, &merged, self.described, own_version, &entries)?;
        self.give_way(&mut entries, &changes)?;
        let is_changed = !changes.own.set.is_empty() || !changes.own.removed.is_empty();
        // An apply without effect keeps the time of its entry, so that the object stays equal and nothing is written. Parts of
        // the configuration that another endpoint writes count as an effect.
        let is_dated = is_changed || self.would_change(&before, whole);
        // An unchanged object keeps its representation: merging may have reordered lists.
        let mut result = if is_changed { merged } else { before };
        for entry in &mut entries {
            if self.is_own(entry) {
                cut_unowned(&mut entry.fields);
                if is_dated {
                    self.now.clone_into(&mut entry.time);
                }
            }
        }
        managed_fields::put(&mut result, entries);
        Ok(result)
    }

    /// Refuses a custom object that does not fit the present schema of its kind. Built-in objects were read by it.
    fn check_live(&self, live: &Value) -> Result<(), ApplyError> {
        let schema = self.described.schema;
        let custom = schema.filter(|schema| schema.definition_name().is_none());
        check_typed_with_duplicates(live, custom)
            .map_err(|why| ApplyError::untyped_live(live, &why))
    }

    /// Returns whether a configuration has another value than an object.
    fn would_change(&self, object: &Value, config: &Value) -> bool {
        let schema = self.described.schema;
        let merged = merge(Some(object), Some(config), schema);
        let changes = compare(object, &merged, schema);
        !changes.set.is_empty() || !changes.removed.is_empty()
    }

    /// Makes this manager the owner of exactly the fields in `wanted`. Returns what it had applied before.
    fn own(&self, entries: &mut Vec<Entry>, wanted: &FieldSet) -> Option<LastApplied> {
        let api_version = self.manager.api_version.to_owned();
        if let Some(own) = entries.iter_mut().find(|entry| self.is_own(entry)) {
            return Some(LastApplied {
                api_version: std::mem::replace(&mut own.api_version, api_version),
                fields: std::mem::replace(&mut own.fields, wanted.clone()),
            });
        }
        entries.push(Entry {
            manager: self.manager.name.to_owned(),
            operation: APPLY.to_owned(),
            api_version,
            subresource: self.manager.subresource.to_owned(),
            time: String::new(),
            fields: wanted.clone(),
        });
        None
    }

    /// Takes changed fields from the other managers, or returns the conflicts.
    fn give_way(&self, entries: &mut [Entry], changes: &Differences) -> Result<(), ApplyError> {
        let mut conflicts = Vec::new();
        let others = || entries.iter().filter(|entry| !self.is_own(entry));
        for entry in others() {
            let contested = entry.fields.intersection(&changes.of(entry).set);
            if !contested.is_empty() {
                conflicts.push(Conflict::new(entry, contested));
            }
        }
        if !self.is_forced && !conflicts.is_empty() {
            // The message lists managers in alphabetical order, whatever the order of the entries.
            conflicts.sort_by(|a, b| a.manager.cmp(&b.manager));
            return Err(ApplyError::Conflicts(conflicts));
        }
        for entry in entries.iter_mut().filter(|entry| !self.is_own(entry)) {
            let change = changes.of(entry);
            entry.fields.subtract(&change.set);
            // A removed field cannot have an owner, so that this is no conflict.
            entry.fields.subtract(&change.removed);
        }
        Ok(())
    }

    /// Returns the entry of everything that existed before the first apply.
    fn first(&self, before: &Value) -> Option<Entry> {
        let mut fields = compare(self.described.zero, before, self.described.schema).set;
        cut_unowned(&mut fields);
        (!fields.is_empty()).then(|| Entry {
            manager: BEFORE_FIRST_APPLY.to_owned(),
            operation: UPDATE.to_owned(),
            api_version: self.manager.api_version.to_owned(),
            subresource: self.manager.subresource.to_owned(),
            time: self.now.to_owned(),
            fields,
        })
    }

    /// Returns whether the entry is the one of this manager: one entry for all versions through which it applies.
    fn is_own(&self, entry: &Entry) -> bool {
        entry.operation == APPLY
            && entry.manager == self.manager.name
            && entry.subresource == self.manager.subresource
    }
}

/// A configuration may say that it names no managers.
fn without_managers(config: &Value) -> Value {
    let mut config = config.clone();
    managed_fields::take(&mut config);
    config
}
