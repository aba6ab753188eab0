//! Strategies of proptest for objects of a definition and for workloads about them. A server is asked whether it takes them, so
//! that rules in CEL are kept.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use fakeserver::{Clock, FakeServer};
use proptest::{
    collection::{btree_map, vec},
    option,
    prelude::{BoxedStrategy, Just, Strategy, any},
    sample::{Index, select},
    string::string_regex,
};
use serde_json::{Map, Value, json};
use support::seed::Seed;
use tokio::runtime::{Builder, Runtime};

use super::{
    differential::is_taken,
    generate::{self, Change},
    kinds::{ObjectRef, ServedKinds},
    workload::{Action, PatchType, Workload},
    world::World,
};

/// The quiet after each change of a workload.
const QUIET: std::time::Duration = std::time::Duration::from_secs(1);
/// The number of fields that a workload changes, at most.
const CHANGES_MAX: usize = 4;
/// The depth to which fields are drawn that are not required.
const DEPTH_MAX: usize = 5;
/// The largest number of items, and the largest integer, where a schema tells none.
const ITEMS_MAX: usize = 3;
const INTEGER_MAX: i64 = 10;
const REJECTED: &str = "the server refuses it";

/// A server that is asked what it takes.
#[derive(Clone)]
struct Validator(Arc<Mutex<(Runtime, World)>>);

/// Returns valid objects with this name in the namespace `default`, drawn from the schema of a definition's last version.
///
/// # Panics
///
/// Within a tokio runtime, or if `definition` is no definition of a custom resource that a server takes.
pub fn objects(definition: &Value, name: &str) -> impl Strategy<Value = Value> + use<> {
    let checks = Validator::of(definition);
    drawn(definition, name).prop_filter(REJECTED, move |object| checks.takes(object))
}

/// Returns workloads about an object of a definition: it is applied, fields are changed one at a time and changed back, and it may be
/// deleted and created again.
///
/// # Panics
///
/// Within a tokio runtime, or if `definition` is no definition of a custom resource that a server takes.
pub fn workloads(definition: &Value, name: &str) -> impl Strategy<Value = Workload> + use<> {
    let checks = Validator::of(definition);
    let of = definition.clone();
    let chosen = (
        objects(definition, name),
        vec(any::<Index>(), 0..=CHANGES_MAX),
        any::<bool>(),
    );
    chosen.prop_map(move |(object, places, is_made_anew)| {
        let changes = checks.changes(&object, &of);
        let reference = ObjectRef::to(&object);
        let mut workload = Workload::new().apply(&object).quiet(QUIET);
        for place in places.iter().filter(|_| !changes.is_empty()) {
            let change = place.get(&changes);
            for is_back in [false, true] {
                let patch = Action::Patch {
                    object: reference.clone(),
                    media_type: PatchType::Merge,
                    body: change.patch(is_back),
                    status: false,
                };
                workload = workload.step(patch).quiet(QUIET);
            }
        }
        if is_made_anew {
            let deleted = Action::Delete {
                object: reference,
                propagation: None,
            };
            workload = workload.step(deleted).quiet(QUIET);
            workload = workload.apply(&object).quiet(QUIET);
        }
        workload
    })
}

fn drawn(definition: &Value, name: &str) -> BoxedStrategy<Value> {
    let spec = &definition["spec"];
    let versions = spec["versions"].as_array().map_or(&[][..], Vec::as_slice);
    let version = versions.last().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut metadata = json!({"name": name});
    if spec["scope"] == "Namespaced" {
        metadata["namespace"] = json!("default");
    }
    let object = json!({
        "apiVersion": format!("{}/{}", text(&spec["group"]), text(&version["name"])),
        "kind": spec["names"]["kind"],
        "metadata": metadata,
    });
    let schema = &version["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let spec = value_of(schema, 0);
    spec.prop_map(move |spec| {
        let mut object = object.clone();
        object["spec"] = spec;
        object
    })
    .boxed()
}

/// Returns values of a schema.
fn value_of(schema: &Value, depth: usize) -> BoxedStrategy<Value> {
    if let Some(choices) = schema["enum"].as_array().filter(|it| !it.is_empty()) {
        return select(choices.clone()).boxed();
    }
    if schema["x-kubernetes-int-or-string"] == true {
        return (0..=INTEGER_MAX).prop_map(Value::from).boxed();
    }
    match schema["type"].as_str() {
        Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
        Some("integer") => integer(schema).prop_map(Value::from).boxed(),
        Some("number") => integer(schema).prop_map(|number| json!(number)).boxed(),
        Some("string") => string(schema),
        Some("array") => {
            let (min, max) = size(schema, "minItems", "maxItems");
            let items = vec(value_of(&schema["items"], depth + 1), min..=max);
            items.prop_map(Value::from).boxed()
        }
        _ => object(schema, depth),
    }
}

fn object(schema: &Value, depth: usize) -> BoxedStrategy<Value> {
    let additional = &schema["additionalProperties"];
    if additional.is_object() {
        let (min, max) = size(schema, "minProperties", "maxProperties");
        let values = btree_map("[a-z]{1,8}", value_of(additional, depth + 1), min..=max);
        let values = values.prop_map(|values| Value::Object(values.into_iter().collect()));
        return values.boxed();
    }
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let fields: Vec<BoxedStrategy<Option<(String, Value)>>> = properties
        .map(|(name, schema)| {
            let name = name.clone();
            let is_required = required.contains(&name.as_str());
            if depth >= DEPTH_MAX && !is_required {
                return Just(None).boxed();
            }
            let field = value_of(schema, depth + 1);
            let field = field.prop_map(move |value| (name.clone(), value));
            if is_required {
                field.prop_map(Some).boxed()
            } else {
                option::of(field).boxed()
            }
        })
        .collect();
    fields
        .prop_map(|fields| Value::Object(fields.into_iter().flatten().collect::<Map<_, _>>()))
        .boxed()
}

fn integer(schema: &Value) -> BoxedStrategy<i64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "limits of integers are integers, and others are refused by the server"
    )]
    let limit = |name: &str| schema[name].as_f64().map(|limit| limit as i64);
    let min = limit("minimum").unwrap_or_default();
    let max = limit("maximum").unwrap_or(min.saturating_add(INTEGER_MAX));
    (min..=max.max(min)).boxed()
}

fn string(schema: &Value) -> BoxedStrategy<Value> {
    if let Some(pattern) = schema["pattern"].as_str() {
        let pattern = pattern.trim_start_matches('^').trim_end_matches('$');
        if let Ok(strings) = string_regex(pattern) {
            return strings.prop_map(Value::from).boxed();
        }
    }
    let formatted = match schema["format"].as_str() {
        Some("date-time") => Some("2026-01-01T00:00:00Z"),
        Some("date") => Some("2026-01-01"),
        Some("duration") => Some("1m30s"),
        Some("byte") => Some("c3Vydml2ZQ=="),
        Some("uri") => Some("https://example.org/"),
        _ => None,
    };
    if let Some(text) = formatted {
        return Just(json!(text)).boxed();
    }
    let (min, max) = size(schema, "minLength", "maxLength");
    let texts = string_regex(&format!("[a-z]{{{},{}}}", min.max(1), max.max(1)));
    let texts = texts.expect("it is a pattern of letters");
    texts.prop_map(Value::from).boxed()
}

/// Returns the limits of a length.
fn size(schema: &Value, min: &str, max: &str) -> (usize, usize) {
    let limit = |name: &str| {
        schema[name]
            .as_u64()
            .and_then(|it| usize::try_from(it).ok())
    };
    let min = limit(min).unwrap_or_default();
    let max = limit(max).unwrap_or(usize::MAX).min(min + ITEMS_MAX);
    (min, max)
}

// === impl Validator ===

impl Validator {
    fn of(definition: &Value) -> Self {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("the system gives what a runtime needs");
        let world = runtime.block_on(async {
            let clock = Clock::default();
            let server = FakeServer::builder().with_clock(clock);
            let server = server.with_object(definition).build();
            let kinds = ServedKinds::read(&server.router()).await;
            World {
                server,
                kinds,
                clock,
            }
        });
        Self(Arc::new(Mutex::new((runtime, world))))
    }

    fn takes(&self, object: &Value) -> bool {
        let checks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (runtime, world) = &*checks;
        runtime.block_on(async {
            let is_taken = world.apply(object).is_ok();
            let _ = world.server.delete(object);
            is_taken
        })
    }

    /// Returns the changes of an object that the server takes.
    fn changes(&self, object: &Value, definition: &Value) -> Vec<Change> {
        let checks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (runtime, world) = &*checks;
        runtime.block_on(async {
            let _ = world.apply(object);
            let mut taken = Vec::new();
            for change in generate::changes(object, definition, Seed::new(0)) {
                if is_taken(world, object, &change).await {
                    taken.push(change);
                }
            }
            let _ = world.server.delete(object);
            taken
        })
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Validator")
    }
}

#[cfg(test)]
mod tests {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};

    use super::*;

    fn definition() -> Value {
        let spec = json!({
            "type": "object",
            "required": ["image", "replicas"],
            "properties": {
                "image": {"type": "string", "pattern": "^[a-z]+:[0-9]$"},
                "replicas": {"type": "integer", "minimum": 1, "maximum": 5},
                "max": {"type": "integer", "minimum": 1, "maximum": 5},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "x-kubernetes-validations": [{"rule": "!has(self.max) || self.replicas <= self.max"}],
        });
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "websites.example.org"},
            "spec": {
                "group": "example.org",
                "scope": "Namespaced",
                "names": {"plural": "websites", "singular": "website", "kind": "Website", "listKind": "WebsiteList"},
                "versions": [{
                    "name": "v1",
                    "served": true,
                    "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
                }],
            },
        })
    }

    fn drawn(count: usize) -> Vec<Workload> {
        let strategy = workloads(&definition(), "one");
        let mut runner = TestRunner::deterministic();
        let tree = |_| strategy.new_tree(&mut runner).unwrap().current();
        (0..count).map(tree).collect()
    }

    #[test]
    fn workloads_keep_to_the_schema_and_its_rules() {
        let all = drawn(20);
        let applied = all.iter().map(|workload| match &workload.steps[0].action {
            Action::Apply(objects) => &objects[0]["spec"],
            other => panic!("{other:?}"),
        });
        let mut has_max = 0;
        for spec in applied {
            let replicas = spec["replicas"].as_i64().unwrap();
            assert!((1..=5).contains(&replicas), "{spec}");
            assert!(spec["max"].as_i64().is_none_or(|max| replicas <= max));
            assert!(spec["image"].as_str().unwrap().contains(':'), "{spec}");
            has_max += usize::from(spec["max"].is_i64());
        }
        assert!(has_max > 0);
        assert!(all.iter().any(|workload| workload.steps.len() > 2));
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        assert_eq!(format!("{:?}", drawn(5)), format!("{:?}", drawn(5)));
    }
}
