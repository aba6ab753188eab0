//! The kinds that requests are about, as a server serves them.

use serde_json::{Value, json};

use super::schema::{Schema, Schemas};
use crate::corpus::{Body, Request, SetUp};

/// The namespaces of the objects in the set-up, those of samples that limit others included.
const NAMESPACES: [&str; 2] = ["conformance", "conformance-limits"];
/// The label of all objects in the set-up, by which lists select them.
pub(super) const LABEL: (&str, &str) = ("corpus", "conformance");
/// The group of the custom resources in the set-up.
pub(super) const GROUP: &str = "conformance.example.com";
const DEFINITION: &str = "CustomResourceDefinition";

/// A kind with samples of its objects.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    /// The short name.
    pub(super) key: String,
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
    /// The path of the collection.
    pub(super) collection: String,
    pub(super) namespace: Option<String>,
    pub(super) subresources: Vec<Subresource>,
    /// Valid objects; the first one is that of the set-up.
    pub(super) samples: Vec<Value>,
    /// True if strategic merge patches apply.
    pub(super) is_built_in: bool,
    /// False for kinds that the set-up has no object of.
    pub(super) has_object: bool,
}

/// A subresource and its verbs.
#[derive(Clone, Debug)]
pub(super) struct Subresource {
    pub(super) name: String,
    pub(super) verbs: Vec<String>,
}

// === impl Subject ===

impl Subject {
    /// Returns the schema of the kind.
    pub(super) fn schema<'a>(&self, schemas: &'a Schemas) -> Option<Schema<'a>> {
        schemas.of_kind(&self.group, &self.version, &self.kind)
    }

    /// Returns the name of the object in the set-up.
    pub(super) fn name(&self) -> String {
        self.object(0, "")["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Returns the path of the object in the set-up.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.collection, self.name())
    }

    /// Returns a sample as an object of its own: `number` makes its name.
    pub(super) fn object(&self, sample: usize, number: &str) -> Value {
        let mut object = numbered(&self.samples[sample], number);
        let metadata = &mut object["metadata"];
        if metadata["name"].is_null() {
            let key = self.key.replace('.', "-");
            metadata["name"] = json!(format!("sample{number}-{key}"));
        }
        if let Some(namespace) = &self.namespace {
            metadata["namespace"] = json!(namespace);
        }
        metadata["labels"][LABEL.0] = json!(LABEL.1);
        object
    }

    /// Returns true if objects like this sample may have any name, and tell it in their metadata only.
    pub(super) fn takes_any_name(&self, sample: usize) -> bool {
        let is_copied = self.kind == "Job";
        self.has_object && !is_copied && self.samples[sample]["metadata"]["name"].is_null()
    }

    /// Returns the requests that make the object of the set-up.
    pub(super) fn set_up(&self) -> Vec<SetUp> {
        if !self.has_object {
            return Vec::new();
        }
        let count = if self.kind == DEFINITION {
            self.samples.len()
        } else {
            1
        };
        let mut requests = Vec::new();
        for sample in 0..count {
            let object = self.object(sample, "");
            requests.push(creation(
                &self.collection,
                &object,
                (sample == 0).then(|| self.key.clone()),
            ));
            requests.extend(served(&object).filter(|_| self.kind == DEFINITION));
        }
        requests
    }
}

/// Returns the requests that make the namespaces.
pub(super) fn namespaces() -> impl Iterator<Item = SetUp> {
    NAMESPACES.into_iter().map(|name| {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        creation(
            "/api/v1/namespaces",
            &object,
            Some(format!("namespace/{name}")),
        )
    })
}

/// Returns the namespace of a sample's object.
pub(super) fn namespace_of(sample: &Value) -> String {
    let namespace = sample["metadata"]["namespace"].as_str();
    namespace.unwrap_or(NAMESPACES[0]).to_owned()
}

fn creation(collection: &str, object: &Value, key: Option<String>) -> SetUp {
    let request = Request::new("POST", collection).with_body(Body::Json(object.to_string()));
    SetUp {
        request,
        name: object["metadata"]["name"].as_str().map(str::to_owned),
        key,
        until: false,
    }
}

/// Returns the request that succeeds as soon as the resource of a definition is served.
fn served(definition: &Value) -> Option<SetUp> {
    let spec = &definition["spec"];
    let plural = spec["names"]["plural"].as_str()?;
    let place = match spec["scope"].as_str()? {
        "Namespaced" => format!("namespaces/{}/{plural}", NAMESPACES[0]),
        _ => plural.to_owned(),
    };
    Some(SetUp {
        request: Request::new("GET", format!("/apis/{GROUP}/v1/{place}")),
        name: None,
        key: None,
        until: true,
    })
}

/// Replaces `{n}` in all texts.
fn numbered(value: &Value, number: &str) -> Value {
    match value {
        Value::String(text) => json!(text.replace("{n}", number)),
        Value::Array(items) => items.iter().map(|item| numbered(item, number)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(key, value)| (key.clone(), numbered(value, number)))
                .collect()
        }
        other => other.clone(),
    }
}
