//! Certificates of authorities that pods trust.

use serde_json::json;

use crate::{Kind, table::cell::name};

/// Certificates of authorities that pods trust.
pub static KIND: Kind = Kind::new("certificates.k8s.io", "clustertrustbundles")
    .cells(|object, _| vec![json!(name(object)), object["spec"]["signerName"].clone()]);
