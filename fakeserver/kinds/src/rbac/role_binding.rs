//! Bindings of roles.

use fakeserver_value::{field::Field, findings::Findings};

use crate::{
    Kind, Validation,
    rbac::{
        binding::{self, check_bound, check_same_role, check_subject},
        kind,
    },
};

/// Bindings of roles.
pub static KIND: Kind = kind(
    "rolebindings",
    Validation::new(check, check_update).repeated_without("RbacUpdateCheckedOnce", check),
)
.defaults(binding::set_defaults)
.cells(binding::cells);

pub fn check(binding: &Field<'_>, found: &mut Findings) {
    check_bound(binding, &["Role", "ClusterRole"], found);
    for subject in binding.at("subjects").items() {
        check_subject(&subject, true, found);
    }
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    check_same_role(old, new, found);
}
