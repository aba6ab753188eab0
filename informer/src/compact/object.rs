//! Compact objects: bytes as they arrived or packed ones, decoded when they are read.

use std::{
    convert::Infallible,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use serde::{Serialize, de::Error as _};

use super::{dictionary::Dictionary, live::LiveKey, packer::Packer};
use crate::{
    encoding::Syntax,
    field_path::{FieldPath, Fields, ReadFieldError},
    object::{DecodeError, Object},
    object_fn::BoxError,
    sync::{RwLock, read, write},
};

/// A transform of each object when it is decoded.
pub(crate) type Change<K> = dyn Fn(&mut K) -> Result<(), BoxError> + Send + Sync;

/// One version of one object of type `K`, held as compressed bytes and decoded when it is read.
///
/// Informers of `Compact<K>` hold objects in this form, and read them by [`Object::decode`](crate::Object#method.decode).
/// [`HttpListWatch::compact`](crate::http::HttpListWatch::compact) makes them.
pub struct Compact<K> {
    packer: Arc<Packer<K>>,
    /// Tells it from all others of its packer.
    id: u64,
    /// The syntax by which the bytes are read.
    syntax: Syntax,
    state: RwLock<State<K>>,
}

struct State<K> {
    form: Form,
    /// Applied whenever the object is decoded.
    change: Option<Arc<Change<K>>>,
}

/// The representation in memory.
enum Form {
    Raw(Arc<[u8]>),
    Packed {
        bytes: Box<[u8]>,
        dictionary: Arc<Dictionary>,
    },
}

// === impl Object ===

impl<K> Object<Compact<K>> {
    /// Decodes the object, or returns the decoded one that others hold.
    ///
    /// # Errors
    ///
    /// The type does not accept the object, or its transform failed. Trying again gives the same answer.
    pub fn decode(&self) -> Result<Arc<K>, DecodeError> {
        self.get().read().map_err(|source| DecodeError {
            key: self.key().clone(),
            resource_version: self.resource_version().clone(),
            source,
        })
    }
}

impl<K: Send + Sync + 'static> Object<Compact<K>> {
    /// Returns this version with `change` applied whenever it is decoded.
    pub(crate) fn with_change(self, change: &Arc<Change<K>>) -> Self {
        let changed = self.try_transform(|compact| Ok::<_, Infallible>(compact.changed(change)));
        changed.unwrap_or_else(|never| match never {})
    }
}

// === impl Compact ===

impl<K> Compact<K> {
    pub(super) fn new(packer: Arc<Packer<K>>, id: u64, bytes: &[u8], syntax: Syntax) -> Self {
        Self {
            packer,
            id,
            syntax,
            state: RwLock::new(State {
                form: Form::Raw(bytes.into()),
                change: None,
            }),
        }
    }

    /// Decodes and changes the object, or returns the decoded one that others hold.
    ///
    /// # Errors
    ///
    /// The type does not accept it, or the change failed or panicked.
    pub(crate) fn read(&self) -> Result<Arc<K>, Arc<serde_json::Error>> {
        let change = read(&self.state).change.clone();
        let key = LiveKey {
            object: self.id,
            is_changed: change.is_some(),
        };
        if let Some(value) = self.packer.live(key) {
            return Ok(value);
        }
        let mut value = self
            .with_bytes(|bytes| self.packer.decode(bytes, self.syntax))
            .map_err(Arc::new)?;
        if let Some(change) = change {
            let outcome = catch_unwind(AssertUnwindSafe(|| change(&mut value)));
            let outcome = outcome.unwrap_or_else(|_| Err("the transform panicked".into()));
            outcome.map_err(|reason| Arc::new(serde_json::Error::custom(reason)))?;
        }
        Ok(self.packer.share(key, Arc::new(value)))
    }

    /// Reads the bytes that arrived, which may lack kind and API version; `None` if decoding would change them.
    pub(super) fn plain<T>(&self, read_plain: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let is_plain = !self.packer.drops_fields() && read(&self.state).change.is_none();
        is_plain.then(|| self.with_bytes(read_plain))
    }

    /// Packs the bytes, unless they are packed.
    pub(super) fn pack(&self, dictionary: &Arc<Dictionary>) {
        // The lock is given back before it is taken for writing.
        let raw = match &read(&self.state).form {
            Form::Raw(raw) => Arc::clone(raw),
            Form::Packed { .. } => return,
        };
        let bytes = dictionary.pack(&raw, self.packer.contexts());
        if bytes.len() < raw.len() {
            let dictionary = Arc::clone(dictionary);
            write(&self.state).form = Form::Packed { bytes, dictionary };
        }
    }

    /// The size in bytes, and whether it is packed.
    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, bool) {
        match &read(&self.state).form {
            Form::Raw(raw) => (raw.len(), false),
            Form::Packed { bytes, .. } => (bytes.len(), true),
        }
    }

    fn with_bytes<T>(&self, read_bytes: impl FnOnce(&[u8]) -> T) -> T {
        // What is raw is used without the lock, so that packing need not wait for a decoder.
        let raw = match &read(&self.state).form {
            Form::Raw(raw) => Ok(Arc::clone(raw)),
            Form::Packed { bytes, dictionary } => {
                Err(dictionary.unpack(bytes, self.packer.contexts()))
            }
        };
        read_bytes(match &raw {
            Ok(raw) => raw,
            Err(unpacked) => unpacked,
        })
    }
}

impl<K: Send + Sync + 'static> Compact<K> {
    /// Sets the change of an object; copies it first if another handle shares it.
    fn changed(self: Arc<Self>, change: &Arc<Change<K>>) -> Arc<Self> {
        let own = if Arc::strong_count(&self) == 1 {
            self
        } else {
            self.with_bytes(|bytes| self.packer.put(bytes, self.syntax))
        };
        write(&own.state).change = Some(Arc::clone(change));
        own
    }
}

impl<K: Serialize> Fields for Compact<K> {
    /// Reads the bytes where they are what decoding gives, so that the object need not be built.
    fn values_at(&self, path: &FieldPath) -> Result<Vec<Arc<str>>, ReadFieldError> {
        if !path.reads_type()
            && let Some(texts) = self.plain(|bytes| path.values_in(bytes, self.syntax))
        {
            return texts;
        }
        match self.read() {
            Ok(value) => path.values_of(&*value),
            Err(_) => Err(ReadFieldError::undecodable()),
        }
    }
}

impl<K> fmt::Debug for Compact<K> {
    /// Never the content: objects hold secrets, and debug output ends in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compact")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
