//! Rules shared by both kinds of webhook configurations.

mod defaults;
mod validation;

pub(super) use self::{
    defaults::{set_defaults, set_mutating_defaults},
    validation::VALIDATION,
};
