//! Tests through the public interface, one binary.
//!
//! - `kube_runtime_rows`: faults that kube-runtime 5.0 does not get over, one test a row
//! - `reflector_converges`: a reflector ends up equal to a model of a server after any faults
//! - `shared_informer`: what a shared informer promises, with two more of those rows
//! - `shared_informer_converges`: the same of a shared informer and its handlers
//! - `against_fakeserver`: every kind of type, over the client without sockets
//! - `server_versions`: servers of the oldest, a middle and the newest version, by lists and streams, in every encoding
//! - `compact`: objects held as compressed bytes are those that a typed store holds
//! - `beyond_mirroring`: own writes shown, filters, fields left out, one handler, a cache that is checked
//! - `lister`: reading by name, namespace and selector, and what has no answer
//! - `discovery`, `rest_mapper`: what a server serves, and what names mean there
//! - `factory`: informers that are shared, released and shut down together
//! - `factory_generations`: the caches and handlers that a new start keeps
//! - `watch`: waiting for conditions, and one watch across many connections
//! - `leader_election`: of several candidates one leads, under faults of the leader and of the server
//! - `controller_converges`: informer, queue and workers reach the desired state after any faults
//! - `catalogue`: tests of client-go's own suite that had no counterpart here
//! - `parity`: the page that compares with client-go names tests that exist, and all of client-go's
//! - `controllers`: controllers and managers against the fake server
//! - `sharded_managers`: copies that share shards, in a simulation of clocks, crashes and connections
//! - `multi_cluster`: controllers in several clusters, which come, go and fail
//! - `kube_runtime_streams`: a controller of kube-runtime that is fed from shared informers
//! - `handlers`: streams, awaited and blocking handlers, and queues, against the fake server
//! - `status_and_policy`: what an informer shows of itself, and what its owner can do about failures
//! - `observability`: what an informer reports and logs, and that no object contents are in it
//! - `messages`: the words of errors
//! - `support`: a server that answers from a script, and a store that records its writes

mod support;
mod kube_runtime_rows;
mod reflector_converges;
mod shared_informer;
mod shared_informer_converges;
mod against_fakeserver;
mod server_versions;
mod compact;
mod beyond_mirroring;
mod lister;
mod discovery;
mod rest_mapper;
mod factory;
mod factory_generations;
mod watch;
mod leader_election;
mod coordinated_election;
mod controller_converges;
mod catalogue;
mod parity;
mod controllers;
mod sharded_managers;
mod multi_cluster;
mod kube_runtime_streams;
mod handlers;
mod status_and_policy;
mod observability;
mod messages;
