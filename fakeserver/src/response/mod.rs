//! Objects, lists and frames become bytes: a head, the bytes of the store as they are, a tail.

mod accept;
mod encoding;
mod bookmark;
mod pretty;
mod list;
mod answer;

pub(crate) use self::{
    accept::{Shape, negotiate},
    answer::{error_frame, json, streamed_json},
    encoding::{Encoding, Representation},
    list::{ListMeta, list_body},
    pretty::{is_pretty, pretty},
};

#[cfg(test)]
mod tests;
