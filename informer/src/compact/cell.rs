//! One version of one object, as JSON or packed.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use serde::de::Error as _;

use super::{dictionary::Dictionary, live::LiveKey, packer::Packer};
use crate::{
    reading::BoxError,
    sync::{RwLock, read, write},
};

/// What is done to each object when it is decoded.
pub(crate) type Change<K> = dyn Fn(&mut K) -> Result<(), BoxError> + Send + Sync;

/// One version of one object, as JSON or packed.
pub(crate) struct Cell<K> {
    packer: Arc<Packer<K>>,
    /// Tells it from all others of its packer.
    id: u64,
    /// Whether the JSON says its kind and API version.
    is_whole: bool,
    form: RwLock<Form>,
}

/// As what the object is held.
enum Form {
    Raw(Arc<[u8]>),
    Packed {
        bytes: Box<[u8]>,
        dictionary: Arc<Dictionary>,
    },
}

// === impl Cell ===

impl<K> Cell<K> {
    pub(super) fn new(packer: Arc<Packer<K>>, id: u64, json: &[u8], is_whole: bool) -> Self {
        Self {
            packer,
            id,
            is_whole,
            form: RwLock::new(Form::Raw(json.into())),
        }
    }

    /// The object, changed by `change`; shared with everybody who holds it.
    ///
    /// # Errors
    ///
    /// The type does not accept it, or `change` failed or panicked.
    pub(crate) fn get(&self, change: Option<&Change<K>>) -> Result<Arc<K>, Arc<serde_json::Error>> {
        let key = LiveKey {
            cell: self.id,
            is_changed: change.is_some(),
        };
        if let Some(value) = self.packer.live(key) {
            return Ok(value);
        }
        let mut value = self
            .with_json(|json| self.packer.decode(json, self.is_whole))
            .map_err(Arc::new)?;
        if let Some(change) = change {
            let outcome = catch_unwind(AssertUnwindSafe(|| change(&mut value)));
            let outcome = outcome.unwrap_or_else(|_| Err("the transform panicked".into()));
            outcome.map_err(|reason| Arc::new(serde_json::Error::custom(reason)))?;
        }
        Ok(self.packer.share(key, Arc::new(value)))
    }

    /// The JSON that arrived, which may lack kind and API version; `None` where the object is less than that.
    pub(crate) fn plain_json<T>(&self, read: impl FnOnce(&str) -> T) -> Option<T> {
        (!self.packer.drops_fields()).then(|| self.with_json(read))
    }

    /// Packs it, unless it is.
    pub(super) fn pack(&self, dictionary: &Arc<Dictionary>) {
        // The lock is given back before it is taken for writing.
        let json = match &*read(&self.form) {
            Form::Raw(json) => Arc::clone(json),
            Form::Packed { .. } => return,
        };
        let bytes = dictionary.pack(&json, self.packer.contexts());
        if bytes.len() < json.len() {
            let dictionary = Arc::clone(dictionary);
            *write(&self.form) = Form::Packed { bytes, dictionary };
        }
    }

    /// How many bytes it takes, and whether it is packed.
    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, bool) {
        match &*read(&self.form) {
            Form::Raw(json) => (json.len(), false),
            Form::Packed { bytes, .. } => (bytes.len(), true),
        }
    }

    fn with_json<T>(&self, read_json: impl FnOnce(&str) -> T) -> T {
        // What is raw is used without the lock, so that whoever packs it need not wait for a decoder.
        let raw = match &*read(&self.form) {
            Form::Raw(json) => Ok(Arc::clone(json)),
            Form::Packed { bytes, dictionary } => {
                Err(dictionary.unpack(bytes, self.packer.contexts()))
            }
        };
        let json = match &raw {
            Ok(json) => &**json,
            Err(json) => json.as_slice(),
        };
        read_json(str::from_utf8(json).expect("it was checked when it arrived"))
    }
}

impl<K> fmt::Debug for Cell<K> {
    /// Never the content: objects hold secrets, and debug output ends in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
