//! The lines between the harness and a process under test.

use serde::{Deserialize, Serialize};

use crate::trace::{Key, Member, State};

/// A line of input. The end of the input tells the process to exit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Command {
    /// Begin to mirror this selection. This is the first line, and comes once.
    Start {
        /// The URL of the server.
        server: String,
        /// `pods`, `configmaps` or `nodes`, of the core group.
        resource: String,
        /// The namespace; all if `None`.
        namespace: Option<String>,
        /// A label selector as in a query; none if `None`.
        label_selector: Option<String>,
    },
    /// Report the content of the cache.
    Cache,
}

/// A line of output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Message {
    /// The first line, once the process is ready to start: the time of a run begins then.
    Hello(Introduction),
    /// The cache is complete: it holds the first list.
    Synced,
    /// The content of the cache, once for each question.
    Cache {
        /// All its objects, in any order.
        objects: Vec<StatedObject>,
    },
    /// An object was added.
    Added {
        /// Its state.
        object: StatedObject,
        /// True if it belongs to the initial state.
        #[serde(default)]
        is_initial: bool,
    },
    /// An object was updated.
    Updated {
        /// The old state.
        old: StatedObject,
        /// The new state.
        new: StatedObject,
    },
    /// An object was deleted.
    Deleted {
        /// The last known state; with the version of the deletion if that was seen.
        object: StatedObject,
        /// True if the deletion was missed and found out later.
        #[serde(default)]
        is_tombstone: bool,
    },
}

/// The introduction of a process. All fields are optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Introduction {
    /// The name of its library.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub library: String,
    /// The version of its library.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The checkers of handlers whose promises it does not make.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withholds: Vec<String>,
    /// True if an update from one uid to another stands for a deletion and an add.
    pub replaces_by_update: bool,
}

/// The state of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StatedObject {
    /// `namespace/name`, or the name alone.
    pub key: String,
    /// Its uid.
    pub uid: String,
    /// Its version, as on the wire.
    pub resource_version: String,
}

// === impl StatedObject ===

impl StatedObject {
    /// Creates the state of the object at `key`.
    pub fn new(key: impl Into<String>, state: &State) -> Self {
        Self {
            key: key.into(),
            uid: state.uid.to_string(),
            resource_version: state.revision.to_string(),
        }
    }

    /// Converts it for the trace. Fails, in words, if it cannot be the state of an object.
    pub(super) fn into_member(self) -> Result<Member, String> {
        if self.key.is_empty() || self.uid.is_empty() {
            return Err("an object has no key or no uid".to_owned());
        }
        let version = self.resource_version;
        let Ok(revision) = version.parse() else {
            return Err(format!("the resourceVersion \"{version}\" is no number"));
        };
        Ok(Member {
            key: Key::from(self.key),
            state: State::new(self.uid, revision),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, Introduction, Message, StatedObject};
    use crate::trace::State;

    #[test]
    fn commands_are_lines_of_json() {
        let start = Command::Start {
            server: "http://127.0.0.1:8080".to_owned(),
            resource: "configmaps".to_owned(),
            namespace: None,
            label_selector: Some("tier=web".to_owned()),
        };
        assert_eq!(
            serde_json::to_string(&start).unwrap(),
            r#"{"do":"start","server":"http://127.0.0.1:8080","resource":"configmaps","namespace":null,"labelSelector":"tier=web"}"#
        );
        assert_eq!(
            serde_json::to_string(&Command::Cache).unwrap(),
            r#"{"do":"cache"}"#
        );
    }

    #[test]
    fn messages_are_read_as_written() {
        let object = StatedObject::new("one/a", &State::new("u", 7));
        let lines = [
            (r#"{"say":"synced"}"#, Message::Synced),
            (
                r#"{"say":"hello","library":"x","replacesByUpdate":true}"#,
                Message::Hello(Introduction {
                    library: "x".to_owned(),
                    replaces_by_update: true,
                    ..Introduction::default()
                }),
            ),
            (
                r#"{"say":"added","object":{"key":"one/a","uid":"u","resourceVersion":"7"}}"#,
                Message::Added {
                    object: object.clone(),
                    is_initial: false,
                },
            ),
            (
                r#"{"say":"deleted","object":{"key":"one/a","uid":"u","resourceVersion":"7"},"isTombstone":true}"#,
                Message::Deleted {
                    object,
                    is_tombstone: true,
                },
            ),
            (
                r#"{"say":"cache","objects":[]}"#,
                Message::Cache {
                    objects: Vec::new(),
                },
            ),
        ];
        for (line, want) in lines {
            assert_eq!(serde_json::from_str::<Message>(line).unwrap(), want);
        }
        assert!(serde_json::from_str::<Message>(r#"{"say":"bye"}"#).is_err());
    }
}
