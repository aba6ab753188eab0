//! One of several copies of a program leads, by a Lease: client-go's `tools/leaderelection`.
//!
//! The candidates share one `Lease` object. Who holds it writes to it every two seconds; who does not, takes it once nothing
//! was written for as long as the lease lasts. Writes carry the version that was read, so that of two candidates who
//! reach for it at once the server lets one.
//!
//! # Examples
//!
//! ```
//! use informer::leader_election::{LeaderElector, LeaseLock};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let client = fakeserver::FakeServer::builder().build().client();
//! let lock = LeaseLock::new(client, "default", "my-controller");
//! let elector = LeaderElector::new(lock, "copy-1")?;
//! let leadership = elector.acquire().await;
//! tokio::select! {
//!     biased;
//!     () = leadership.lost() => println!("another copy leads: stop at once"),
//!     () = async { println!("work") } => {}
//! }
//! leadership.release().await;
//! # Ok(())
//! # }
//! ```
//!
//! # What it promises
//!
//! - While [`Leadership::is_held`], no other candidate that keeps these rules leads: a leader that could not write for
//!   [`renew_deadline`](LeaderElectionOptions::renew_deadline) gives up, well before the lease has run out for the others.
//! - Clocks need not agree. A candidate never compares the times in a lease with its own clock: it reckons from the moment
//!   at which it saw the lease change. Only the rates of clocks matter, by as much as the renew deadline is shorter than the
//!   lease.
//! - A leader that stops in good order hands over at once.
//!
//! The election does not fence: a leader that was stopped for longer than its lease, and wakes up, may send one more write before it
//! notices. Writes that must not happen twice need preconditions, or [`Leadership::transitions`] as a token.
//!
//! # Coordinated leader election
//!
//! With [`LeaderElector::coordinated`] the API server decides who leads (KEP-4355): of the candidates that answer, the one that
//! emulates the oldest version, so that an upgrade or a downgrade never lets a newer copy lead while an older one is there. It takes
//! the feature gate `CoordinatedLeaderElection`, and `coordination.k8s.io/v1beta1`.
//!
//! ```no_run
//! use informer::leader_election::{LeaderElectionOptions, LeaderElector, LeaseCandidate, LeaseLock};
//!
//! # async fn example(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
//! let lock = LeaseLock::new(client, "default", "my-controller");
//! let candidate = LeaseCandidate::new(lock, "copy-1", env!("CARGO_PKG_VERSION"))?
//!     .with_emulation_version("1.1.0");
//! let elector = LeaderElector::coordinated(candidate, LeaderElectionOptions::default())?;
//! let leadership = elector.acquire().await;
//! # leadership.release().await;
//! # Ok(())
//! # }
//! ```
//!
//! - A candidate never takes the lease by itself, however long ago it ran out.
//! - When the server prefers another, the leadership is [lost](Leadership::lost) at once, and the lease is given back when the
//!   leadership is released or dropped: the work may end before. Else it runs out.
//! - What is said above of safety holds. The server compares the times in leases with its own clock; so they are written by the
//!   server's, which candidates learn from grants and pings.
//! - A leadership that ends in good order deletes its candidate, so that the server need not wait for its answer.
//!
//! # Where it differs from client-go
//!
//! | there | here |
//! |---|---|
//! | a leader whose lease was taken tries on until its deadline | it gives up the moment it sees another holder |
//! | a request may take as long as the client allows | half of the renew deadline at most |
//! | callbacks for "started" and "stopped" leading | a [`Leadership`], which is held or lost, and ends when it is dropped |
//! | the lease is handed over only if one asks for `ReleaseOnCancel` | it is, unless [disabled](LeaderElectionOptions::release_on_cancel) |
//!
//! | of coordinated elections: a leader that is to hand over stops renewing, and leads until its deadline | it has lost at once, and gives the lease back when its work has ended |
//! | a holder whose grant has run out waits for ever for another one | it gives the lease back, and gets another one |
//! | times are those of the candidate's clock, which has to agree with the server's to within five seconds | they are the server's |
//! | `leaseTransitions` stay as they are | each grant that is taken up counts |
//!
//! `ConfigMap` and `Endpoints` locks, long gone from client-go, and its `MultiLock` for migrating from them, are not here.

mod options;
mod error;
mod clock;
mod record;
mod coordinated;
mod machine;
mod candidacy;
mod lease_lock;
mod lease_candidate;
mod leader_elector;
mod driver;
#[cfg(test)]
mod tests;

pub use self::{
    clock::WallClock,
    error::LeaderElectionError,
    leader_elector::{LeaderElector, Leadership},
    lease_candidate::LeaseCandidate,
    lease_lock::LeaseLock,
    options::LeaderElectionOptions,
};
#[cfg(feature = "controller")]
pub(crate) use self::{
    leader_elector::Fence,
    lease_lock::{HeldLease, record_of},
    machine::Observation,
    record::{Record, micro_time},
};
