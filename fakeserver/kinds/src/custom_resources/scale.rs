//! The scale of custom objects, whose parts are where their definition says.

use serde_json::{Map, Value, json};

use super::validation::scale::{access_error, names_of, nested};

/// The paths to the parts of a scale, as `subresources.scale` of a version has them.
#[derive(Clone, Copy, Debug)]
pub struct CustomScale<'a>(pub(super) &'a Value);

/// The parts of a scale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScaleParts {
    /// The wanted replicas; `None` if the object does not say.
    pub replicas: Option<i64>,
    pub present_replicas: i64,
    /// The selector of the pods as text; empty if there is none.
    pub selector: String,
}

// === impl CustomScale ===

impl<'a> CustomScale<'a> {
    /// Returns the path to the wanted replicas, as the definition writes it.
    pub fn replicas_path(self) -> &'a str {
        self.path("specReplicasPath")
    }

    /// Returns the scale of an object.
    #[doc(alias = "scaleFromCustomResource")]
    pub(crate) fn parts(self, object: &Value) -> Result<ScaleParts, String> {
        let count = |path: &str| match nested(object, path)? {
            None => Ok(None),
            Some(value) => match value.as_i64() {
                Some(count) => Ok(Some(count)),
                None => Err(access_error(path, value, "int64")),
            },
        };
        let replicas = count(self.replicas_path())?;
        let present_replicas = count(self.path("statusReplicasPath"))?.unwrap_or_default();
        let selector = match self.path("labelSelectorPath") {
            "" => None,
            path => match nested(object, path)? {
                Some(Value::String(selector)) => Some(selector.clone()),
                Some(other) => return Err(access_error(path, other, "string")),
                None => None,
            },
        };
        Ok(ScaleParts {
            replicas,
            present_replicas,
            selector: selector.unwrap_or_default(),
        })
    }

    /// Sets the wanted replicas of an object, and creates missing parents.
    pub(crate) fn set_replicas(self, object: &mut Value, replicas: i64) -> Result<(), String> {
        let names = names_of(self.replicas_path());
        let mut place = object;
        for (depth, name) in names.iter().enumerate() {
            let fields = place.as_object_mut().ok_or_else(|| {
                let path = names[..depth].join(".");
                format!("value cannot be set because .{path} is not a map[string]interface{{}}")
            })?;
            place = fields
                .entry((*name).to_owned())
                .or_insert_with(|| Map::new().into());
        }
        *place = json!(replicas);
        Ok(())
    }

    fn path(self, field: &str) -> &'a str {
        self.0[field].as_str().unwrap_or_default()
    }
}
