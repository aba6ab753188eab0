//! Compressed objects: each resource has a dictionary, made from samples of its objects.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use fakeserver_value::resource::GroupResource;
use zstd::zstd_safe::{CCtx, CDict, DCtx, DDict, compress_bound, get_frame_content_size};

/// The number of objects after which the first dictionary is made.
const FIRST_AT: usize = 128;
/// The growth of the object count between two dictionaries. A later dictionary fits later objects better.
const NEXT_AT: usize = 2;
/// The maximum length of a dictionary. Objects of more than half of that are not learnt from.
const DICTIONARY_BYTES: usize = 64 << 10;
const LEVEL: i32 = 3;
/// The magic number of every zstd frame, which is not stored.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The maximum length of a frame's head with the unpacked length, without the magic number.
const HEAD_BYTES: usize = 14;

thread_local! {
    // Kept per thread: each takes some hundred kilobytes, and time to create.
    static COMPRESSOR: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
    static DECOMPRESSOR: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

/// Compresses stored objects with a dictionary for each resource.
///
/// # Memory
///
/// For each resource 64 KiB of samples and half a MiB to pack with. A new dictionary is trained whenever the object
/// count has doubled; the 64 KiB of the old one are kept as long as an object is compressed with it.
#[derive(Debug, Default)]
pub(super) struct Packer(Mutex<BTreeMap<GroupResource, ResourceDictionary>>);

/// The dictionary of a resource, and the samples for the next one.
#[derive(Debug)]
struct ResourceDictionary {
    dictionary: Option<Dictionary>,
    seen: usize,
    /// The object count at which the next dictionary is trained.
    made_at: usize,
    samples: Samples,
}

/// A sample of the objects, spread evenly so that all samples fit into a dictionary.
#[derive(Debug)]
struct Samples {
    taken: Vec<Bytes>,
    bytes: usize,
    /// Every `every`-th object is sampled.
    every: usize,
}

/// A dictionary of the objects of a resource.
#[derive(Clone)]
struct Dictionary {
    compress: Arc<CDict<'static>>,
    decompress: Arc<DDict<'static>>,
}

/// Compressed JSON of an object.
pub(super) struct CompressedObject {
    /// The frame after [`MAGIC`], with its unpacked length.
    frame: Box<[u8]>,
    dictionary: Arc<DDict<'static>>,
}

// === impl Packer ===

impl Packer {
    /// Compresses `json`, an object of `resource`. Returns `None` before there is a dictionary, or if compression saves
    /// nothing.
    pub(super) fn pack(&self, resource: &GroupResource, json: &Bytes) -> Option<CompressedObject> {
        // The lock ends with this block: compression runs beside that of other objects.
        let dictionary = {
            let mut resources = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if !resources.contains_key(resource) {
                resources.insert(resource.clone(), ResourceDictionary::default());
            }
            let of_resource = resources.get_mut(resource)?;
            of_resource.learn(json);
            of_resource.dictionary.clone()?
        };
        let mut packed = Vec::with_capacity(compress_bound(json.len()));
        let done = COMPRESSOR.with_borrow_mut(|compressor| {
            compressor.compress_using_cdict(&mut packed, json, &dictionary.compress)
        });
        (done.is_ok() && packed.len() < json.len()).then(|| CompressedObject {
            frame: packed[MAGIC.len()..].into(),
            // Each object holds its own dictionary: it is freed with the last object compressed by it.
            dictionary: dictionary.decompress,
        })
    }
}

// === impl ResourceDictionary ===

impl ResourceDictionary {
    /// Takes note of an object, and makes a dictionary when it is time.
    fn learn(&mut self, json: &Bytes) {
        self.samples.offer(self.seen, json);
        self.seen += 1;
        if self.seen == self.made_at {
            self.made_at *= NEXT_AT;
            let content = self.samples.taken.concat();
            self.dictionary = Some(Dictionary {
                compress: Arc::new(CDict::create(&content, LEVEL)),
                decompress: Arc::new(DDict::create(&content)),
            });
        }
    }
}

impl Default for ResourceDictionary {
    fn default() -> Self {
        Self {
            dictionary: None,
            seen: 0,
            made_at: FIRST_AT,
            samples: Samples::default(),
        }
    }
}

// === impl Samples ===

impl Samples {
    /// Samples `json`, the object with this number, if it is due.
    fn offer(&mut self, number: usize, json: &Bytes) {
        if !number.is_multiple_of(self.every) || json.len() > DICTIONARY_BYTES / 2 {
            return;
        }
        self.bytes += json.len();
        // A copy: the object itself may come to take less space.
        self.taken.push(Bytes::copy_from_slice(json));
        while self.bytes > DICTIONARY_BYTES {
            // Every other sample is dropped, so that the rest are still spread evenly over all objects.
            self.every *= 2;
            let mut is_kept = false;
            self.taken.retain(|sample| {
                is_kept = !is_kept;
                if !is_kept {
                    self.bytes -= sample.len();
                }
                is_kept
            });
        }
    }
}

impl Default for Samples {
    fn default() -> Self {
        Self {
            taken: Vec::new(),
            bytes: 0,
            every: 1,
        }
    }
}

// === impl CompressedObject ===

impl CompressedObject {
    /// Returns the number of bytes that it takes.
    pub(super) fn held_bytes(&self) -> usize {
        self.frame.len()
    }

    /// Returns the unpacked length in bytes.
    pub(super) fn length(&self) -> usize {
        match get_frame_content_size(&with_magic(self.head())) {
            Ok(Some(length)) => usize::try_from(length).expect("it was in memory"),
            _ => unreachable!("what is packed here says its length"),
        }
    }

    /// The prefix of a frame that contains the uncompressed length.
    fn head(&self) -> &[u8] {
        &self.frame[..self.frame.len().min(HEAD_BYTES)]
    }

    pub(super) fn unpack(&self) -> Bytes {
        let mut bytes = Vec::with_capacity(self.length());
        let frame = with_magic(&self.frame);
        let done = DECOMPRESSOR.with_borrow_mut(|decompressor| {
            decompressor.decompress_using_ddict(&mut bytes, &frame, &self.dictionary)
        });
        debug_assert!(done.is_ok(), "what was packed here can be unpacked");
        bytes.into()
    }
}

impl fmt::Debug for CompressedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompressedObject")
            .field("bytes", &self.held_bytes())
            .finish_non_exhaustive()
    }
}

// === impl Dictionary ===

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary").finish_non_exhaustive()
    }
}

/// A frame as zstd reads it.
fn with_magic(frame: &[u8]) -> Vec<u8> {
    [&MAGIC, frame].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_objects_are_small_and_restored_exactly() {
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
                None => assert!(number < FIRST_AT as u64 - 1, "{number} is not packed"),
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
        assert_eq!(count, 10_000 - FIRST_AT + 1);
        let other = GroupResource::new("", "nodes");
        assert!(
            packer.pack(&other, &object(0)).is_none(),
            "of which nothing is known"
        );
    }
}
