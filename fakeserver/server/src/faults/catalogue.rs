//! The catalogue: the facts about each fault that do not depend on its parameters.

use serde::{Serialize, Serializer, ser::SerializeStruct};

/// The facts about a fault that do not depend on its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CatalogueEntry {
    /// The number in the catalogue, `F1` and up. Several faults may share one.
    pub number: &'static str,
    /// The name.
    pub fault: &'static str,
    /// The parameters, by their names in JSON.
    pub parameters: &'static [&'static str],
    /// The effect, in a paragraph.
    pub effect: &'static str,
    /// The situation that it models, in a line.
    pub models: &'static str,
    /// The clients that were affected by the fault, or the kind of client that is.
    pub suffered: &'static str,
    /// The requests that it affects.
    pub target: Target,
    /// The recovery of a correct client.
    pub recovery: Recovery,
    /// Properties that few faults have.
    pub properties: &'static [Property],
}

/// The requests that a fault affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// All requests.
    Requests,
    /// Gets, lists and watches.
    Reads,
    /// Only streaming lists: watches with `sendInitialEvents`.
    StreamingLists,
    /// Writes only.
    Writes,
    /// Discovery only.
    Discovery,
}

/// The recovery of a correct reading client from a fault, which bounds its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a harness gives each its bound, and has to hear of a new one"
)]
pub enum Recovery {
    /// The client does not notice the fault.
    Unaffected,
    /// Data under way arrives late.
    Late,
    /// A request or a watch fails, and the client tries again after a backoff.
    Retry,
    /// The same, with requests under way that end late.
    LateRetry,
    /// The client gives up a request after its timeout, and tries again.
    RequestTimeout,
    /// The client notices that a watch is silent, and opens another.
    SilenceTimeout,
    /// The client pauses, since it is forbidden or the resource does not exist.
    Pause,
    /// Data under way arrives at the pace of the fault.
    Slow,
    /// No client recovers: a negative control, which a checker has to find.
    Never,
}

/// A property that few faults have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Property {
    /// The fault itself happens over TCP only; in process a client sees its effect.
    NeedsTcp,
    /// The client's resource version may expire.
    ExpiresVersions,
    /// The server breaks a promise of its streams, its lists or its versions.
    BreaksPromises,
    /// The reason why a proxy cannot inject the fault.
    ServerOnly(&'static str),
    /// Random plans leave the fault out, although clients that read recover from it, for this reason.
    NotDrawn(&'static str),
}

/// The property of faults that remove history.
pub(super) const REMOVES_HISTORY: Property =
    Property::ServerOnly("only the server has the history that it removes");
/// The property of faults that show older states.
pub(super) const SHOWS_OLD_STATES: Property =
    Property::ServerOnly("only the server has the states that it shows");
/// The property of faults that reorder initial events.
pub(super) const REORDERS_INITIAL_EVENTS: Property =
    Property::ServerOnly("only the server chooses the order of initial events");

// === impl CatalogueEntry ===

impl CatalogueEntry {
    /// Returns whether the fault itself happens over TCP only.
    pub fn needs_tcp(&self) -> bool {
        self.has(Property::NeedsTcp)
    }

    /// Returns whether a correct client can hold the fault: it converges when the fault ends, and sends at most the
    /// requests that its backoff allows. Negative controls cannot be held.
    pub fn can_be_held(&self) -> bool {
        self.recovery != Recovery::Never
    }

    /// Returns whether the client's resource version may expire.
    pub fn expires_versions(&self) -> bool {
        self.has(Property::ExpiresVersions)
    }

    /// Returns whether the server breaks a promise of its streams, its lists or its versions.
    pub fn breaks_promises(&self) -> bool {
        self.has(Property::BreaksPromises)
    }

    /// Returns the reason why a proxy cannot make the fault, if it cannot.
    pub fn server_only(&self) -> Option<&'static str> {
        self.properties.iter().find_map(|property| match property {
            Property::ServerOnly(reason) => Some(*reason),
            _ => None,
        })
    }

    /// Returns whether random plans contain the fault: it affects reading clients, and they can tolerate it.
    pub fn is_drawn(&self) -> bool {
        let meets_readers = !matches!(self.target, Target::Writes | Target::Discovery);
        let is_excepted = |property: &Property| matches!(property, Property::NotDrawn(_));
        meets_readers && self.can_be_held() && !self.properties.iter().any(is_excepted)
    }

    fn has(&self, wanted: Property) -> bool {
        self.properties.contains(&wanted)
    }
}

impl Serialize for CatalogueEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entry = serializer.serialize_struct("CatalogueEntry", 8)?;
        entry.serialize_field("number", self.number)?;
        entry.serialize_field("fault", self.fault)?;
        entry.serialize_field("effect", self.effect)?;
        entry.serialize_field("models", self.models)?;
        entry.serialize_field("suffered", self.suffered)?;
        entry.serialize_field("parameters", self.parameters)?;
        entry.serialize_field("needsTcp", &self.needs_tcp())?;
        entry.serialize_field("canBeHeld", &self.can_be_held())?;
        entry.end()
    }
}
