//! The state that a read returns.

use fakeserver_value::{revision::Revision, status::Status};

use super::super::version::*;

use crate::store::continue_token::ContinueToken;

#[test]
fn a_list_shows_the_state_that_the_table_says() {
    use VersionMatch::{Exact, NotOlderThan};
    fn check(
        version: &str,
        matching: Option<VersionMatch>,
        limit: Option<usize>,
        expected: ListAt,
        expected_limit: Option<usize>,
    ) {
        let version = Version::parse(version).unwrap();
        let at = ListAt::new(version, matching, limit, "").unwrap();
        assert_eq!(at, (expected, expected_limit));
    }
    let at_least = |revision| ListAt::NotOlderThan(Revision::new(revision));
    let exactly = |revision| ListAt::Exact(Revision::new(revision));
    check("", None, None, at_least(0), None);
    check("", None, Some(5), at_least(0), Some(5));
    check("0", None, Some(5), at_least(0), None);
    check("0", Some(NotOlderThan), Some(5), at_least(0), None);
    check("7", None, None, at_least(7), None);
    check("7", None, Some(5), exactly(7), Some(5));
    check("7", Some(NotOlderThan), Some(5), at_least(7), Some(5));
    check("7", Some(Exact), None, exactly(7), None);
    check("7", Some(Exact), Some(5), exactly(7), Some(5));
}

#[test]
fn a_continued_list_has_its_version_in_its_token() {
    let token = ContinueToken::after("a", Some(Revision::new(7)));
    let text = token.encode();
    for version in ["", "0"] {
        let version = Version::parse(version).unwrap();
        let at = ListAt::new(version, None, Some(2), &text).unwrap();
        assert_eq!(at, (ListAt::Continue(token.clone()), Some(2)));
    }
    let refused = ListAt::new(Version::At(Revision::new(7)), None, None, &text);
    let status: Status = refused.unwrap_err();
    assert_eq!(status.code, 400);
}

#[test]
fn a_watch_begins_where_the_table_says() {
    fn check(version: &str, send_initial_events: Option<bool>, expected: WatchFrom) {
        let version = Version::parse(version).unwrap();
        assert_eq!(WatchFrom::new(version, send_initial_events), expected);
    }
    let state = |not_older_than: Option<u64>, marks_end| WatchFrom::State {
        not_older_than: not_older_than.map(Revision::new),
        marks_end,
    };
    let after = WatchFrom::After(Revision::new(7));
    check("", None, state(None, true));
    check("0", None, state(None, true));
    check("7", None, after);
    check("", Some(true), state(None, true));
    check("7", Some(true), state(Some(7), true));
    check("", Some(false), WatchFrom::Now);
    check("7", Some(false), after);

    let old = |version| WatchFrom::without_watch_list(Version::parse(version).unwrap());
    assert_eq!(old(""), state(None, false));
    assert_eq!(old("7"), after);
}

#[test]
fn unparsable_versions_are_rejected_with_the_apis_words() {
    fn check(version: &str, expected: &str) {
        assert_eq!(Version::parse(version).unwrap_err().to_string(), expected);
    }
    check(
        "abc",
        r#"resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax"#,
    );
    check(
        "+5",
        r#"resourceVersion: Invalid value: "+5": strconv.ParseUint: parsing "+5": invalid syntax"#,
    );
    check(
        "99999999999999999999",
        r#"resourceVersion: Invalid value: "99999999999999999999": strconv.ParseUint: parsing "99999999999999999999": value out of range"#,
    );
}
