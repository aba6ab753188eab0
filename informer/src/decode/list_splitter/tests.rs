//! For all bodies: the splitter cuts out what a parser finds.

use super::*;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A list as a parser takes it apart that has all of it.
#[derive(Deserialize)]
struct ParsedList<'a> {
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    metadata: Option<serde_json::Value>,
}

fn split(body: &[u8], cuts: &[usize]) -> (Vec<Bytes>, Vec<u8>) {
    let body = Bytes::copy_from_slice(body);
    let mut splitter = ListSplitter::default();
    let mut items = Vec::new();
    let mut from = 0;
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (body.len() + 1)).collect();
    cuts.sort_unstable();
    for cut in cuts.into_iter().chain([body.len()]) {
        splitter.push(&body.slice(from..cut), |item| items.push(item));
        from = cut;
    }
    (items, splitter.finish())
}

fn check(body: &[u8], cuts: &[usize]) {
    let (items, frame) = split(body, cuts);
    let whole = serde_json::from_slice::<ParsedList>(body);
    let rest = serde_json::from_slice::<ParsedList>(&frame);
    let all_sound = items
        .iter()
        .all(|item| serde_json::from_slice::<&RawValue>(item).is_ok());
    let describe = || {
        format!(
            "{:?}\n{:?}",
            String::from_utf8_lossy(body),
            String::from_utf8_lossy(&frame)
        )
    };
    match whole {
        Ok(whole) => {
            let rest = rest.unwrap_or_else(|error| panic!("{error} {}", describe()));
            assert_eq!(rest.metadata, whole.metadata);
            let want: Vec<&str> = whole.items.iter().flatten().map(|raw| raw.get()).collect();
            let left: Vec<&str> = rest.items.iter().flatten().map(|raw| raw.get()).collect();
            assert_eq!(whole.items.is_some(), rest.items.is_some());
            if items.is_empty() {
                assert_eq!(left, want, "{}", describe());
            } else {
                assert_eq!(left, vec![CUT; items.len()]);
                let got: Vec<&str> = items
                    .iter()
                    .map(|item| std::str::from_utf8(item).unwrap())
                    .collect();
                assert_eq!(got, want, "{}", describe());
            }
        }
        Err(_) => assert!(rest.is_err() || !all_sound, "accepted: {}", describe()),
    }
}

fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("-1.5e3".to_owned()),
        "[\"\\\\{}\\[\\],: a\n]{0,6}"
            .prop_map(|text: String| serde_json::to_string(&text).unwrap()),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(" ,"))),
            prop::collection::vec(("[a-zé]{0,3}", inner), 0..4).prop_map(|members| {
                let members: Vec<String> = members
                    .into_iter()
                    .map(|(key, value)| format!("{key:?} :{value}"))
                    .collect();
                format!("{{{}}}", members.join(", "))
            }),
        ]
    })
}

fn body() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        Just("items"),
        Just("metadata"),
        Just("a"),
        Just("it\\u0065ms")
    ];
    let member = (
        key,
        any_json(),
        prop::collection::vec(any_json(), 0..4),
        any::<bool>(),
    );
    (prop::collection::vec(member, 0..4), any_json(), 0..8_u8).prop_map(|(members, other, odd)| {
        if odd == 0 {
            return other;
        }
        let members: Vec<String> = members
            .into_iter()
            .map(|(key, value, list, is_list)| {
                let value = if is_list {
                    format!("[ {}]", list.join(", "))
                } else {
                    value
                };
                format!("\"{key}\":{value}")
            })
            .collect();
        format!(" {{{}}} ", members.join(" , "))
    })
}

/// A change of one byte: where, what, and whether it comes between others.
fn change() -> impl Strategy<Value = (usize, u8, bool)> {
    let byte = prop::sample::select(b"\",]}{[:x \xff".to_vec());
    (any::<usize>(), byte, any::<bool>())
}

#[test]
fn items_are_cut_out_before_the_list_is_whole_and_its_beginning_is_given_once() {
    let chunk = |text: &'static str| Bytes::from_static(text.as_bytes());
    let (mut splitter, mut items) = (ListSplitter::default(), Vec::new());
    splitter.push(&chunk(r#"{"kind":"L","metadata":{"a":[1]},"#), |item| {
        items.push(item);
    });
    assert_eq!(
        (splitter.has_cut(), splitter.take_beginning()),
        (false, None)
    );
    splitter.push(&chunk(r#""items":[{"n":1},{"n":"#), |item| items.push(item));
    assert!(splitter.has_cut());
    assert_eq!(items, [r#"{"n":1}"#]);
    let beginning = splitter.take_beginning().unwrap();
    let expected = r#"{"kind":"L","metadata":{"a":[1]},"items":[]}"#;
    assert_eq!(String::from_utf8(beginning).unwrap(), expected);
    assert_eq!(splitter.take_beginning(), None);
    splitter.push(&chunk("2}]}"), |item| items.push(item));
    assert_eq!(items, [r#"{"n":1}"#, r#"{"n":2}"#]);
    let frame = r#"{"kind":"L","metadata":{"a":[1]},"items":[0,0]}"#;
    assert_eq!(String::from_utf8(splitter.finish()).unwrap(), frame);
}

proptest! {
    #[test]
    fn items_are_what_a_parser_finds(
        body in body(),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        check(body.as_bytes(), &cuts);
    }

    #[test]
    fn invalid_lists_are_refused(
        body in body(),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
        changes in prop::collection::vec(change(), 1..3),
    ) {
        let mut body = body.into_bytes();
        for (at, byte, is_inserted) in changes {
            let at = at % (body.len() + 1);
            if is_inserted || at == body.len() {
                body.insert(at, byte);
            } else {
                body[at] = byte;
            }
        }
        check(&body, &cuts);
    }
}
