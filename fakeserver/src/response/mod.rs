//! Objects, lists and frames become bytes: a head, the bytes of the store as they are, a tail.

mod encoding;
mod bookmark;
mod pretty;
mod list;

pub(crate) use self::{
    encoding::{Encoding, Representation},
    list::{ListMeta, list_body},
    pretty::pretty,
};

#[cfg(test)]
mod tests;
