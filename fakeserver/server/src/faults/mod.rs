//! Faults between the server and its clients.
//!
//! A [`Rule`] gives a verdict on each request before it is served, and on each frame of a watch before it is sent. It is in
//! force from [`install`](Faults::install) until its [`RuleGuard`] is dropped. A [`Fault`] is a rule by name: a situation
//! that clients of real clusters meet. The catalogue, `fakeserver::docs::faults`, describes all of them, and every firing is
//! counted.
//!
//! A rule is made from a [`Fault`], from a [`FaultSpec`], which has a form in JSON, or from a function ([`hook()`]).
//!
//! # Examples
//!
//! ```
//! # use fakeserver_server as fakeserver;
//! use fakeserver::faults::{Fault, Filter};
//!
//! let server = fakeserver::FakeServer::builder().build();
//! // The third frame of all watches on pods ends its stream.
//! let rule = Fault::CleanEnd.rule().matching(Filter::any().resource("pods")).nth(3).times(1);
//! let guard = server.faults().install(rule);
//! assert_eq!(server.faults().fired().get("clean_end"), None);
//! drop(guard);
//! ```

mod connection;
mod listen_gate;
mod facts;
mod rewrite;
mod verdict;
mod disposition;
mod gate;
mod filter;
mod trigger;
mod rules;
mod firing;
mod rng;
mod fault_rule;
mod hook;
mod catalogue;
mod definition;
mod stream;
mod watch_list;
mod history;
mod view;
mod anomaly;
mod load;
mod write;
mod schema;
mod fault;
mod fault_spec;
mod error;

// The list of faults exports their parameters.
pub use self::fault::*;
pub use self::fault_spec::unknown_fault;
pub(crate) use self::gate::FaultGate;
pub use self::{
    catalogue::{CatalogueEntry, Property, Recovery, Target},
    connection::{Breakage, Connection},
    disposition::Disposition,
    error::SpecError,
    facts::{EventType, FrameFacts, RequestFacts},
    fault_rule::FaultRule,
    fault_spec::FaultSpec,
    filter::Filter,
    firing::{Firing, InstalledFault},
    history::gone::GoneForm,
    hook::hook,
    listen_gate::ListenGate,
    load::{server_error::ErrorBody, throttle::ThrottleForm},
    rewrite::Rewrite,
    rules::{Faults, Rule, RuleGuard},
    trigger::Trigger,
    verdict::{
        Action, Answer, BodyFault, FrameVerdict, ReadBound, Replacement, RequestVerdict,
        SeveredConnection,
    },
    write::lost_answer::LostAnswerForm,
};

use self::definition::Definition;

#[cfg(test)]
mod tests;
