//! Encoding of objects, lists and frames: a prefix, the bytes of the store, and a suffix.

mod format;
mod clause;
mod accept;
mod table;
mod encoding;
mod watch_encoding;
mod object_encoding;
mod bookmark;
mod pretty;
mod list;
mod gzip;
mod answer;

pub(crate) use self::{
    accept::{ServedForms, Shape, View, check_route, negotiate},
    answer::{Delivery, EventStream, refusal, refusal_to, timed_out, yaml},
    encoding::{Encoding, Representation},
    format::Format,
    list::{ListMeta, ShardInfo, list_pieces},
    pretty::{is_pretty, pretty},
    table::{IncludeObject, TableView},
    watch_encoding::WatchEncoding,
};

#[cfg(test)]
mod tests;
