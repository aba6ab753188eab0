//! Waits for conditions, and follows one selection without an informer: client-go's `tools/watch`.
//!
//! | to | use |
//! |---|---|
//! | wait until one object is as wanted | [`until()`], or [`Waiter::until_object`] |
//! | wait until a selection is as wanted | [`Waiter::until`] |
//! | receive every change after a version, across broken connections | [`RetryWatcher`] |
//!
//! These are for programs that wait for one condition and then continue: a test, a tool, a step of an installation. A
//! program that looks at the same objects again and again needs a [`SharedInformer`](crate::SharedInformer).
//!
//! Both are [reflectors](crate::reflector) that the waiting caller drives step by step: a [`Waiter`] lists and watches,
//! a [`RetryWatcher`] only watches. Failures are handled as by a reflector, but for two differences: a rejected request
//! ends the wait, and a failed watch is never replaced by a list while the server has its version.
//!
//! # Examples
//!
//! ```
//! use std::time::Duration;
//!
//! use informer::{Scope, watch};
//! use k8s_openapi::api::core::v1::ConfigMap;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
//! # let client = fakeserver::FakeServer::builder().build().client();
//! # let api: kube::Api<ConfigMap> = kube::Api::namespaced(client.clone(), "default");
//! # let metadata = ObjectMeta { name: Some("settings".into()), ..ObjectMeta::default() };
//! # let object = ConfigMap { metadata, ..ConfigMap::default() };
//! # api.create(&kube::api::PostParams::default(), &object).await?;
//! let scope = Scope::Namespace("default".into());
//! let limit = Duration::from_secs(10);
//! let state = watch::until::<ConfigMap, _, _>(client, scope, "settings", limit, watch::exists).await?;
//! assert!(state.is_present());
//! # Ok(())
//! # }
//! ```
//!
//! # What it promises
//!
//! - A condition sees the present state first, as of a moment after the call, and then every change, one by one and in
//!   order. Nothing is missed between the state and the changes, nor when a connection breaks.
//! - When the server no longer has the changes after the last version (410), the state is requested again. An object
//!   that vanished meanwhile is delivered as a deletion, with a [`Tombstone`](crate::Tombstone); so is one that was
//!   recreated.
//! - Every wait has a limit, and the error at its end names what was waited for and what was seen last.
//! - There is no hot loop for any response of the server: watches begin at least a second apart, failures back off, and
//!   a `Retry-After` is honoured.
//!
//! # Traps of client-go that are avoided
//!
//! | there | here |
//! |---|---|
//! | a `RetryWatcher` that is answered 410 as a status, not as an event, asks again for ever | either form ends it with [`RetryWatcherError::Expired`] |
//! | it tries a refused request (400, 404, 422) again for ever | [`RetryWatcherError::Refused`] |
//! | it repeats what broke every second for as long as the outage lasts | delays grow |
//! | a silent connection is waited on until the kernel gives up | a limit on the silence; bookmarks count as sound |
//! | `Until` sees events only, so that what was so before it began is never seen | the state comes first |
//! | `Until` ends with "watch closed" on 410 | the state is asked for again |
//! | a timeout has no details | [`UntilError::Timeout`] |

mod options;
mod error;
mod retry_watcher;
mod selection;
mod object_state;
mod waiter;
#[cfg(feature = "http")]
mod until;
#[cfg(test)]
mod tests;

#[cfg(feature = "http")]
pub use self::until::until;
pub use self::{
    error::{LastState, RetryWatcherError, UntilError, UntilTimeout},
    object_state::{ObjectState, deleted, exists},
    options::WatchOptions,
    retry_watcher::RetryWatcher,
    selection::Selection,
    waiter::Waiter,
};
