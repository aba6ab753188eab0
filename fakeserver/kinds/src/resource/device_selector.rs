//! Compiled expressions that select devices.

use std::collections::{BTreeMap, BTreeSet};

use fakeserver_cel::{
    Key, KnownVariables, Program, Value as CelValue, convert_text, from_json, map,
};
use serde_json::Value;

use crate::expression::DeclaredVariables;

/// The variable that expressions read.
const DEVICE: &str = "device";

/// A compiled expression that selects devices.
#[derive(Debug)]
pub struct DeviceSelector {
    program: Program,
    /// The texts in it, of which some name domains. One that a device has nothing of is empty, and not missing.
    texts: BTreeSet<String>,
}

// === impl DeviceSelector ===

impl DeviceSelector {
    /// Compiles an expression.
    ///
    /// # Errors
    ///
    /// The expression is invalid; the error is in a real server's words.
    pub fn compile(expression: &str) -> Result<Self, String> {
        let program = DeclaredVariables::only(&[DEVICE]).compile(expression)?;
        let parts = expression.split(['"', '\'']);
        Ok(Self {
            program,
            texts: parts.skip(1).step_by(2).map(str::to_owned).collect(),
        })
    }

    /// Returns whether it selects a device of a driver.
    ///
    /// # Errors
    ///
    /// The evaluation fails, or its result is neither true nor false.
    pub fn selects(&self, driver: &str, device: &Value) -> Result<bool, String> {
        let variables = KnownVariables(BTreeMap::from([(DEVICE, self.variable(driver, device))]));
        match self.program.evaluate(&variables).0 {
            Ok(CelValue::Bool(selects)) => Ok(selects),
            Ok(_) => Err("CEL result of type unknown could not be converted to bool".to_owned()),
            Err(failure) => Err(failure.message().to_owned()),
        }
    }

    /// Returns a device as expressions see it: its attributes and capacities by domain.
    fn variable(&self, driver: &str, device: &Value) -> CelValue {
        let by_domain = |entries: &Value, value: fn(&Value) -> CelValue| {
            let mut domains: BTreeMap<&str, Vec<(Key, CelValue)>> = BTreeMap::new();
            domains.insert(driver, Vec::new());
            for domain in &self.texts {
                domains.insert(domain, Vec::new());
            }
            for (name, entry) in entries.as_object().into_iter().flatten() {
                let (domain, id) = name.split_once('/').unwrap_or((driver, name));
                let entries = domains.entry(domain).or_default();
                entries.push((key(id), value(entry)));
            }
            map(domains
                .into_iter()
                .map(|(domain, entries)| (key(domain), map(entries))))
        };
        map([
            (key("driver"), from_json(&driver.into())),
            (
                key("allowMultipleAllocations"),
                CelValue::Bool(device["allowMultipleAllocations"] == true),
            ),
            (
                key("attributes"),
                by_domain(&device["attributes"], attribute),
            ),
            (key("capacity"), by_domain(&device["capacity"], capacity)),
        ])
    }
}

fn key(text: &str) -> Key {
    Key::String(text.into())
}

fn attribute(attribute: &Value) -> CelValue {
    if let Some(version) = attribute["version"].as_str() {
        return convert_text("semver", version).unwrap_or(CelValue::Null);
    }
    let fields = ["string", "int", "bool"];
    let value = fields.iter().find_map(|field| attribute.get(field));
    from_json(value.unwrap_or(&Value::Null))
}

fn capacity(capacity: &Value) -> CelValue {
    let quantity = capacity["value"].as_str().unwrap_or_default();
    convert_text("quantity", quantity).unwrap_or(CelValue::Null)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn devices_are_selected_by_attributes_and_capacity() {
        let device = json!({
            "name": "gpu-0",
            "attributes": {
                "model": {"string": "a100"},
                "cores": {"int": 8},
                "other.example.com/shared": {"bool": true},
                "driverVersion": {"version": "1.2.3"},
            },
            "capacity": {"memory": {"value": "40Gi"}},
        });
        let selects = |expression: &str| {
            let selector = DeviceSelector::compile(expression)?;
            selector.selects("gpu.example.com", &device)
        };
        for expression in [
            "device.driver == 'gpu.example.com'",
            "device.attributes['gpu.example.com'].model == 'a100'",
            "device.attributes[\"gpu.example.com\"].cores >= 8",
            "device.attributes['other.example.com'].shared",
            "device.attributes['gpu.example.com'].driverVersion.isGreaterThan(semver('1.0.0'))",
            "device.capacity['gpu.example.com'].memory.compareTo(quantity('20Gi')) >= 0",
            "!has(device.attributes['none.example.com'].model)",
        ] {
            assert_eq!(selects(expression), Ok(true), "{expression}");
        }
        assert_eq!(selects("device.driver == 'x'"), Ok(false));
        assert_eq!(
            selects("device.attributes['gpu.example.com'].speed > 1"),
            Err("no such key: speed".to_owned())
        );
        assert!(selects("1 +").is_err());
    }
}
