//! The functions behind fuzz targets. Not part of the API.

use std::time::Duration;

#[cfg(all(feature = "http", any(feature = "protobuf", feature = "cbor")))]
pub use self::encodings::encodings;
use crate::reflector::{Chance, Chances, Mode};

/// Tells a reflector's machine what the bytes say, four an input: which of those that fit its step, with which cause, with
/// which version, and after how long.
///
/// Panics if the machine commits a part of a list, or continues for ever without a delay.
pub fn reflector_machine(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    let mut chances = Chances::new(Mode::Mirror, first.is_multiple_of(2), u64::from(first / 2));
    for chance in rest.as_chunks::<4>().0 {
        let [choice, cause, version, after] = *chance;
        let after = match after {
            0..128 => Duration::ZERO,
            128..192 => Duration::from_millis(u64::from(after - 128) * 32),
            192.. => Duration::from_secs(u64::from(after - 192) * 7),
        };
        chances.take(&Chance {
            choice: choice % 100,
            cause: cause.into(),
            version: version.into(),
            after,
        });
    }
}

#[cfg(all(feature = "http", any(feature = "protobuf", feature = "cbor")))]
mod encodings {
    use bytes::Bytes;
    use k8s_openapi::api::core::v1::ConfigMap;

    use crate::{
        decode::{Decoder, Frame, Frames, ItemContext, ListReader, TypedForm},
        encoding::Encoding,
        list_watch::{ListPage, WatchEvent},
        object::{Metadata, Object},
    };

    const ENCODINGS: &[Encoding] = &[
        #[cfg(feature = "protobuf")]
        Encoding::Protobuf,
        #[cfg(feature = "cbor")]
        Encoding::Cbor,
    ];

    /// Reads the bytes as a list and as a watch in every encoding but JSON, whole and cut in two.
    ///
    /// Panics if the metadata that are read beside an object are not the object's, or if the cut makes a difference.
    pub fn encodings(data: &[u8]) {
        let decoder = Decoder::new("v1", "ConfigMap");
        let (first, second) = data.split_at(data.len() / 2);
        for encoding in ENCODINGS {
            let whole = page(&decoder, *encoding, &[data]);
            let halves = page(&decoder, *encoding, &[first, second]);
            assert_eq!(in_short(whole), in_short(halves));
            assert_eq!(
                events(&decoder, *encoding, &[data]),
                events(&decoder, *encoding, &[first, second])
            );
        }
    }

    fn making() -> ItemContext<'static, ConfigMap> {
        ItemContext {
            held: None,
            form: &TypedForm,
            shard: None,
        }
    }

    fn page(
        decoder: &Decoder,
        encoding: Encoding,
        chunks: &[&[u8]],
    ) -> Option<ListPage<ConfigMap>> {
        let mut list = ListReader::new(encoding);
        let mut items = Vec::new();
        for chunk in chunks {
            list.push(&Bytes::copy_from_slice(chunk), |item| items.push(item));
        }
        let end = list.finish(decoder, |item| items.push(item)).ok()?;
        let items = items.iter();
        let items = items.filter_map(|item| decoder.item(encoding, item, &making()).transpose());
        Some(end.into_page(items.collect::<Result<_, _>>().ok()?))
    }

    fn in_short(page: Option<ListPage<ConfigMap>>) -> Option<Vec<String>> {
        let items = page?.items.into_iter();
        let items =
            items.map(|item| item.map_or_else(|error| error.to_string(), |object| check(&object)));
        Some(items.collect())
    }

    fn events(decoder: &Decoder, encoding: Encoding, chunks: &[&[u8]]) -> Vec<String> {
        let mut frames = Frames::new(encoding);
        let mut found = Vec::new();
        for chunk in chunks {
            frames.push(Bytes::copy_from_slice(chunk));
            while let Ok(Some(frame)) = frames.next_frame() {
                found.push(match decoder.event_in(encoding, &frame, &making()) {
                    Ok(Frame::Event(
                        WatchEvent::Added(Ok(object)) | WatchEvent::Modified(Ok(object)),
                    )) => check(&object),
                    Ok(_) => "another".to_owned(),
                    Err(error) => error.to_string(),
                });
            }
        }
        found
    }

    fn check(object: &Object<ConfigMap>) -> String {
        assert_eq!(Metadata::of(&**object.get()), *object.metadata());
        format!("{object:?}")
    }
}
