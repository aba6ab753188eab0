//! Shared by the tests: a server that answers from a script, a store and a metrics recorder that record their input,
//! and objects of the fake server.

mod server;
mod mirror;
mod model;
mod informed;
mod config_maps;
mod front;
mod only_namespaces;
mod recorder;
mod rivals;

pub(crate) use self::{
    config_maps::{ConfigMaps, number_of, numbered},
    front::Front,
    informed::{StartedInformer, inform},
    mirror::reflect,
    model::{ListFault, ModelServer, WatchFault},
    only_namespaces::only_namespaces,
    recorder::RecordedMetrics,
    rivals::{LeadershipSlot, RIVALS, RivalFault, RivalStep, Rivals, cases, trouble},
    server::{Answer, Server, added, config_map, empty_list, list, status},
};
