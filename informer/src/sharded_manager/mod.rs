//! Several copies of a program share the objects of its controllers: shards, owners by Leases, and handovers.
//!
//! A [`ShardedManager`] divides all objects into [shards](crate::shard), as many as its user says, and runs a set of controllers
//! for each shard that it owns. Copies that come and go change who owns what.
//!
//! # Examples
//!
//! ```no_run
//! use informer::{controller::Runnable, sharded_manager::ShardedManager};
//!
//! # async fn example(websites: fn() -> Runnable) -> Result<(), Box<dyn std::error::Error>> {
//! let client = informer::http::client(kube::Config::infer().await?)?;
//! ShardedManager::new(client, "default", "website-operator", std::env::var("HOSTNAME")?, 8)?
//!     .with_controller(websites)
//!     .run_until_signal()
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Design
//!
//! - **One Lease a shard** says who owns it, by the rules of [`leader_election`](crate::leader_election), on which all safety
//!   rests: there is one owner at a time, whatever the copies believe of each other.
//! - **One Lease a copy** says that it is there. A copy without a shard could not be seen otherwise, and would never be given one.
//!   Each copy lists these leases every [`retry_period`](crate::leader_election::LeaderElectionOptions::retry_period); one that was
//!   not renewed for as long as it lasts is gone.
//! - **Each copy computes the same assignment** from the names of the copies: rendezvous hashing, with the numbers of shards
//!   evened out to within one. There is no leader that assigns, whose loss would have to be survived first. Copies that see
//!   different members for a moment wait for leases that the others hold.
//! - `LeaseCandidate`s could tell who is there as well, but they are not served by all clusters.
//!
//! A shard goes from one owner to the next like this:
//!
//! 1. The old owner receives no more changes, works off what is queued, within a limit, and gives the lease back. If it could not finish,
//!    it drops the rest, and lets the lease run out, so that a write under way has arrived by then. If it cannot renew the lease, it
//!    drops everything at the [`renew_deadline`](crate::leader_election::LeaderElectionOptions::renew_deadline), well before the
//!    lease may be taken; from then on no reconcile begins, and its client refuses to write, also if the process stood still until
//!    later.
//! 2. The new owner takes the lease, fills caches of the shard, and only then reconciles: all objects of the shard, since it knows
//!    nothing of what was done.
//!
//! A copy that shuts down first announces it, and others take its shards as they are given back. After a crash it takes as long as the
//! leases last, 15 s by default.
//!
//! # What controllers see
//!
//! | | by uid | by namespace |
//! |---|---|---|
//! | the reconciled kind | objects of the shard | objects of the shard |
//! | other kinds that are in namespaces | all objects | objects of the shard, unless the reconciled kind is not in namespaces |
//! | other kinds that are not | all objects | all objects |
//! | an object that is gone | is not reconciled: its uid is unknown, and another object of its name may be another owner's; use a [finalizer](crate::controller::Controller::with_finalizer) or owner references | is reconciled |
//!
//! Caches of all objects are shared by the shards of a copy, and are not filled again when a shard comes. They may lack what the
//! last owner wrote a moment ago.
//!
//! # What it promises
//!
//! - No object is reconciled by two copies at a time, as long as clocks run at about the same rate, and no write takes longer
//!   to arrive than lies between the renew deadline and the end of the lease (5 s by default).
//! - Every object is in a shard, and every shard has an owner again within a bound after the last failure.
//! - When copies come and go, few shards move: those of a copy that left, and as many as a copy that came is given.
//!
//! # What it does not promise
//!
//! Leases do not fence. The server does not know who owns a shard; a write that was sent in time, and is carried out later than
//! the end of the lease, is carried out nevertheless. Writes that must not happen then need preconditions (a
//! `resourceVersion`).
//!
//! # Other shards
//!
//! Copies that divide objects into different shards, by number or by field, would not agree on the owners of objects. A copy takes
//! no shard while it sees one that has others. During a rolling update to other shards the old copies keep what they own, and
//! the new ones begin when the last old one is gone. Shards of copies that have gone before wait for that.
//!
//! # Permissions
//!
//! `get`, `list`, `create`, `update` and `delete` of `leases` in `coordination.k8s.io`, in the namespace of the leases.

mod assignment;
mod error;
mod machine;
mod names;
mod fence;
mod membership;
mod ownership;
mod worker;
mod driver;
#[cfg(test)]
mod tests;

pub use self::{
    driver::{RunningShardedManager, ShardedManager},
    error::ShardedManagerError,
    ownership::Ownership,
};
