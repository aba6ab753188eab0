//! Tests through the public interface, one binary.
//!
//! - `kube_runtime_rows`: faults that kube-runtime 5.0 does not get over, one test a row
//! - `http`: what is asked of, and read from, a server
//! - `support`: a server that answers from a script, and a store that keeps what it is told

mod support;
mod kube_runtime_rows;
