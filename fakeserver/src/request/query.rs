//! The parameters of a request.

use crate::status::Status;

/// Decoded parameters, in the order of the query. Unknown ones are ignored; of those that are there twice, the first counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    parameters: Vec<(String, String)>,
}

// === impl Query ===

impl Query {
    pub(crate) fn parse(query: Option<&str>) -> Self {
        let parameters = form_urlencoded::parse(query.unwrap_or_default().as_bytes())
            .into_owned()
            .collect();
        Self { parameters }
    }

    pub(crate) fn into_parameters(self) -> Vec<(String, String)> {
        self.parameters
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.parameters
            .iter()
            .filter(move |(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.get(name).unwrap_or_default().to_owned()
    }

    /// Anything but nothing, `false` and `0` is true.
    pub(crate) fn bool(&self, name: &str) -> Option<bool> {
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
