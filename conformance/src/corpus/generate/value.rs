//! Values by a schema: usual ones, as far as the schema and the name of the field tell, and odd ones of the same types.

use rand::{RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};
use serde_json::{Map, Value, json};

use super::{
    odd::{self, pick},
    schema::Schema,
};

/// The share of leaves that are odd in an odd value.
const ODD: f64 = 0.4;
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
const ODD_QUANTITIES: [&str; 6] = ["", "1x", "+1", ".5", "0.0001", "100000000000000000000"];

/// Draws a value of the field `name`.
pub(super) fn of(rng: &mut ChaCha8Rng, schema: Schema<'_>, name: &str) -> Value {
    at_depth(rng, schema, name, (0.0, 0))
}

/// Draws a value of the field `name` some of whose texts, numbers and keys are at the bounds of what is valid.
pub(super) fn odd_of(rng: &mut ChaCha8Rng, schema: Schema<'_>, name: &str) -> Value {
    at_depth(rng, schema, name, (ODD, 0))
}

/// Draws a value, given the share of odd leaves and the depth.
fn at_depth(rng: &mut ChaCha8Rng, schema: Schema<'_>, name: &str, at: (f64, usize)) -> Value {
    let is_odd = at.0 > 0.0 && rng.random_bool(at.0);
    if let Some(value) = schema.allowed().choose(rng) {
        return if is_odd {
            json!("Bogus")
        } else {
            value.clone()
        };
    }
    match schema.kind() {
        "quantity" if is_odd => json!(pick(rng, &ODD_QUANTITIES)),
        "quantity" => json!(pick(rng, &QUANTITIES)),
        "int-or-string" if is_odd => pick(rng, &[json!(-1), json!("110%"), json!("")]),
        "int-or-string" => pick(rng, &[json!(1), json!(80), json!("25%"), json!("http")]),
        "integer" if is_odd => odd::number(rng, &1.into()),
        "integer" => integer(rng, name),
        "number" => pick(rng, &[json!(0.5), json!(1), json!(2.5)]),
        "boolean" => json!(rng.random_bool(0.5)),
        "string" => {
            let usual = text(rng, schema.format(), name);
            json!(if is_odd {
                odd::text(rng, &usual)
            } else {
                usual
            })
        }
        "array" => array(rng, schema, name, at),
        "object" => object(rng, schema, at),
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

fn array(
    rng: &mut ChaCha8Rng,
    schema: Schema<'_>,
    name: &str,
    (odd, depth): (f64, usize),
) -> Value {
    let Some(items) = schema.items() else {
        return json!([]);
    };
    let count = pick(rng, &[0, 1, 1, 1, 2]);
    (0..count)
        .map(|_| at_depth(rng, items, name, (odd, depth + 1)))
        .collect()
}

fn object(rng: &mut ChaCha8Rng, schema: Schema<'_>, (odd, depth): (f64, usize)) -> Value {
    let mut object = Map::new();
    if let Some(values) = schema.values() {
        let keys = ["a", "b", "example.com/a", "cpu"];
        let mut key = pick(rng, &keys).to_owned();
        if odd > 0.0 && rng.random_bool(odd) {
            key = odd::text(rng, &key);
        }
        let value = at_depth(rng, values, &key, (odd, depth + 1));
        object.insert(key, value);
    }
    let fields: Vec<(&str, Schema<'_>)> = schema.fields().collect();
    // About two of the optional fields, however many there are.
    let share = 2.0_f64.min(count(fields.len())) / count(fields.len().max(1));
    for (name, field) in fields {
        let is_drawn = depth < DEPTH_MAX && rng.random_bool(share);
        if schema.requires(name) || is_drawn {
            let value = at_depth(rng, field, name, (odd, depth + 1));
            object.insert(name.to_owned(), value);
        }
    }
    Value::Object(object)
}

fn count(number: usize) -> f64 {
    u32::try_from(number).unwrap_or(u32::MAX).into()
}
