//! Configurations of validating webhooks.

use crate::{
    Kind,
    admission::webhook_configuration::{kind, set_defaults},
};

/// Configurations of validating webhooks.
pub static KIND: Kind = kind("validatingwebhookconfigurations", set_defaults);
