//! Priority levels.

use serde_json::{Value, json};

use crate::{
    kinds::{Habits, Kind},
    value::edit::{set, within},
};

const SHARES: u32 = 30;

/// Priority levels.
pub(crate) static KIND: Kind = Kind::new(
    "flowcontrol.apiserver.k8s.io",
    "prioritylevelconfigurations",
)
.habits(Habits {
    has_generation: true,
    ..Habits::COMMON
})
.defaults(set_defaults);

pub(crate) fn set_defaults(level: &mut Value) {
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
