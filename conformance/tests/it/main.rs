//! The harness's own tests against the real parts.
//!
//! | file | what it shows |
//! |---|---|
//! | `golden` | the fake server answers what a real one did |
//! | `scenarios` | one fault of each kind, and the informer gets over it as it should |
//! | `every_fault` | each fault alone is held, and felt no longer than its bound |
//! | `incidents` | replicas that lag, restarts, machines that sleep |
//! | `seeds` | some two thousand seeds of all profiles: every promise is kept |
//! | `compact` | the same of an informer that holds its objects as compressed bytes |
//! | `negative_controls` | what breaks an invariant is found by its checker |
//! | `bugs` | every mistake on purpose is caught, and the page of them is true |
//! | `meta` | the same plan twice gives the same trace, to the byte |
//! | `properties` | plans drawn and shrunk by proptest |
//! | `regressions` | plans that once failed |
//! | `proxy` | faults between a client and a server, over loopback |
//! | `score` | every scenario against every contestant |
//! | `external` | processes under test, over TCP |
//! | `live` | runs against a server that a kubeconfig names |
//! | `program` | the command line |
//! | `wire` | transcripts played against servers by TCP and TLS, and recorded |

mod golden;
mod scenarios;
mod every_fault;
mod incidents;
mod seeds;
mod compact;
mod negative_controls;
mod bugs;
mod meta;
mod properties;
mod regressions;
mod proxy;
mod score;
mod external;
mod live;
mod program;
mod wire;
