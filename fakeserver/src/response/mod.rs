//! Objects, lists and frames become bytes.
