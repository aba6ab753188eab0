//! The objects that a list, a watch or a deletion of a collection selects.

use fakeserver_cel::parse_shard_selector;
use fakeserver_value::{
    object::selectors::{FieldSelector, LabelSelector},
    status::Status,
};

use crate::{edge::request::ListOptions, store::Range, watch::Selection, write::Target};

/// Returns the objects of `target` that the options select.
pub(super) fn selection(target: &Target, options: &ListOptions) -> Result<Selection, Status> {
    let labels = LabelSelector::parse(&options.label_selector)?;
    let supported = |field: &str| target.resource.check_field(field);
    let mut fields = FieldSelector::parse(&options.field_selector, supported)?
        .renamed(|field| target.rules().stored_field(field));
    // A watch below the deprecated path of an object is one of the collection, for that name.
    if let Some(name) = &target.path.name {
        fields = fields.and("metadata.name", name);
    }
    Ok(Selection {
        range: Range::of(target.path.namespace.as_deref()),
        labels,
        fields,
        shard: parse_shard_selector(&options.shard_selector)?,
    })
}
