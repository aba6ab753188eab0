//! Values by a schema: usual ones, as far as the schema and the name of the field tell.

use rand::{RngExt, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

use super::{odd::pick, schema::Schema};

/// The depth below which objects have their required fields only.
const DEPTH_MAX: usize = 4;
/// Usual texts, by the name of the field.
const USUAL: [(&str, &[&str]); 22] = [
    ("name", &["a", "web", "a.example.com"]),
    ("namespace", &["conformance", "other"]),
    ("image", &["busybox", "registry.example.com/a:1"]),
    ("ip", &["10.0.0.9", "::1"]),
    ("hostIP", &["10.0.0.9"]),
    ("path", &["/a", "a/b"]),
    ("mountPath", &["/mnt"]),
    ("key", &["a", "example.com/a"]),
    (
        "operator",
        &["In", "NotIn", "Exists", "DoesNotExist", "Equal", "Gt"],
    ),
    ("type", &["A", "Ready", "ClusterIP", "RollingUpdate"]),
    ("status", &["True", "False", "Unknown"]),
    (
        "expression",
        &["true", "object.metadata.name == 'a'", "self.a > 1", "1 + 1"],
    ),
    ("url", &["https://example.com/a"]),
    ("driver", &["csi.example.com"]),
    ("kind", &["Pod", "Deployment", "User"]),
    ("apiVersion", &["v1", "apps/v1"]),
    ("apiGroup", &["", "apps", "rbac.authorization.k8s.io"]),
    ("cidr", &["10.0.0.0/8"]),
    ("host", &["a.example.com"]),
    ("protocol", &["TCP", "UDP", "SCTP"]),
    ("effect", &["NoSchedule", "NoExecute"]),
    ("uid", &["0b1c2d3e-0000-4000-8000-000000000001"]),
];
const WORDS: [&str; 8] = [
    "a",
    "b",
    "x-1",
    "Always",
    "None",
    "a.example.com",
    "example.com/a",
    "10",
];
const QUANTITIES: [&str; 7] = ["1", "100m", "1Gi", "0", "1.5", "-1", "1e3"];

/// Draws a value of the field `name`.
pub(super) fn of(rng: &mut ChaCha8Rng, schema: Schema<'_>, name: &str) -> Value {
    at_depth(rng, schema, name, 0)
}

fn at_depth(rng: &mut ChaCha8Rng, schema: Schema<'_>, name: &str, depth: usize) -> Value {
    if let Some(value) = schema.allowed().choose(rng) {
        return value.clone();
    }
    match schema.kind() {
        "quantity" => json!(pick(rng, &QUANTITIES)),
        "int-or-string" => pick(rng, &[json!(1), json!(80), json!("25%"), json!("http")]),
        "integer" => integer(rng, name),
        "number" => pick(rng, &[json!(0.5), json!(1), json!(2.5)]),
        "boolean" => json!(rng.random_bool(0.5)),
        "string" => json!(text(rng, schema.format(), name)),
        "array" => array(rng, schema, name, depth),
        "object" => object(rng, schema, depth),
        _ => pick(
            rng,
            &[json!("a"), json!(1), json!({"a": "b"}), json!([1, "a"])],
        ),
    }
}

fn integer(rng: &mut ChaCha8Rng, name: &str) -> Value {
    let name = name.to_lowercase();
    if name.contains("port") {
        json!(pick(rng, &[80, 443, 8080, 30_080]))
    } else if name.contains("seconds") {
        json!(pick(rng, &[1, 10, 600]))
    } else {
        json!(rng.random_range(0..6))
    }
}

fn text(rng: &mut ChaCha8Rng, format: &str, name: &str) -> String {
    match format {
        "date-time" => return "2026-01-01T00:00:00Z".to_owned(),
        "byte" => return "AAEC".to_owned(),
        _ => {}
    }
    let usual = USUAL.iter().find(|(field, _)| *field == name);
    let usual = usual.filter(|_| rng.random_bool(0.8));
    let texts = usual.map_or(&WORDS[..], |(_, texts)| texts);
    pick(rng, texts).to_owned()
}

fn array(rng: &mut ChaCha8Rng, schema: Schema<'_>, name: &str, depth: usize) -> Value {
    let Some(items) = schema.items() else {
        return json!([]);
    };
    let count = pick(rng, &[0, 1, 1, 1, 2]);
    (0..count)
        .map(|_| at_depth(rng, items, name, depth + 1))
        .collect()
}

fn object(rng: &mut ChaCha8Rng, schema: Schema<'_>, depth: usize) -> Value {
    let mut object = Map::new();
    if let Some(values) = schema.values() {
        let key = pick(rng, &["a", "b", "example.com/a", "cpu"]);
        object.insert(key.to_owned(), at_depth(rng, values, key, depth + 1));
    }
    let fields: Vec<(&str, Schema<'_>)> = schema.fields().collect();
    // About two of the optional fields, however many there are.
    let share = 2.0_f64.min(count(fields.len())) / count(fields.len().max(1));
    for (name, field) in fields {
        let is_drawn = depth < DEPTH_MAX && rng.random_bool(share);
        if schema.requires(name) || is_drawn {
            object.insert(name.to_owned(), at_depth(rng, field, name, depth + 1));
        }
    }
    Value::Object(object)
}

fn count(number: usize) -> f64 {
    u32::try_from(number).unwrap_or(u32::MAX).into()
}
