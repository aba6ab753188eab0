//! The harness's own tests against the real parts.
//!
//! | file | contents |
//! |---|---|
//! | `by_hand` | a server whose requests the tests answer |
//! | `output` | the program's output |
//! | `golden` | the fake server gives the recorded answers |
//! | `scenarios` | one fault of each kind, from which the informer recovers |
//! | `every_fault` | recovery from each fault within its bound |
//! | `pages` | changes and expiries between any two pages of a list |
//! | `incidents` | replicas that lag, restarts, machines that sleep |
//! | `upgrades` | servers that change their version; clients that find resources by discovery |
//! | `seeds` | seeds of all profiles: every promise is kept |
//! | `parts` | the same for the parts of an informer by themselves |
//! | `compact` | the same for compact informers |
//! | `shards` | informers of shards, with servers that select them and with servers that do not |
//! | `memory` | the memory of caches, compared with the promises |
//! | `accounts` | what an informer counts of versions out of order, and of objects that it cannot use |
//! | `requests` | what an informer asks for, when it asks again, and what it says of that |
//! | `decoding` | notifications have the objects that were sent, however bodies are written and cut |
//! | `encodings` | objects of every kind in protobuf and CBOR are those in JSON |
//! | `retry_watchers` | watches without a list, waits for conditions, and streams for kube-runtime's controllers |
//! | `waits` | waits for what was written, and their ends |
//! | `handlers` | slow handlers, and handlers that leave, compared with models |
//! | `controllers` | what controllers write: finalizers, children, statuses, events, conditions, compared with models |
//! | `owned_objects` | sources, predicates and managers of controllers, compared with models |
//! | `rate_limiters` | limiters, the delays and metrics of queues, and backoffs, compared with models |
//! | `negative_controls` | each checker finds the violations of its invariant |
//! | `bugs` | every seeded bug is caught, and the page of them is true |
//! | `meta` | the same plan twice gives the same trace, to the byte |
//! | `properties` | plans drawn and shrunk by proptest |
//! | `regressions` | plans that once failed |
//! | `proxy` | faults between a client and a server, over loopback |
//! | `proxy_program` | the proxy's program: its lines, its kubeconfig, its errors |
//! | `score` | every scenario against every contestant |
//! | `external` | processes under test, over TCP |
//! | `threads` | brief plans in real time, each on several threads |
//! | `live` | runs against a server that a kubeconfig names |
//! | `program` | the command line |
//! | `partitions` | campaigns of several processes, and of the pods of a Job |
//! | `corpus` | recorded corpora, and two servers that get generated requests |
//! | `server_trace` | traces that a server writes of itself |
//! | `wire` | transcripts played against servers by TCP and TLS, and recorded |

mod by_hand;
mod output;
mod golden;
mod scenarios;
mod every_fault;
mod pages;
mod incidents;
mod upgrades;
mod seeds;
mod parts;
mod compact;
mod shards;
mod memory;
mod accounts;
mod requests;
mod decoding;
mod encodings;
mod retry_watchers;
mod waits;
mod handlers;
mod controllers;
mod owned_objects;
mod rate_limiters;
mod negative_controls;
mod bugs;
mod meta;
mod properties;
mod refusals;
mod regressions;
mod proxy;
mod proxy_program;
mod score;
mod external;
mod threads;
mod live;
mod program;
mod partitions;
mod corpus;
mod server_trace;
mod wire;
