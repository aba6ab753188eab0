//! Proves that a Kubernetes client's cache converges to the server's state under faults.
//!
//! A [`Seed`](seed::Seed) gives a [`Plan`](plan::Plan): operations on a simulated cluster, faults, informers and their
//! handlers. It runs on tokio's paused clock, in process, against the fake API server, and leaves a
//! [`Trace`](trace::Trace), in which the [checkers] look for broken promises. The same plan gives the same trace, to the
//! byte; a plan that fails can be replayed and made smaller.
//!
//! [`golden`] is another thing: recorded answers of a real API server, which the fake one has to match.

// Vocabulary.
pub mod seed;
pub mod plan;
pub mod trace;
// Ingredients.
pub mod model;
mod call;
pub mod workload;
pub mod faults;
pub mod interleave;
pub mod transport;
pub mod bugs;
pub mod subjects;
// Machinery.
pub mod checkers;
pub mod timeline;
pub mod sim;
pub mod summary;
pub mod batch;
pub mod proxy;
pub mod live;
pub mod score;
#[doc(hidden)]
pub mod cli;
// The fake server against a real one.
pub mod golden;

/// The example on the project's front page.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
