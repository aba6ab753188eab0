//! The parameters of a request.

use std::sync::Arc;

use fakeserver_value::status::Status;
use http::{Extensions, Uri};

/// Decoded parameters, in the order of the query. Unknown ones are ignored; of those that are there twice, the first counts.
#[derive(Clone, Debug, Default)]
pub struct Query {
    parameters: Vec<(String, String)>,
}

/// Returns whether two hexadecimal digits follow each percent sign.
pub(crate) fn is_well_escaped(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let digits = after.as_bytes().iter().take(2);
        digits.filter(|digit| digit.is_ascii_hexdigit()).count() == 2
    })
}

/// The query of a request, in its extensions, if it is too long for its URI.
#[derive(Clone, Debug)]
pub(crate) struct LongQuery(pub(crate) Arc<str>);

/// Returns the query of a request.
pub(crate) fn query_text<'a>(uri: &'a Uri, extensions: &'a Extensions) -> Option<&'a str> {
    let long = extensions.get::<LongQuery>();
    long.map(|long| &*long.0).or(uri.query())
}

// === impl Query ===

impl Query {
    pub(crate) fn parse(query: Option<&str>) -> Self {
        // A malformed pair is skipped, as Go does it.
        let is_readable = |pair: &&str| !pair.contains(';') && is_well_escaped(pair);
        let parameters = query
            .unwrap_or_default()
            .split('&')
            .filter(is_readable)
            .flat_map(|pair| form_urlencoded::parse(pair.as_bytes()))
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        Self { parameters }
    }

    pub(crate) fn into_parameters(self) -> Vec<(String, String)> {
        self.parameters
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.parameters
            .iter()
            .filter(move |(parameter, _)| parameter == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.get(name).unwrap_or_default().to_owned()
    }

    /// Parses a flag: all values but `false` and `0` are true. Returns `None` if the parameter is absent.
    pub fn bool(&self, name: &str) -> Option<bool> {
        let value = self.get(name)?;
        Some(!matches!(value.to_lowercase().as_str(), "false" | "0"))
    }

    /// A decimal number; the error is in the words of the API.
    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>, Status> {
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        text.parse()
            .map(Some)
            .map_err(|error: std::num::ParseIntError| {
                let why = match error.kind() {
                    std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
                        "value out of range"
                    }
                    _ => "invalid syntax",
                };
                Status::bad_request(format!("strconv.ParseInt: parsing {text:?}: {why}"))
            })
    }
}
