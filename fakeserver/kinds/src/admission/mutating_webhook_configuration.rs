//! Configurations of mutating webhooks.

use crate::{
    Kind,
    admission::webhook_configuration::{kind, set_mutating_defaults},
};

/// Configurations of mutating webhooks.
pub static KIND: Kind = kind("mutatingwebhookconfigurations", set_mutating_defaults);
