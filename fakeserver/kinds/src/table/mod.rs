//! The columns and cells of tables, as `kubectl get` shows them.
//!
//! The columns are those of a real server. A kind with more than a name and an age prints the cells itself; see
//! [`Kind::cells`](crate::Kind::cells).

pub mod age;
pub mod columns;
pub mod cell;
