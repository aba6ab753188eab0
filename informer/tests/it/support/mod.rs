//! Shared by the tests: a server that answers from a script, a store that keeps what it is told, and
//! objects of the fake server.

mod server;
mod mirror;
mod model;
mod informed;
mod config_maps;

pub(crate) use self::{
    config_maps::{ConfigMaps, number_of, numbered},
    informed::{Informed, inform},
    mirror::reflect,
    model::{ListFault, ModelServer, WatchFault},
    server::{Answer, Server, added, config_map, empty_list, list, status},
};
