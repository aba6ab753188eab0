//! Paths to fields of an object, as `kubectl -o jsonpath` writes them, and what is found there.

mod error;
mod parse;
mod value;
mod json;
mod prune;
#[cfg(test)]
mod tests;

#[cfg(feature = "compact")]
use crate::encoding::Syntax;
use std::{fmt, str::FromStr, sync::Arc};

use serde::Serialize;

pub use self::error::{ParseFieldPathError, ReadFieldError};
pub(crate) use self::prune::{DroppedFields, DroppedPaths};

/// A path to a field of an object: the plain paths of kubectl's `JSONPath`.
///
/// | text | what it leads to |
/// |---|---|
/// | `.spec.nodeName` | a field; braces around the path and the first dot may be left out |
/// | `.spec.containers.image`, `.spec.containers[*].image` | the field of each element: lists are walked, written or not |
/// | `.metadata.labels['app.kubernetes.io/name']`, `.metadata.labels.app\.kubernetes\.io/name` | a key with dots |
/// | `.metadata.labels[*]` | all values of a map |
///
/// The values found are texts: strings as they are, numbers and bools as they are printed. A field that is absent,
/// null, or an object gives none, a list one for each of its elements.
///
/// # Examples
///
/// ```
/// use informer::field_path::FieldPath;
///
/// let images: FieldPath = ".spec.containers[*].image".parse()?;
/// let pod = br#"{"spec": {"containers": [{"image": "a"}, {"image": "b"}]}}"#;
/// let found = images.values_in_json(pod)?;
/// assert_eq!(found.iter().map(|value| &**value).collect::<Vec<_>>(), ["a", "b"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(Arc<[Step]>);

/// One step from a value to those within it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Step {
    /// To the value of this key; in a list, to that of each element.
    Field(Arc<str>),
    /// To each element of a list, or each value of a map.
    Each,
}

/// An object whose fields can be read by path: every type that can be serialized, and [compact](crate::compact) objects.
#[diagnostic::on_unimplemented(
    message = "the fields of `{Self}` cannot be read by path",
    label = "no `serde::Serialize`",
    note = "types that derive `Serialize` have fields, and so have `Compact` objects"
)]
pub trait Fields {
    /// Returns the texts that `path` leads to, in their order in the object.
    ///
    /// # Errors
    ///
    /// The object cannot be serialized, or a compact one cannot be decoded. Trying again is useless.
    fn values_at(&self, path: &FieldPath) -> Result<Vec<Arc<str>>, ReadFieldError>;
}

// === impl Fields ===

impl<T: Serialize> Fields for T {
    fn values_at(&self, path: &FieldPath) -> Result<Vec<Arc<str>>, ReadFieldError> {
        path.values_of(self)
    }
}

// === impl FieldPath ===

impl FieldPath {
    /// Returns the texts at this path in `value`, in its order.
    ///
    /// Values off the path are skipped, and only the texts are built.
    ///
    /// # Errors
    ///
    /// The type refuses to be written out. Trying again is useless.
    pub fn values_of<T: Serialize + ?Sized>(
        &self,
        value: &T,
    ) -> Result<Vec<Arc<str>>, ReadFieldError> {
        let mut found = Vec::new();
        value.serialize(value::Walk::new(&self.0, &mut found))?;
        Ok(found)
    }

    /// Returns true if it leads to the kind or the API version of an object, which may be known without being written
    /// in it.
    pub(crate) fn reads_type(&self) -> bool {
        let first = self.0.first();
        first.is_none_or(|step| step.is_to("kind") || step.is_to("apiVersion"))
    }

    /// The same of an object that was not decoded. Nothing is built but the texts.
    ///
    /// # Errors
    ///
    /// The bytes are not JSON. Trying again is useless.
    pub fn values_in_json(&self, json: &[u8]) -> Result<Vec<Arc<str>>, ReadFieldError> {
        let mut found = Vec::new();
        json::read(json, &self.0, &mut found)?;
        Ok(found)
    }

    /// The same in any encoding.
    #[cfg(feature = "compact")]
    pub(crate) fn values_in(
        &self,
        bytes: &[u8],
        syntax: Syntax,
    ) -> Result<Vec<Arc<str>>, ReadFieldError> {
        let mut found = Vec::new();
        syntax.read(bytes, json::Walk::new(&self.0, &mut found))?;
        Ok(found)
    }
}

impl FromStr for FieldPath {
    type Err = ParseFieldPathError;

    /// # Errors
    ///
    /// The text is not such a path; the error names the place. Trying again is useless.
    fn from_str(text: &str) -> Result<Self, ParseFieldPathError> {
        parse::steps(text).map(|steps| Self(steps.into()))
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| step.fmt(f))
    }
}

// === impl Step ===

impl Step {
    fn is_to(&self, key: &str) -> bool {
        match self {
            Self::Field(name) => **name == *key,
            Self::Each => true,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Each => f.write_str("[*]"),
            Self::Field(name) if parse::is_plain(name) => write!(f, ".{name}"),
            Self::Field(name) => {
                let name = name.replace('\\', r"\\").replace('\'', r"\'");
                write!(f, "['{name}']")
            }
        }
    }
}

/// The steps that are left after that to `key`; `None` if the path does not lead there.
fn after_key<'a>(steps: &'a [Step], key: &str) -> Option<&'a [Step]> {
    let (step, rest) = steps.split_first()?;
    step.is_to(key).then_some(rest)
}

/// The steps that are left for each element of a list.
fn after_element(steps: &[Step]) -> &[Step] {
    match steps {
        [Step::Each, rest @ ..] => rest,
        _ => steps,
    }
}
