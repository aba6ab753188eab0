//! Priority and fairness.

use serde_json::{Value, json};

use super::{set, within};

const PRECEDENCE: u32 = 1_000;
const SHARES: u32 = 30;

pub(super) fn set_schema_defaults(schema: &mut Value) {
    if let Some(spec) = within(schema, "spec")
        && spec["matchingPrecedence"].as_i64().unwrap_or_default() == 0
    {
        spec["matchingPrecedence"] = json!(PRECEDENCE);
    }
}

pub(super) fn set_level_defaults(level: &mut Value) {
    let Some(spec) = within(level, "spec") else {
        return;
    };
    if let Some(exempt) = within(spec, "exempt") {
        set(exempt, "nominalConcurrencyShares", json!(0));
        set(exempt, "lendablePercent", json!(0));
    }
    let Some(limited) = within(spec, "limited") else {
        return;
    };
    set(limited, "nominalConcurrencyShares", json!(SHARES));
    set(limited, "lendablePercent", json!(0));
    let response = within(limited, "limitResponse");
    if let Some(queuing) = response.and_then(|response| within(response, "queuing")) {
        for (field, default) in [("queues", 64), ("handSize", 8), ("queueLengthLimit", 50)] {
            if queuing[field].as_i64().unwrap_or_default() == 0 {
                queuing[field] = json!(default);
            }
        }
    }
}
