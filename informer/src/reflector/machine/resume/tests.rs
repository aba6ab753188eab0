//! Tests of the choice of versions and limits.

use super::{Belief, Resume};
use crate::object::ResourceVersion;

/// A list request in short: `version limit match`.
fn request_of(resume: &Resume) -> String {
    let request = resume.list_request();
    assert_eq!(request.continue_token, None);
    let limit = request
        .limit
        .map_or("none".to_owned(), |limit| limit.to_string());
    let version_match = request
        .version_match
        .map_or(String::new(), |version_match| format!(" {version_match:?}"));
    format!("{:?} {limit}{version_match}", request.resource_version)
}

fn at(version: &str) -> ResourceVersion {
    version.into()
}

#[test]
fn a_list_asks_for_what_the_server_can_serve_without_going_back() {
    let mut resume = Resume::new(None, false);
    assert_eq!(request_of(&resume), r#""0" 500"#);
    resume.commit(&at("7"));
    assert_eq!(request_of(&resume), r#""7" none"#);
    resume.give_up_version();
    assert_eq!(request_of(&resume), r#""" 500"#);
    resume.commit(&at("9"));
    assert_eq!(request_of(&resume), r#""9" none"#);
    resume.note_paged();
    assert_eq!(request_of(&resume), r#""9" 500 NotOlderThan"#);
}

#[test]
fn a_chosen_page_size_is_used_for_every_list() {
    let mut resume = Resume::new(Some(10), false);
    assert_eq!(request_of(&resume), r#""0" 10"#);
    resume.commit(&at("7"));
    assert_eq!(request_of(&resume), r#""7" 10 NotOlderThan"#);
    resume.give_up_version();
    assert_eq!(request_of(&resume), r#""" 10"#);
}

#[test]
fn a_consistent_list_asks_for_the_most_recent_state() {
    let mut resume = Resume::new(Some(10), true);
    assert_eq!(request_of(&resume), r#""" 10"#);
    resume.commit(&at("7"));
    assert_eq!(request_of(&resume), r#""" 10"#);
}

#[test]
fn a_streaming_list_is_consistent_at_first_and_then_not_older() {
    let mut resume = Resume::new(None, false);
    assert_eq!(resume.streaming_version(), at(""));
    resume.commit(&at("7"));
    assert_eq!(resume.streaming_version(), at("7"));
    resume.give_up_version();
    assert_eq!(resume.streaming_version(), at(""));
}

#[test]
fn only_a_later_version_advances() {
    let mut resume = Resume::new(None, false);
    resume.commit(&at("9"));
    for (version, advances) in [("9", false), ("8", false), ("10", true), ("9", false)] {
        assert_eq!(resume.advance(&at(version)), advances, "{version}");
    }
    assert_eq!(resume.last(), &at("10"));
    // Versions that cannot be compared are taken as they come.
    assert!(resume.advance(&at("x-1")));
    assert!(resume.advance(&at("3")));
    assert_eq!(resume.last(), &at("3"));
}

#[test]
fn an_older_state_is_believed_only_if_the_most_recent_was_asked_for() {
    let mut resume = Resume::new(None, false);
    resume.commit(&at("10"));
    for (requested, answered, belief) in [
        ("10", "10", Belief::Accept),
        ("10", "11", Belief::Accept),
        ("10", "9", Belief::Refuse),
        ("0", "9", Belief::Refuse),
        ("", "9", Belief::AcceptBack),
        ("", "10", Belief::Accept),
        ("10", "opaque", Belief::Accept),
    ] {
        assert_eq!(
            resume.judge(&at(requested), &at(answered)),
            belief,
            "{requested} {answered}"
        );
    }
}
