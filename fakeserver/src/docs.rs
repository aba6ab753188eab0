//! Pages that accompany the reference.
//!
//! The pages are included for rustdoc only, so that a change of a page recompiles nothing.

/// The guide: in a test, from any language, and what to use for which purpose.
#[cfg_attr(any(doc, all(doctest, feature = "client")), doc = include_str!("../docs/guide.md"))]
pub mod guide {}

/// The program under the names `kube-apiserver` and `etcd`, for suites that use envtest.
#[cfg_attr(doc, doc = include_str!("../docs/envtest.md"))]
pub mod envtest {}

/// Manifests, checked against servers of several versions, and compared by what a server makes of them.
#[cfg_attr(doc, doc = include_str!("../docs/check.md"))]
pub mod check {}

/// The state in etcd, which any number of servers have in common.
#[cfg_attr(doc, doc = include_str!("../docs/etcd.md"))]
pub mod etcd {}

/// A cluster of any size that is there at once, and lives.
#[cfg_attr(doc, doc = include_str!("../docs/cluster.md"))]
pub mod cluster {}

/// Logs, commands, ports and proxies of pods that run without processes.
#[cfg_attr(doc, doc = include_str!("../docs/pods.md"))]
pub mod pods {}

/// API services whose requests another server answers.
#[cfg_attr(doc, doc = include_str!("../docs/aggregation.md"))]
pub mod aggregation {}

/// Every fault: how it is installed from any language, what it models, and who suffered from it.
#[cfg_attr(doc, doc = include_str!("../docs/faults.md"))]
pub mod faults {}
