//! The page of validation has every kind that is validated, and no other.

use std::collections::BTreeSet;

use crate::all::KINDS;

const PAGE: &str = include_str!("../../../docs/validation.md");

#[test]
fn the_page_has_the_kinds_of_the_table() {
    let headings = PAGE.lines().filter_map(|line| line.strip_prefix("## `"));
    let described: BTreeSet<String> = headings
        .filter_map(|heading| Some(heading.split_once('`')?.0.to_owned()))
        .collect();
    let kinds: BTreeSet<String> = KINDS
        .iter()
        .filter(|kind| kind.has_validation())
        .map(|kind| match kind.group() {
            "" => kind.plural().to_owned(),
            group => format!("{}.{group}", kind.plural()),
        })
        .collect();
    assert_eq!(described, kinds);
}
