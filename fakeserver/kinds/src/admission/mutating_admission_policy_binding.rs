//! Bindings of mutating admission policies.

use fakeserver_value::{field::Field, findings::Findings};

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    admission::{
        cells,
        match_resources::{check_binding_spec, check_mutated_operations, set_binding_defaults},
    },
};

/// Bindings of mutating admission policies.
pub static KIND: Kind = Kind::new(
    "admissionregistration.k8s.io",
    "mutatingadmissionpolicybindings",
)
.habits(Habits {
    has_generation: true,
    requires_version: true,
    is_exempt_from_webhooks: true,
    metadata_rechecks: MetadataRechecks::WHOLE,
    checks_finalizers: false,
    ..Habits::COMMON
})
.defaults(set_binding_defaults)
.cells(cells::binding)
.validation(Validation::new(check, |_, new, found| check(new, found)));

fn check(binding: &Field<'_>, found: &mut Findings) {
    let spec = binding.at("spec");
    check_binding_spec(&spec, found);
    check_mutated_operations(&spec.at("matchResources"), found);
}
