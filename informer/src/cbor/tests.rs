//! CBOR against the JSON that it stands for.

use std::marker::PhantomData;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    read as read_seed,
    skipper::{Skipper, whole_item},
};

fn read(bytes: &[u8]) -> Result<Value, String> {
    read_seed(bytes, PhantomData).map_err(|error| error.to_string())
}

#[test]
fn items_are_what_json_has() {
    for (bytes, expected) in [
        (&b"\x00"[..], json!(0)),
        (b"\x18\x64", json!(100)),
        (b"\x1b\xff\xff\xff\xff\xff\xff\xff\xff", json!(u64::MAX)),
        (b"\x20", json!(-1)),
        (b"\x39\x01\xf3", json!(-500)),
        (b"\x43abc", json!("abc")),
        (b"\x63abc", json!("abc")),
        (b"\x5f\x41a\x42bc\xff", json!("abc")),
        (b"\x7f\x61a\x62bc\xff", json!("abc")),
        (b"\xd6\x43\xff\x00\x01", json!("/wAB")),
        (b"\x42a\xff", json!("a\u{fffd}")),
        (b"\xd9\xd9\xf7\xc0\x41t", json!("t")),
        (b"\x80", json!([])),
        (b"\x83\x01\x80\x9f\x02\xff", json!([1, [], [2]])),
        (
            b"\xa2\x41a\x01\x61b\xbf\x41c\xf6\xff",
            json!({"a": 1, "b": {"c": null}}),
        ),
        (b"\xf4", json!(false)),
        (b"\xf5", json!(true)),
        (b"\xf7", json!(null)),
        (b"\xf9\x3e\x00", json!(1.5)),
        (b"\xf9\x00\x01", json!(2f64.powi(-24))),
        (b"\xfa\xc0\x20\x00\x00", json!(-2.5)),
        (b"\xfb\x40\x08\x00\x00\x00\x00\x00\x00", json!(3)),
    ] {
        assert_eq!(read(bytes), Ok(expected), "{bytes:x?}");
        assert_eq!(whole_item(bytes), Ok(bytes.len()), "{bytes:x?}");
    }
}

#[test]
fn malformed_input_is_an_error() {
    for (bytes, expected) in [
        (&b""[..], "unexpected end"),
        (b"\x18", "unexpected end"),
        (b"\x42a", "unexpected end"),
        (b"\x82\x01", "unexpected end"),
        (b"\x01\x01", "bytes behind the item"),
        (b"\x1c", "a head that CBOR does not have"),
        (b"\x1f", "a head that CBOR does not have"),
        (b"\xff", "not the item that was expected"),
        (b"\xe0", "not the item that was expected"),
        (b"\xa1\x01\x01", "not the item that was expected"),
        (
            b"\x5f\x61a\x01\xff",
            "a piece of a string that is no string of its kind",
        ),
        (
            b"\x3b\xff\xff\xff\xff\xff\xff\xff\xff",
            "a number that JSON does not have",
        ),
    ] {
        assert_eq!(read(bytes), Err(expected.to_owned()), "{bytes:x?}");
    }
    let deep = [vec![0x81; 1000], vec![0]].concat();
    assert_eq!(
        read(&deep),
        Err("more than 128 items in each other".to_owned())
    );
    assert!(whole_item(&deep).is_err());
    assert!(
        whole_item(b"\xbf\x41a\xff").is_err(),
        "a key without a value"
    );
}

fn any_item() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop_oneof![
        Just(vec![0x00]),
        Just(b"\x19\x01\x02".to_vec()),
        Just(b"\x43abc".to_vec()),
        Just(b"\x7f\x61a\x60\x62bc\xff".to_vec()),
        Just(b"\x40".to_vec()),
        Just(b"\xa0".to_vec()),
        Just(b"\xfb\x40\x08\x00\x00\x00\x00\x00\x00".to_vec()),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            list.clone().prop_map(|items| [
                vec![0x80 | u8::try_from(items.len()).unwrap()],
                items.concat()
            ]
            .concat()),
            list.clone()
                .prop_map(|items| [vec![0x9f], items.concat(), vec![0xff]].concat()),
            inner.prop_map(|item| [vec![0xc1], item].concat()),
            list.prop_map(|items| {
                let entries = items
                    .into_iter()
                    .map(|item| [b"\x41k".to_vec(), item].concat());
                [vec![0xbf], entries.collect::<Vec<_>>().concat(), vec![0xff]].concat()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn the_end_of_an_item_is_found_however_it_is_cut(item in any_item(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4)) {
        let bytes = [item.clone(), vec![0x01]].concat();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(item.len() + 1)).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let mut skipper = Skipper::default();
        let mut at = 0;
        let mut is_over = false;
        for cut in cuts {
            if is_over {
                break;
            }
            let skipped = skipper.skip(&bytes[at..cut]).unwrap();
            at += skipped.bytes;
            is_over = skipped.is_over;
        }
        prop_assert!(is_over);
        prop_assert_eq!(at, item.len());
        prop_assert!(read(&item).is_ok());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        drop(read(&bytes));
        let _ = whole_item(&bytes);
    }
}
