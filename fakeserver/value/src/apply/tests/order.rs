//! The order of items in a merged list.

use super::super::merge::{Origin, interleave};

/// Each letter is an item.
#[track_caller]
fn check(live: &str, config: &str, merged: &str) {
    let letters = |text: &str| -> Vec<String> { text.chars().map(String::from).collect() };
    let (live, config) = (letters(live), letters(config));
    let order: String = interleave(&live, &config)
        .into_iter()
        .map(|origin| match origin {
            Origin::Live(at) => live[at].as_str(),
            Origin::Config(at) => config[at].as_str(),
        })
        .collect();
    assert_eq!(order, merged, "{live:?} and {config:?}");
}

#[test]
fn the_order_of_a_merged_list() {
    // One of them has all.
    check("", "", "");
    check("abc", "", "abc");
    check("", "abc", "abc");
    check("abc", "abc", "abc");
    check("abc", "b", "abc");
    check("b", "abc", "abc");
    // They have nothing in common: the object's items come first.
    check("ab", "xy", "abxy");
    // What is new stands where the configuration has it, after what stood there before.
    check("ab", "axb", "axb");
    check("abc", "axc", "abxc");
    check("abc", "xby", "axbcy");
    check("ab", "xa", "xab");
    check("abcd", "xcy", "abxcdy");
    // They disagree: the configuration's order counts.
    check("ab", "ba", "ba");
    check("abc", "ca", "bca");
    check("abcde", "aec", "abdec");
    check("abcd", "dcba", "dcba");
    check("abcd", "dbx", "acdbx");
    check("abc", "cxb", "acxb");
}

#[test]
fn an_item_that_is_there_twice_is_placed_once() {
    check("aa", "a", "a");
    check("aac", "ax", "axc");
    check("aba", "a", "ab");
    // Items that the configuration does not name stay unchanged.
    check("aab", "b", "aab");
}
