//! `DefaultTolerationSeconds`: pods stay for five minutes on a node that is lost.

use fakeserver_kinds::core::pod;
use serde_json::{Value, json};

use crate::write::{Write, chain::Step};

pub(in crate::write) const STEP: Step = Step::mutating("DefaultTolerationSeconds", |write, _| {
    admit(write);
    Ok(())
});

const TOLERATED_SECONDS: i64 = 300;
/// The taints of lost nodes.
const LOST: [&str; 2] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
];

fn admit(write: &mut Write<'_>) {
    if (write.creates(&pod::KIND) || write.updates(&pod::KIND)) && write.new["spec"].is_object() {
        tolerate_loss(&mut write.new["spec"]);
    }
}

/// Adds the tolerations of lost nodes, unless the pod tolerates them in its own way.
pub(super) fn tolerate_loss(spec: &mut Value) {
    for taint in LOST {
        let tolerations = spec["tolerations"].as_array();
        let is_tolerated = tolerations.into_iter().flatten().any(|toleration| {
            let covers = |field: &str, value: &str| {
                let field_value = &toleration[field];
                field_value.is_null() || field_value == "" || field_value == value
            };
            covers("key", taint) && covers("effect", "NoExecute")
        });
        if is_tolerated {
            continue;
        }
        let toleration = json!({
            "key": taint,
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": TOLERATED_SECONDS,
        });
        match spec["tolerations"].as_array_mut() {
            Some(tolerations) => tolerations.push(toleration),
            None => spec["tolerations"] = json!([toleration]),
        }
    }
}
