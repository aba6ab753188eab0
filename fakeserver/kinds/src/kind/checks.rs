//! The checks of a kind in a version of Kubernetes: fields to drop, errors and warnings.

use fakeserver_value::{field::Field, findings::Findings, status::FieldError};
use fakeserver_versions::KubernetesVersion;
use serde_json::Value;

use super::Kind;
use crate::{
    AcceptedObject, Verdict,
    gated_fields::disabled_fields,
    metadata::{self, MetadataRules, finalizer_warnings},
    pod_spec::drop_disabled,
};

// === impl Kind ===

impl Kind {
    /// Removes from `new` the fields whose feature gates are off, unless `old` uses them.
    pub(super) fn drop_disabled(
        &self,
        kubernetes: KubernetesVersion,
        old: &Value,
        new: &mut Value,
    ) {
        if let Some(pointer) = self.pod_at {
            drop_disabled(kubernetes, pointer, old, new);
        }
        let disabled = match &*self.group {
            "" => disabled_fields(kubernetes, &self.plural),
            group => disabled_fields(kubernetes, &format!("{}.{group}", self.plural)),
        };
        if let Some(disabled) = disabled {
            disabled.drop_from(old, new);
        }
    }

    /// Lists the errors of an object apart from its metadata, with values as `original` has them; `old` is the object that
    /// it replaces through `subresource`, which is empty for the object itself. The rules are those of a version of Kubernetes.
    pub fn verdict(
        &self,
        kubernetes: KubernetesVersion,
        subresource: &str,
        (object, original): (&Value, &Value),
        old: Option<&Value>,
    ) -> Verdict {
        if let Some(custom) = &self.custom {
            let of_metadata = || match old {
                Some(old) => {
                    let (was, is) = (&old["metadata"], &object["metadata"]);
                    self.metadata_update_errors(kubernetes, subresource, was, is)
                }
                None => self.metadata_errors(kubernetes, &object["metadata"]),
            };
            return custom.check(kubernetes, subresource, object, old, of_metadata);
        }
        let object = Field::with_original(object, original);
        Verdict::refused(self.errors(kubernetes, subresource, &object, old))
    }

    /// Lists the errors of an object of a built-in kind apart from its metadata, as [`Kind::verdict`] does.
    pub fn errors(
        &self,
        kubernetes: KubernetesVersion,
        subresource: &str,
        object: &Field<'_>,
        old: Option<&Value>,
    ) -> Vec<FieldError> {
        let Some(validation) = &self.validation else {
            return Vec::new();
        };
        let mut found = Findings::by_rules_of(kubernetes);
        validation.check(subresource, object, old.map(Field::root), &mut found);
        found.into_errors()
    }

    /// Returns the errors of a new object's metadata that the rules of the kind look for.
    pub fn metadata_errors(
        &self,
        kubernetes: KubernetesVersion,
        metadata: &Value,
    ) -> Vec<FieldError> {
        metadata::creation_errors(&self.metadata_rules(kubernetes), metadata)
    }

    /// Returns the errors of the metadata of an object's next version, which is written through `subresource`.
    pub fn metadata_update_errors(
        &self,
        kubernetes: KubernetesVersion,
        subresource: &str,
        old: &Value,
        new: &Value,
    ) -> Vec<FieldError> {
        let rules = self.metadata_rules(kubernetes);
        let mut rechecks = match subresource {
            "" => self.habits.metadata_rechecks,
            _ => self.habits.subresource_rechecks,
        };
        let validation = self.validation.as_ref();
        if subresource.is_empty()
            && validation.is_some_and(|validation| validation.repeats_metadata(kubernetes))
        {
            rechecks.whole += 1;
        }
        metadata::update_errors(&rules, rechecks, old, new)
    }

    fn metadata_rules(&self, kubernetes: KubernetesVersion) -> MetadataRules<'_> {
        let earlier = self
            .earlier_names
            .filter(|(change, _)| !kubernetes.gates().is_on(change));
        MetadataRules {
            habits: &self.habits,
            name_problems: earlier.map_or(self.name_problems, |(_, problems)| problems),
        }
    }

    /// Lists the warnings about an accepted object; `old` is the object that it replaces.
    #[doc(alias("WarningsOnCreate", "WarningsOnUpdate"))]
    pub fn warnings_of(
        &self,
        kubernetes: KubernetesVersion,
        object: &Value,
        old: Option<&Value>,
    ) -> Vec<String> {
        if self.is_custom() {
            return finalizer_warnings(&object["metadata"], old.map(|old| &old["metadata"]));
        }
        let mut warnings = Vec::new();
        (self.warn)(&AcceptedObject::new(kubernetes, object, old), &mut warnings);
        warnings
    }
}
