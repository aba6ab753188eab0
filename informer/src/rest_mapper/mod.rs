//! From a name to a resource: plural, singular or short name, or kind, becomes group, version, kind and scope.
//!
//! - [`RestMapper`] asks a server, remembers, and asks again for what it misses.
//! - [`RestTable`] is the same for one state of a server, without asking: the rules, as a value.
//! - [`RestMapping`] is the answer; it gives kube's `ApiResource`, and so `Api<DynamicObject>` and informers.
//!
//! # How names are read
//!
//! | text | means |
//! |---|---|
//! | `pods`, `pod` | a plural or singular name, in any group |
//! | `po` | a short name, if nothing has it as a full name |
//! | `Deployment`, `NodeMetrics` | a kind, if nothing has it as a name |
//! | `deployments.apps` | in the group `apps` |
//! | `storageclasses.storage` | in a group that begins with `storage`, if no group is called so |
//! | `Deployment.v1.apps` | in version `v1` of the group `apps` |
//! | `pods.v1.` | in version `v1` of the core group |
//!
//! Upper and lower case do not matter. Where a name fits several resources, the first in the server's order is meant:
//! core `v1`, then the groups as discovery lists them, in each the preferred version first. [`Preference`]s come before
//! that order.
//!
//! # Where client-go differs
//!
//! - *New resources stay unknown* until the program resets its mapper (it refreshes only until the first success). Here
//!   each miss has discovery read again what may have the name, limited in time and number.
//! - *A group that failed looks like a name that is not served.* Here the answer is one of three: a mapping,
//!   [`is_no_match`](RestMapperError::is_no_match), or [`is_unknown`](RestMapperError::is_unknown) with what failed;
//!   and a mapping says which failed group might have come before it ([`ResolveWarning`]).
//! - *Short names drop the version*: there, `deploy.v9.apps` finds `deployments.v1.apps`. Here it finds nothing.
//! - *A group's beginning can beat the group itself*, because its rule holds within each group version alone. Here
//!   `foos.storage` is in the group `storage` if that has it, in any order of groups.
//! - *`pods.v1.` means any group*, since an empty group counts as left out. Here it is the core group's if that has it.
//! - *A mapping echoes the spelling of the question*: kind `deployment` for `deployment`. Here the kind is the server's.
//! - *The last resource of a kind wins*, though it may be an action that borrows the kind. Here one that can be listed
//!   wins; and a name leads to the resource that has it, not to another one of the same kind.
//! - *Resources that are not served*: `podlists` and `lists` are found there, made up from kinds. Here they are not.
//! - *A name that is singular and plural at once* (`endpoints`) is two candidates in its tables. Here it is one.
//! - *A known group without the kind* is an error about a resource there. Here it is one about the kind.
//! - *A known group is never read again for a request without a version* (controller-runtime). Here it is.
//!
//! Its several mappers (default, multi, priority, first hit, short-cut expander, deferred) are one table here and one
//! driver. What can be set of them is the order ([`RestTable::with_preferences`]) and the content
//! ([`ServerResources::from_resources`](crate::discovery::ServerResources::from_resources)).

mod name;
mod plural;
mod mapping;
mod order;
mod table;
mod lookup;
mod suggest;
mod driver;
mod error;
#[cfg(test)]
mod tests;

pub use self::{
    driver::RestMapper,
    error::RestMapperError,
    mapping::{ResolveWarning, ResolvedMapping, RestMapping},
    name::{PartialResource, ResourceArg},
    order::Preference,
    plural::guess_plural,
    table::RestTable,
};
