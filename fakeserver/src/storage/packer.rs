//! Compressed objects: each resource has a dictionary, trained on the first of its objects.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use zstd::zstd_safe::{CCtx, CDict, DCtx, DDict, compress_bound};

use super::key::GroupResource;

/// How many objects have come when a dictionary is trained: soon, and once more when it is known better what comes.
const TRAINED_AT: [usize; 2] = [256, 8_192];
/// How many objects a dictionary is trained on at most, spread over those that have come.
const SAMPLES_MAX: usize = 512;
/// Objects beyond this are not learnt from: one dictionary knows a small part of them only.
const SAMPLE_BYTES_MAX: usize = 32 << 10;
const DICTIONARY_BYTES: usize = 64 << 10;
const LEVEL: i32 = 3;

thread_local! {
    // Each takes some hundred kilobytes, and time to make.
    static COMPRESSOR: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
    static DECOMPRESSOR: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

/// Compresses what is stored.
///
/// # Memory
///
/// For each resource one dictionary or two of 64 KiB, and until the second is trained the samples for it.
#[derive(Debug, Default)]
pub(super) struct Packer(Mutex<BTreeMap<GroupResource, Training>>);

/// How far a resource has come.
#[derive(Debug, Default)]
struct Training {
    dictionary: Option<Arc<Dictionary>>,
    seen: usize,
    samples: Vec<Bytes>,
}

/// What is known of the objects of a resource, and what is needed to read what was compressed with it.
struct Dictionary {
    compress: CDict<'static>,
    decompress: DDict<'static>,
}

/// Bytes that take less space.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    bytes: Box<[u8]>,
    length: usize,
    dictionary: Arc<Dictionary>,
}

// === impl Packer ===

impl Packer {
    /// `json`, an object of `resource`, packed; nothing while too little is known of its like, or if that saves nothing.
    pub(super) fn pack(&self, resource: &GroupResource, json: &Bytes) -> Option<Packed> {
        let dictionary = {
            let mut trainings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if !trainings.contains_key(resource) {
                trainings.insert(resource.clone(), Training::default());
            }
            let training = trainings.get_mut(resource)?;
            training.learn(json);
            training.dictionary.clone()?
        };
        let mut packed = Vec::with_capacity(compress_bound(json.len()));
        let done = COMPRESSOR.with_borrow_mut(|compressor| {
            compressor.compress_using_cdict(&mut packed, json, &dictionary.compress)
        });
        (done.is_ok() && packed.len() < json.len()).then(|| Packed {
            bytes: packed.as_slice().into(),
            length: json.len(),
            dictionary,
        })
    }
}

// === impl Training ===

impl Training {
    /// Takes note of an object, and trains a dictionary when it is time.
    fn learn(&mut self, json: &Bytes) {
        let [first, last] = TRAINED_AT;
        if self.seen >= last {
            return;
        }
        self.seen += 1;
        let every = if self.seen <= first {
            1
        } else {
            last / SAMPLES_MAX
        };
        if self.seen.is_multiple_of(every) && json.len() <= SAMPLE_BYTES_MAX {
            self.samples.push(json.clone());
        }
        if !TRAINED_AT.contains(&self.seen) {
            return;
        }
        // Of the first ones, as many as of those that came later.
        let samples: Vec<&[u8]> = self.samples.iter().map(|sample| &**sample).collect();
        if let Ok(dictionary) = zstd::dict::from_samples(&samples, DICTIONARY_BYTES) {
            self.dictionary = Some(Arc::new(Dictionary {
                compress: CDict::create(&dictionary, LEVEL),
                decompress: DDict::create(&dictionary),
            }));
        }
        if self.seen == last {
            self.samples = Vec::new();
        } else {
            let mut number = 0_usize;
            self.samples.retain(|_| {
                number += 1;
                number.is_multiple_of(last / SAMPLES_MAX)
            });
        }
    }
}

// === impl Packed ===

impl Packed {
    /// How many bytes it takes.
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// How many bytes it is unpacked.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    pub(super) fn unpack(&self) -> Bytes {
        let mut bytes = Vec::with_capacity(self.length);
        let done = DECOMPRESSOR.with_borrow_mut(|decompressor| {
            let dictionary = &self.dictionary.decompress;
            decompressor.decompress_using_ddict(&mut bytes, &self.bytes, dictionary)
        });
        debug_assert!(done.is_ok(), "what was packed here can be unpacked");
        bytes.into()
    }
}

// === impl Dictionary ===

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_small_and_comes_back_as_it_was() {
        let packer = Packer::default();
        let resource = GroupResource::new("", "pods");
        let object = |number: u64| {
            let random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let labels =
                r#""labels":{"app":"checkout","tier":"backend","team":"payments"}"#.repeat(8);
            Bytes::from(format!(
                r#"{{"name":"p-{random:016x}","n":{number},{labels}}}"#
            ))
        };
        let mut count = 0;
        for number in 0..10_000 {
            let json = object(number);
            match packer.pack(&resource, &json) {
                None => assert!(number < TRAINED_AT[0] as u64, "{number} is not packed"),
                Some(small) => {
                    count += 1;
                    assert_eq!(small.unpack(), json);
                    assert_eq!(small.length(), json.len());
                    assert!(
                        small.held_bytes() < json.len() / 4,
                        "{}",
                        small.held_bytes()
                    );
                }
            }
        }
        assert_eq!(count, 10_000 - TRAINED_AT[0] + 1);
        let other = GroupResource::new("", "nodes");
        assert!(
            packer.pack(&other, &object(0)).is_none(),
            "of which nothing is known"
        );
    }
}
