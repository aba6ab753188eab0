//! The commit log of servers that keep their state in etcd.
//!
//! A server that is built with [`EtcdOptions`] has its state in common with all other servers of that etcd and prefix, kube-apiserver
//! among them.

mod client;
mod leases;
mod log;
mod append;
mod follow;
mod compaction;
mod options;

pub use self::options::EtcdOptions;
