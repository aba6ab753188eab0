//! Reports of a check: text for people, JSON, `JUnit` and SARIF for other programs.

mod versions;
mod text;
mod json;
mod junit;
mod sarif;
#[cfg(test)]
mod tests;

pub use self::{
    json::json,
    junit::junit,
    sarif::sarif,
    text::{TextStyle, finding_lines, text},
};
