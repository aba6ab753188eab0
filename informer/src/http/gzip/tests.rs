//! Tests of decompression.

use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;

use super::*;

fn member(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Returns what comes out of chunks, one after another, and the largest piece of it.
fn decoded(chunks: &[&[u8]]) -> Result<(Vec<u8>, usize), DecompressionError> {
    let mut decoder = GzipDecoder::new();
    let (mut whole, mut largest) = (Vec::new(), 0);
    for chunk in chunks {
        decoder.push(Bytes::copy_from_slice(chunk));
        while let Some(piece) = decoder.next_chunk()? {
            largest = largest.max(piece.len());
            whole.extend_from_slice(&piece);
        }
    }
    decoder.finish()?;
    Ok((whole, largest))
}

proptest! {
    #[test]
    fn members_cut_at_any_place_are_read_as_their_text(
        texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..2000), 0..6),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let whole: Vec<u8> = texts.iter().flat_map(|text| member(text)).collect();
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(whole.len() + 1)).collect();
        places.extend([0, whole.len()]);
        places.sort_unstable();
        let chunks: Vec<&[u8]> = places.windows(2).map(|ends| &whole[ends[0]..ends[1]]).collect();
        prop_assert_eq!(decoded(&chunks).unwrap().0, texts.concat());
    }
}

#[test]
fn a_member_is_read_to_its_end_before_the_next_one_comes() {
    let mut decoder = GzipDecoder::new();
    for text in ["one", "two", "three"] {
        decoder.push(member(text.as_bytes()).into());
        let mut read = Vec::new();
        while let Some(piece) = decoder.next_chunk().unwrap() {
            read.extend_from_slice(&piece);
        }
        assert_eq!(read, text.as_bytes());
    }
    decoder.finish().unwrap();
}

#[test]
fn a_flushed_part_of_a_member_is_read_before_its_end() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"begun").unwrap();
    encoder.flush().unwrap();
    let mut decoder = GzipDecoder::new();
    decoder.push(mem::take(encoder.get_mut()).into());
    assert_eq!(&decoder.next_chunk().unwrap().unwrap()[..], b"begun");
    assert!(decoder.finish().is_err(), "the member has no end");
}

#[test]
fn what_expands_a_thousand_times_comes_in_pieces() {
    let text = vec![b'x'; 64 << 20];
    let (whole, largest) = decoded(&[&member(&text)]).unwrap();
    assert_eq!(whole.len(), text.len());
    assert!(largest <= 1 << 20, "{largest}");
}

#[test]
fn other_bytes_and_changed_ones_are_errors() {
    assert!(decoded(&[br#"{"type":"ADDED","object":{}}"#]).is_err());
    let good = member(b"a text that is long enough to be changed");
    for place in [0, 12, good.len() - 6] {
        let mut changed = good.clone();
        changed[place] ^= 0xff;
        assert!(decoded(&[&changed]).is_err(), "{place}");
    }
    assert!(decoded(&[&good[..good.len() - 1]]).is_err());
    assert!(decoded(&[&good, b"rest"]).is_err());
    assert_eq!(decoded(&[]).unwrap().0, b"");
}
