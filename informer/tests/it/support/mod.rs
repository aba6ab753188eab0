//! Shared by the tests: a server that answers from a script, and a store that keeps what it is told.

mod server;
mod mirror;
mod model;
mod informed;

pub(crate) use self::{
    informed::{Informed, inform},
    mirror::reflect,
    model::{ListFault, ModelServer, WatchFault},
    server::{Answer, Server, added, config_map, empty_list, list, status},
};
