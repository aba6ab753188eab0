//! Packs JSON by what is known of other objects of its kind, and unpacks it.

use zstd::{
    dict::{DecoderDictionary, EncoderDictionary},
    zstd_safe::{CCtx, DCtx, compress_bound, get_frame_content_size},
};

use crate::sync::{Mutex, lock};

/// The size of a trained dictionary.
const SIZE_MAX_BYTES: usize = 32 << 10;
/// The number of samples in a dictionary before there is a trained one.
const FIRST_SAMPLES: usize = 4;
/// The number of samples that judge a trained dictionary.
const TRIALS: usize = 16;
/// The number of contexts of a kind that are kept for reuse; each is about 100 KB.
const CONTEXTS_MAX: usize = 2;

/// A dictionary of a kind of object. Every object packed by it holds it, too.
pub(super) struct Dictionary {
    encoder: EncoderDictionary<'static>,
    decoder: DecoderDictionary<'static>,
}

/// The contexts of zstd, kept for reuse: a new one costs more than unpacking an object.
#[derive(Default)]
pub(super) struct Contexts {
    packing: Mutex<Vec<CCtx<'static>>>,
    unpacking: Mutex<Vec<DCtx<'static>>>,
}

// === impl Dictionary ===

impl Dictionary {
    /// Made of the first samples as they are: nearly as good as a trained one where objects are much alike, and at once.
    pub(super) fn of_samples(samples: &[Box<[u8]>], level: i32) -> Self {
        let content: Vec<&[u8]> = samples.iter().take(FIRST_SAMPLES).map(|s| &**s).collect();
        Self::new(&content.concat(), level)
    }

    /// Trained on `samples`; `None` where that is no better than `present`.
    pub(super) fn trained(
        samples: &[Box<[u8]>],
        present: &Self,
        level: i32,
        contexts: &Contexts,
    ) -> Option<Self> {
        let content = zstd::dict::from_samples(samples, SIZE_MAX_BYTES).ok()?;
        let trained = Self::new(&content, level);
        // Those it was trained on first are those the present one may be made of.
        let trials = &samples[samples.len().saturating_sub(TRIALS)..];
        let size = |dictionary: &Self| -> usize {
            let packed = trials.iter().map(|trial| dictionary.pack(trial, contexts));
            packed.map(|packed| packed.len()).sum()
        };
        (size(&trained) < size(present)).then_some(trained)
    }

    fn new(content: &[u8], level: i32) -> Self {
        Self {
            encoder: EncoderDictionary::copy(content, level),
            decoder: DecoderDictionary::copy(content),
        }
    }

    pub(super) fn pack(&self, json: &[u8], contexts: &Contexts) -> Box<[u8]> {
        let taken = lock(&contexts.packing).pop();
        let mut context = taken.unwrap_or_else(CCtx::create);
        let mut packed = Vec::with_capacity(compress_bound(json.len()));
        context
            .compress_using_cdict(&mut packed, json, self.encoder.as_cdict())
            .expect("there is room for the worst case");
        keep(&contexts.packing, context);
        packed.as_slice().into()
    }

    pub(super) fn unpack(&self, packed: &[u8], contexts: &Contexts) -> Vec<u8> {
        let taken = lock(&contexts.unpacking).pop();
        let mut context = taken.unwrap_or_else(DCtx::create);
        let size = get_frame_content_size(packed).ok().flatten();
        let size = size.and_then(|size| usize::try_from(size).ok());
        let mut json = Vec::with_capacity(size.expect("what was packed here says its size"));
        context
            .decompress_using_ddict(&mut json, packed, self.decoder.as_ddict())
            .expect("what was packed by a dictionary is unpacked by the same");
        keep(&contexts.unpacking, context);
        json
    }
}

fn keep<C>(contexts: &Mutex<Vec<C>>, context: C) {
    let mut contexts = lock(contexts);
    if contexts.len() < CONTEXTS_MAX {
        contexts.push(context);
    }
}
