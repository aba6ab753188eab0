//! Defaults of webhook configurations.

use fakeserver_value::edit::{each, set, set_absent, within};
use serde_json::{Value, json};

pub(crate) fn set_mutating_defaults(configuration: &mut Value) {
    set_defaults(configuration);
    for webhook in each(configuration, "webhooks") {
        set_absent(webhook, "reinvocationPolicy", json!("Never"));
    }
}

pub(crate) fn set_defaults(configuration: &mut Value) {
    for webhook in each(configuration, "webhooks") {
        set_absent(webhook, "failurePolicy", json!("Fail"));
        set_absent(webhook, "matchPolicy", json!("Equivalent"));
        set(webhook, "namespaceSelector", json!({}));
        set(webhook, "objectSelector", json!({}));
        set(webhook, "timeoutSeconds", json!(10));
        for rule in each(webhook, "rules") {
            set_absent(rule, "scope", json!("*"));
        }
        let service = within(webhook, "clientConfig").and_then(|config| within(config, "service"));
        if let Some(service) = service {
            set(service, "port", json!(443));
        }
    }
}
