//! Requests of kubelets for certificates of pods.

use serde_json::json;

use crate::{Kind, table::cell::name};

/// Requests of kubelets for certificates of pods.
pub static KIND: Kind =
    Kind::new("certificates.k8s.io", "podcertificaterequests").cells(|object, _| {
        let spec = &object["spec"];
        vec![
            json!(name(object)),
            spec["podName"].clone(),
            spec["serviceAccountName"].clone(),
            spec["nodeName"].clone(),
            spec["signerName"].clone(),
        ]
    });
