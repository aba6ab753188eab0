use serde_json::Value;

use super::expired_watch;

#[test]
fn a_watch_of_an_old_version_succeeds_and_ends_with_an_error_event() {
    let answer = expired_watch();
    assert_eq!(answer.code, 200);
    assert_eq!(answer.headers["content-type"], "application/json");
    let (line, rest) = answer.body.split_at(answer.body.len() - 1);
    assert_eq!(rest, b"\n");
    assert!(!line.contains(&b'\n'));
    let event: Value = serde_json::from_slice(line).expect("a frame");
    assert_eq!(event["type"], "ERROR");
    assert_eq!(event["object"]["code"], 410);
    assert_eq!(event["object"]["reason"], "Expired");
}
