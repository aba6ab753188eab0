//! Roles.

use fakeserver_value::{field::Field, findings::Findings};

use crate::{
    Kind, Validation,
    rbac::{kind, rule::check_rule},
};

/// Roles.
pub static KIND: Kind = kind(
    "roles",
    Validation::new(check, |_, new, found| check(new, found))
        .repeated_without("RbacUpdateCheckedOnce", check),
);

pub fn check(role: &Field<'_>, found: &mut Findings) {
    for rule in role.at("rules").items() {
        check_rule(&rule, true, found);
    }
}
