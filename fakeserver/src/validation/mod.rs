//! What makes an object acceptable, with findings in the words of the API.

pub(crate) mod names;
