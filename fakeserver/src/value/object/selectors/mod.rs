//! The selectors of a list or a watch: by labels, and by the selectable fields of a type.

mod label;
mod field;
mod of_object;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    field::FieldSelector, label::LabelSelector, of_object::print_label_selector,
};
