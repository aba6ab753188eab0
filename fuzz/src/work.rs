//! The work that inputs cause, by their length: it grows no faster than they do.
//!
//! An input describes a text of any length: `head%%unit%%tail`, in which the unit is repeated, and `{n}` in it is the number of
//! the repetition. A reader gets the text in growing lengths. If its processor time grows faster than the length, the reader
//! does work that an attacker can have for little.

use std::{fs, hint::black_box};

use fakeserver_cel::{CelExpression, parse_shard_selector};
use fakeserver_value::{
    cbor,
    json::{parse_value, syntax_error},
    managed_fields::FieldSet,
    object::{
        Pairs,
        selectors::{FieldSelector, LabelSelector},
    },
    pattern,
    protobuf::decode_object,
    yaml,
};

use super::server;

/// The lengths of the texts, in bytes. The next one is tried if the time has grown too much up to the one before.
const LENGTHS: [usize; 3] = [8 << 10, 64 << 10, 256 << 10];
/// The factor by which the time of a text may grow, beside that of its length.
const FACTOR_MAX: u64 = 3;
/// The time that each length is taken to need at least, in nanoseconds, so that noise is no growth.
const TIMES_MIN: [u64; 3] = [4_000_000, 32_000_000, 128_000_000];
/// The bytes between the parts of a text.
const MARK: &[u8] = b"%%";
/// The bytes that stand for the number of a repetition.
const NUMBER: &[u8] = b"{n}";

/// A reader of texts.
type Reader = fn(&[u8]);

/// The readers by name. Every other first line is that of a request, whose body is the text.
const READERS: [(&str, Reader); 11] = [
    ("cbor", read_cbor),
    ("cel", read_cel),
    ("documents", read_documents),
    ("field-set", read_field_set),
    ("fields", read_fields),
    ("json", read_json),
    ("labels", read_labels),
    ("pattern", read_pattern),
    ("protobuf", read_protobuf),
    ("shards", read_shards),
    ("yaml", read_yaml),
];

/// A text of any length.
struct Shape<'a> {
    head: &'a [u8],
    unit: &'a [u8],
    tail: &'a [u8],
}

/// Checks that the processor time of a text does not grow faster than its length.
///
/// The first line names the reader, or is that of a request, which has lines of headers and an empty line; then comes the
/// text.
pub fn run(data: &[u8]) {
    let Some((first, rest)) = split(data, b"\n") else {
        return;
    };
    let reader = READERS.iter().find(|(name, _)| name.as_bytes() == first);
    if let Some((_, read)) = reader {
        check(rest, &mut |text| {
            let before = processor_time();
            read(text);
            processor_time() - before
        });
    } else if let Some((head, text)) = split(data, b"\n\n") {
        check(text, &mut |text| {
            let request = [head, b"\n\n", text].concat();
            server::time(&request, processor_time)
        });
    }
}

fn check(text: &[u8], time: &mut dyn FnMut(&[u8]) -> u64) {
    let Some(shape) = Shape::parse(text) else {
        return;
    };
    let mut before: Option<(u64, u64)> = None;
    let mut times = Vec::new();
    for (length, least) in LENGTHS.into_iter().zip(TIMES_MIN) {
        let text = shape.text(length);
        let (length, taken) = (text.len() as u64, time(&text).max(least));
        times.push(taken / 1_000_000);
        let is_in_proportion = |(shorter, before)| taken * shorter <= FACTOR_MAX * before * length;
        if before.is_some_and(is_in_proportion) {
            return;
        }
        before = Some((length, taken));
    }
    panic!("{LENGTHS:?} bytes took {times:?} ms: the work grows faster than the text");
}

/// Returns the processor time of this thread, in nanoseconds; 0 on a system that does not say it.
fn processor_time() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split_ascii_whitespace().next();
    first
        .and_then(|first| first.parse().ok())
        .unwrap_or_default()
}

fn split<'a>(data: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = data.windows(mark.len()).position(|window| window == mark)?;
    Some((&data[..at], &data[at + mark.len()..]))
}

// === impl Shape ===

impl<'a> Shape<'a> {
    fn parse(text: &'a [u8]) -> Option<Self> {
        let (head, rest) = split(text, MARK)?;
        let (unit, tail) = split(rest, MARK)?;
        (!unit.is_empty()).then_some(Self { head, unit, tail })
    }

    /// Returns a text of at least this length.
    fn text(&self, length: usize) -> Vec<u8> {
        let mut text = self.head.to_vec();
        for number in 0_u32.. {
            if text.len() + self.tail.len() >= length {
                break;
            }
            let mut rest = self.unit;
            while let Some((before, after)) = split(rest, NUMBER) {
                text.extend_from_slice(before);
                text.extend_from_slice(number.to_string().as_bytes());
                rest = after;
            }
            text.extend_from_slice(rest);
        }
        text.extend_from_slice(self.tail);
        text
    }
}

fn read_cbor(data: &[u8]) {
    if let Ok(document) = cbor::Document::parse(data) {
        let _ = black_box((document.type_meta(), document.diagnose(), document.value()));
    }
}

fn read_cel(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = black_box(CelExpression::compile(text, &["object"]));
    }
}

fn read_documents(data: &[u8]) {
    let _ = black_box(yaml::documents(data));
}

fn read_field_set(data: &[u8]) {
    if let Ok(value) = parse_value(data) {
        black_box(FieldSet::from_value(&value));
    }
}

fn read_fields(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(selector) = FieldSelector::parse(text, |_: &str| Ok(()))
    {
        black_box(selector.matches(|_: &str| ""));
    }
}

fn read_json(data: &[u8]) {
    let _ = black_box((parse_value(data), syntax_error(data)));
}

fn read_labels(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(selector) = LabelSelector::parse(text)
    {
        black_box(selector.matches(&Pairs::from_iter([("a", "b")])));
    }
}

fn read_pattern(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = black_box(pattern::compile(text));
    }
}

fn read_protobuf(data: &[u8]) {
    let _ = black_box(decode_object(data, None));
}

fn read_shards(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = black_box(parse_shard_selector(text));
    }
}

fn read_yaml(data: &[u8]) {
    let _ = black_box((yaml::parse(data), yaml::repeated_keys(data)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic = "grows faster than the text"]
    fn quadratic_work_is_found() {
        check(b"%%a%%", &mut |text| (text.len() as u64).pow(2));
    }

    #[test]
    fn work_in_proportion_passes() {
        check(b"%%a%%", &mut |text| 1_000 * text.len() as u64);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn processor_time_passes() {
        let began = processor_time();
        while processor_time() == began {
            black_box(began);
        }
    }
}
