//! What happens to the types of objects.

mod resource_gone;

pub use self::resource_gone::{ResourceGone, resource_gone};
