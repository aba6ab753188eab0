//! The forms in which a decoder makes objects: decoded on arrival, or compact.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::Decoder;
#[cfg(feature = "compact")]
use crate::compact::{Compact, CompactOptions, Packer};
use crate::{encoding::Syntax, serde_layer::Lengths};

/// Makes objects of type `K` from their bytes.
pub(crate) trait Form<K>: Send + Sync {
    /// The same form for objects of another decoder.
    fn for_decoder(&self, decoder: &Arc<Decoder>) -> Arc<dyn Form<K>>;

    /// Returns true if the JSON has to be sound before [`value`](Self::value) is called; else `value` checks it.
    fn needs_checked_json(&self) -> bool;

    /// Makes the value of an object.
    fn value(&self, decoder: &Decoder, document: &Document<'_>) -> serde_json::Result<Arc<K>>;
}

/// The bytes of one object, with what is known of them.
pub(crate) struct Document<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) syntax: Syntax,
    /// The lengths of its arrays, if it is JSON and they were measured.
    pub(super) lengths: &'a Lengths,
}

/// Objects are decoded on arrival.
pub(crate) struct TypedForm;

/// Objects are held as compressed bytes, and decoded when they are read.
#[cfg(feature = "compact")]
pub(crate) struct PackedForm<K> {
    packer: Arc<Packer<K>>,
    options: CompactOptions,
}

// === impl TypedForm ===

impl<K: DeserializeOwned> Form<K> for TypedForm {
    fn for_decoder(&self, _: &Arc<Decoder>) -> Arc<dyn Form<K>> {
        Arc::new(Self)
    }

    fn needs_checked_json(&self) -> bool {
        false
    }

    fn value(&self, decoder: &Decoder, document: &Document<'_>) -> serde_json::Result<Arc<K>> {
        Ok(Arc::new(decoder.build(document)?))
    }
}

// === impl PackedForm ===

#[cfg(feature = "compact")]
impl<K: DeserializeOwned + Send + Sync + 'static> PackedForm<K> {
    pub(crate) fn new(decoder: &Arc<Decoder>, options: CompactOptions) -> Self {
        let decoder = Arc::clone(decoder);
        let drops_fields = !decoder.dropped.is_empty();
        let packer = Packer::new(options.clone(), drops_fields, move |bytes, syntax| {
            decoder.build(&Document {
                bytes,
                syntax,
                lengths: &Lengths::default(),
            })
        });
        let packer = Arc::new(packer);
        Self { packer, options }
    }
}

#[cfg(feature = "compact")]
impl<K: DeserializeOwned + Send + Sync + 'static> Form<Compact<K>> for PackedForm<K> {
    fn for_decoder(&self, decoder: &Arc<Decoder>) -> Arc<dyn Form<Compact<K>>> {
        Arc::new(Self::new(decoder, self.options.clone()))
    }

    fn needs_checked_json(&self) -> bool {
        true
    }

    fn value(&self, _: &Decoder, document: &Document<'_>) -> serde_json::Result<Arc<Compact<K>>> {
        Ok(self.packer.put(document.bytes, document.syntax))
    }
}
