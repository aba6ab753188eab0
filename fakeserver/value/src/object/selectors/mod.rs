//! The selectors of a list or a watch: by labels, by the selectable fields of a type, and by shards.

mod label;
mod field;
mod shard;
mod of_object;
#[cfg(test)]
mod tests;

pub use self::shard::{HashRange, ShardField};
pub use self::{
    field::FieldSelector,
    label::LabelSelector,
    of_object::print_label_selector,
    shard::{ShardSelector, hash},
};
