//! A rule as a value: a fault, a filter and a trigger.

use fakeserver_value::similar::closest_name;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

use super::{Fault, Filter, Rule, SpecError, Trigger};

/// A rule as a value, with a form in JSON for tests in any language:
///
/// ```
/// # use fakeserver_server as fakeserver;
/// use fakeserver::faults::FaultSpec;
///
/// let text = r#"{
///     "fault": "throttle", "retryAfterSeconds": 5,
///     "match": {"client": "x", "verb": "watch", "resource": "pods"},
///     "when": {"nth": 3, "times": 1}
/// }"#;
/// let spec: FaultSpec = serde_json::from_str(text)?;
/// let server = fakeserver::FakeServer::builder().build();
/// let guard = server.faults().install_spec(&spec);
/// assert_eq!(server.faults().installed()[0].spec, spec);
/// # drop(guard);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// `fault` is a name of the catalogue, `fakeserver::docs::faults`, and the parameters of that fault stand beside it. `match` is
/// a [`Filter`], `when` a [`Trigger`]; both are optional.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FaultSpec {
    /// The fault.
    pub fault: Fault,
    /// The requests and watches that it affects.
    pub filter: Filter,
    /// The occasions at which it fires.
    pub when: Trigger,
}

// === impl FaultSpec ===

impl FaultSpec {
    /// Returns the spec that fires at each occasion of all requests.
    pub fn new(fault: Fault) -> Self {
        Self {
            fault,
            filter: Filter::any(),
            when: Trigger::always(),
        }
    }

    /// Restricts it to requests that match, and to frames of such watches.
    #[must_use]
    pub fn matching(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Replaces the trigger.
    #[must_use]
    pub fn when(mut self, when: Trigger) -> Self {
        self.when = when;
        self
    }

    /// Returns its rule.
    pub fn rule(&self) -> Box<dyn Rule> {
        let rule = self.fault.rule().matching(self.filter.clone());
        Box::new(rule.when(self.when))
    }

    /// Reads one spec, or an array of specs, from JSON.
    ///
    /// # Errors
    ///
    /// The JSON or a spec is invalid: the error names the field, after the index in the array. Do not retry.
    pub fn read(json: &[u8]) -> Result<Vec<Self>, SpecError> {
        let value: Value = serde_json::from_slice(json)
            .map_err(|error| SpecError::new("", format!("no JSON: {error}")))?;
        let Value::Array(items) = value else {
            return Ok(vec![Self::from_value(value)?]);
        };
        let specs = items.into_iter().enumerate();
        specs
            .map(|(place, item)| Self::from_value(item).map_err(|error| error.at(place)))
            .collect()
    }

    /// Reads a spec from JSON.
    ///
    /// # Errors
    ///
    /// The spec is invalid; the error names the field. Do not retry.
    pub fn from_value(value: Value) -> Result<Self, SpecError> {
        let Value::Object(mut fields) = value else {
            return Err(SpecError::new(
                "",
                "a fault is an object, with its name as \"fault\"",
            ));
        };
        let filter: Filter = part(&mut fields, "match")?;
        let when: Trigger = part(&mut fields, "when")?;
        let fault = match fields.remove("fault") {
            Some(Value::String(name)) => fault(&name, fields)?,
            Some(_) => return Err(SpecError::new("fault", "the name of a fault is a string")),
            None => return Err(SpecError::new("fault", "it has to be named")),
        };
        let problem = |part: &str, found: Option<(&'static str, String)>| match found {
            Some((field, why)) if part.is_empty() => Err(SpecError::new(field, why)),
            Some((field, why)) => Err(SpecError::new(format!("{part}.{field}"), why)),
            None => Ok(()),
        };
        problem("", fault.problem())?;
        problem("match", filter.problem())?;
        problem("when", when.problem())?;
        Ok(Self {
            fault,
            filter,
            when,
        })
    }

    /// Returns its form in JSON.
    pub fn to_value(&self) -> Value {
        let to_json = |value: serde_json::Result<Value>| value.expect("its maps have string keys");
        let mut fields = Map::new();
        fields.insert("fault".to_owned(), self.fault.name().into());
        if let Value::Object(parameters) = to_json(serde_json::to_value(self.fault)) {
            let of_fault = parameters.into_iter().filter_map(|(_, value)| match value {
                Value::Object(parameters) => Some(parameters),
                _ => None,
            });
            fields.extend(of_fault.flatten());
        }
        if self.filter != Filter::any() {
            let filter = to_json(serde_json::to_value(&self.filter));
            fields.insert("match".to_owned(), filter);
        }
        if self.when != Trigger::always() {
            let when = to_json(serde_json::to_value(self.when));
            fields.insert("when".to_owned(), when);
        }
        Value::Object(fields)
    }
}

impl Serialize for FaultSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FaultSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// Takes an optional part of a spec out of its fields.
fn part<T: de::DeserializeOwned + Default>(
    fields: &mut Map<String, Value>,
    name: &str,
) -> Result<T, SpecError> {
    let Some(value) = fields.remove(name) else {
        return Ok(T::default());
    };
    serde_path_to_error::deserialize(value).map_err(|error| SpecError::within(name, &error))
}

/// Returns the error of an unknown fault, with the most similar name.
pub fn unknown_fault(name: &str) -> String {
    let similar = closest_name(name, Fault::all().map(Fault::name));
    let similar = similar.map(|similar| format!(" (did you mean {similar:?}?)"));
    let similar = similar.unwrap_or_default();
    format!(
        "there is no fault {name:?}{similar}; `fakeserver faults` and `/_control/faults/catalogue` list them"
    )
}

/// Returns the fault `name` with these parameters.
fn fault(name: &str, parameters: Map<String, Value>) -> Result<Fault, SpecError> {
    let Some(fault) = Fault::named(name) else {
        return Err(SpecError::new("fault", unknown_fault(name)));
    };
    let expected = fault.entry().parameters;
    let mut given = parameters.keys();
    if let Some(unknown) = given.find(|field| !expected.contains(&field.as_str())) {
        let reason = match expected {
            [] => format!("the fault {name:?} has no parameters"),
            expected => {
                let expected = expected.join(", ");
                format!("the fault {name:?} has no such parameter, but {expected}")
            }
        };
        return Err(SpecError::new(unknown, reason));
    }
    if expected.is_empty() {
        return Ok(fault);
    }
    let value = Map::from_iter([(name.to_owned(), Value::Object(parameters))]);
    serde_path_to_error::deserialize(Value::Object(value))
        .map_err(|error| SpecError::within("", &error))
}
