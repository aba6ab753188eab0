//! Which objects a list or a watch selects: by labels, and by the fields that a type lets clients select by.

mod label;
mod field;
mod of_object;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    field::FieldSelector, label::LabelSelector, of_object::print_label_selector,
};
