//! Proves that a Kubernetes client's cache converges to the server's state under faults.
//!
//! A [`Seed`](seed::Seed) determines a [`Plan`](sim::Plan): operations on a simulated cluster, faults, informers and
//! their handlers. A plan runs on tokio's paused clock, in process, against the fake API server, and leaves a
//! [`Trace`](trace::Trace), in which the [checkers] look for broken promises. The same plan gives the same trace, to
//! the byte; a failing plan can be replayed and shrunk.
//!
//! [`golden`] and [`corpus`] are independent of that: recorded answers of a real API server, which the fake one has to
//! match, and generated requests, which two servers have to answer equally.

/// Makes methods that return a value with one change each: `with_count(count: usize) |this| this.count = count;`.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty)?) |$this:ident| $set:expr;)*) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self $(, $arg: $type)?) -> Self {
                let $this = &mut self;
                $set;
                self
            }
        )*
    };
}

// Vocabulary.
pub mod plan;
pub mod trace;
// Ingredients.
mod digest;
pub mod interleave;
pub mod model;
pub mod workload;
pub mod transport;
pub mod proxy;
pub mod faults;
pub mod bugs;
// Machinery.
pub mod checkers;
pub mod participants;
pub mod timeline;
pub mod belief;
pub mod sim;
pub mod live;
// Many runs.
pub mod transitions;
pub mod summary;
pub mod batch;
pub mod steer;
pub mod hunt;
pub mod score;
pub mod reports;
// Transcripts of a real server.
pub mod golden;
pub mod corpus;
// The program.
#[doc(hidden)]
pub mod cli;

pub use support::seed;
use support::{call, partition, process_group, task};
pub use tracefile;

/// The example on the project's front page.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
