//! Stateful sets.

mod cells;
mod defaults;
mod validation;
mod warnings;

use fakeserver_value::names::dns_label_problems;

use crate::{Habits, Kind, Validation};

/// Stateful sets.
pub static KIND: Kind = Kind::new("apps", "statefulsets")
    .pod_at("/spec/template")
    .habits(Habits {
        has_generation: true,
        ..Habits::COMMON
    })
    .names(dns_label_problems)
    .defaults(defaults::set_defaults)
    .validation(
        Validation::new(validation::check, validation::check_update)
            .with(&[("status", validation::check_status)]),
    )
    .warnings(warnings::warn)
    .cells(cells::cells);
