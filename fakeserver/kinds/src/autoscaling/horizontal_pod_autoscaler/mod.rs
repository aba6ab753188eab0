//! Horizontal pod autoscalers.

mod cells;
mod defaults;
mod metrics;
#[cfg(test)]
mod tests;
mod validation;

use crate::{Habits, Kind, Validation};

/// Horizontal pod autoscalers.
pub static KIND: Kind = Kind::new("autoscaling", "horizontalpodautoscalers")
    .habits(Habits {
        empty_lists: &["policies"],
        ..Habits::COMMON
    })
    .defaults(defaults::set_defaults)
    .validation(
        Validation::new(validation::check, validation::check_update)
            .with(&[("status", validation::check_status)]),
    )
    .cells(cells::cells);
