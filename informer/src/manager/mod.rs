//! Runs controllers together: their caches, the election of a leader, and an end in good order.
//!
//! # Examples
//!
//! ```no_run
//! use informer::{
//!     controller::Runnable,
//!     leader_election::{LeaderElector, LeaseLock},
//!     manager::Manager,
//! };
//!
//! # async fn example(websites: Runnable, certificates: Runnable) -> Result<(), Box<dyn std::error::Error>> {
//! let client = informer::http::client(kube::Config::infer().await?)?;
//! let lock = LeaseLock::new(client.clone(), "default", "website-operator");
//! Manager::new(client)
//!     .with_leader_election(LeaderElector::new(lock, std::env::var("HOSTNAME")?)?)
//!     .with_controller(websites)
//!     .with_controller(certificates)
//!     .run_until_signal()
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Order
//!
//! 1. The caches of all controllers are filled, whether this copy leads or not, so that one that takes over begins at once.
//! 2. It waits until it leads, if there is an election.
//! 3. The controllers start. [`Health::is_ready`] is true from here, and of a copy that does not lead, from 1.
//! 4. At the stop no more changes are received; what is queued is worked off within a limit, and only then is the lease given back. If
//!    the leadership is lost, reconciles under way are dropped at once, since another copy may lead.
//!
//! # Memory
//!
//! One cache a kind, whichever controllers follow it.

mod error;
mod health;
mod limits;
mod settle;
mod signals;
mod background;
#[cfg(feature = "endpoints")]
mod endpoints;
mod driver;

#[cfg(feature = "endpoints")]
pub use self::endpoints::{endpoints, metrics_endpoint};
pub(crate) use self::{
    background::Background,
    driver::{drain, lost},
    health::Stage,
    limits::{RunLimits, run_limit_setters},
    signals::until_signal,
};
pub use self::{
    driver::{Manager, RunningManager},
    error::{ManagerError, SettleError},
    health::Health,
};
