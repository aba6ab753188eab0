//! The texts and numbers in the objects of a run.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Resource, swarm::some_of};
use crate::seed::Seed;

/// The length of a long text: a body with it has several chunks.
const LONG_TEXT_CHARS: usize = 3_000;

/// A kind of content that readers, splitters and compressors may corrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new kind has to be handled wherever there is a match"
)]
pub enum Content {
    /// Characters of two to four bytes.
    NonAscii,
    /// Characters that JSON escapes: quotes, backslashes, controls.
    Escapes,
    /// Text that looks like JSON.
    Nesting,
    /// A text of several thousand bytes.
    LongText,
    /// Empty texts, lists and maps, and null.
    Empty,
    /// Integers that a float of 64 bits cannot hold.
    BigNumbers,
}

// === impl Content ===

impl Content {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::NonAscii,
        Self::Escapes,
        Self::Nesting,
        Self::LongText,
        Self::Empty,
        Self::BigNumbers,
    ];

    /// Returns a text of this kind.
    pub fn text(self) -> String {
        match self {
            Self::NonAscii => "Straße, 日本語, \u{1F600}, e\u{301}, \u{feff}".to_owned(),
            Self::Escapes => {
                "\"\\\"\\\\ \u{0}\u{1}\u{1f}\u{7f}\n\r\t\\u0041 </b> \u{2028}".to_owned()
            }
            Self::Nesting => {
                r#"{"items":[{"a":[[{"b":"}]\"{"}]]}],"metadata":{"name":"x"}}"#.to_owned()
            }
            Self::LongText => "né\\ ".repeat(LONG_TEXT_CHARS / 4),
            Self::Empty => String::new(),
            Self::BigNumbers => "9007199254740993 1e21 -0".to_owned(),
        }
    }

    /// Adds content of this kind to a new object.
    pub(crate) fn put_into(self, resource: Resource, object: &mut Value) {
        object["metadata"]["annotations"]["content"] = json!(self.text());
        match resource {
            Resource::ConfigMaps => object["data"]["content"] = json!(self.text()),
            Resource::Pods => self.put_into_pod(&mut object["spec"]),
            Resource::Nodes => {}
        }
    }

    fn put_into_pod(self, spec: &mut Value) {
        let container = &mut spec["containers"][0];
        match self {
            Self::BigNumbers => {
                spec["terminationGracePeriodSeconds"] = json!(9_007_199_254_740_993_i64);
            }
            Self::Empty => {
                container["args"] = json!([]);
                container["env"] = Value::Null;
                spec["nodeSelector"] = json!({});
            }
            // A variable cannot hold the character 0.
            Self::Escapes => container["env"] = json!([{"name": "A", "value": "\"\\\n\t"}]),
            Self::NonAscii | Self::Nesting | Self::LongText => {
                container["env"] = json!([
                    {"name": "A", "value": self.text()},
                    {"name": "B", "value": "b"},
                ]);
            }
        }
    }
}

/// Draws the kinds of content of a run: none in a third of all runs.
pub(crate) fn draw(seed: Seed) -> Vec<Content> {
    let rng = &mut seed.stream("contents");
    if rng.random_bool(0.34) {
        return Vec::new();
    }
    some_of(rng, &Content::ALL, 0.5)
}
