//! Properties of every value of every kind.

use proptest::prelude::*;
use serde_json::Value;

use crate::{
    json as json_text,
    schema::{
        DecodeError, Quantity, arbitrary::arbitrary, canonical, decode, schemas, type_of_kind,
        types, unknown_fields,
    },
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn printed_objects_survive_a_round_trip(seed: u64) {
        for (group, version, kind) in schemas().kinds() {
            let id = type_of_kind(group, version, kind).unwrap();
            let object = arbitrary(id, seed);
            prop_assert_eq!(canonical(types(), id, object.clone()), object.clone());
            let decoded = decode(id, object.to_string().as_bytes());
            prop_assert_eq!(decoded.as_ref().map(|decoded| &decoded.value), Ok(&object), "{}", kind);
            prop_assert!(decoded.unwrap().strict.is_empty());
            let schema = schemas().of_kind(group, version, kind).unwrap();
            prop_assert_eq!(unknown_fields(&object, schema), Vec::<String>::new());
        }
    }

    #[test]
    fn damaged_text_is_read_or_refused(seed: u64, at: prop::sample::Index, byte: u8) {
        let id = type_of_kind("apps", "v1", "Deployment").unwrap();
        let mut text = arbitrary(id, seed).to_string().into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        if let Err(DecodeError::Syntax(_)) = decode(id, &text) {
            let text = String::from_utf8_lossy(&text);
            prop_assert!(serde_json::from_str::<Value>(&text).is_err());
        }
    }

    #[test]
    fn any_text_that_is_json_is_read_as_serde_reads_it(text in "[\\[\\]{}:,\"0-9.eE+\\-tfnrual\\\\ ]{0,24}") {
        let theirs = serde_json::from_str::<Value>(&text);
        let ours = json_text::parse(text.as_bytes());
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{} {:?} {:?}", text, ours, theirs);
    }

    #[test]
    fn quantities_survive_a_round_trip(whole in 0..1_000_000_000_000_i64, nanos in 0..1_000_000_000_i64, suffix in "(|n|u|m|k|M|G|Ki|Mi|Gi|e3|e-2)") {
        let quantity: Quantity = format!("{whole}.{nanos:09}{suffix}").parse().unwrap();
        let printed: Quantity = quantity.to_string().parse().unwrap();
        prop_assert_eq!(&printed, &quantity);
        prop_assert_eq!(printed.to_string(), quantity.to_string());
    }
}
