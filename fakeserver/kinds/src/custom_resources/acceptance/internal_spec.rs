//! The internal form of a definition's spec: parts that all versions share belong to the whole definition.

use serde_json::Value;

/// A part in which versions may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VersionedPart {
    Schema,
    Subresources,
    Columns,
    SelectableFields,
}

/// The spec of a definition in its internal form.
#[derive(Debug)]
pub(super) struct InternalSpec<'a> {
    spec: &'a Value,
    pub(super) versions: &'a [Value],
    /// The parts that all versions have the same of, which then are those of the whole definition.
    common: Vec<VersionedPart>,
}

static NOTHING: Value = Value::Null;

// === impl VersionedPart ===

impl VersionedPart {
    const ALL: [Self; 4] = [
        Self::Schema,
        Self::Subresources,
        Self::Columns,
        Self::SelectableFields,
    ];

    /// The name of the part in a version.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Subresources => "subresources",
            Self::Columns => "additionalPrinterColumns",
            Self::SelectableFields => "selectableFields",
        }
    }
}

// === impl InternalSpec ===

impl<'a> InternalSpec<'a> {
    pub(super) fn new(spec: &'a Value) -> Self {
        let versions = spec["versions"].as_array();
        let versions = versions.map(Vec::as_slice).unwrap_or_default();
        let is_common = |part: &VersionedPart| {
            let of = |version: &'a Value| without_empty(&version[part.name()]);
            let first = versions.first().map(of);
            versions.iter().map(of).all(|own| Some(own) == first)
        };
        Self {
            spec,
            versions,
            common: VersionedPart::ALL.into_iter().filter(is_common).collect(),
        }
    }

    /// Tells whether it has a list of versions, which may be empty.
    pub(super) fn has_versions(&self) -> bool {
        self.spec["versions"].is_array()
    }

    pub(super) fn preserves_unknown_fields(&self) -> bool {
        self.spec["preserveUnknownFields"] == true
    }

    fn is_common(&self, part: VersionedPart) -> bool {
        self.common.contains(&part)
    }

    /// Returns a part of the whole definition.
    pub(super) fn common(&self, part: VersionedPart) -> &'a Value {
        match self.versions.first() {
            Some(first) if self.is_common(part) => &first[part.name()],
            _ => &NOTHING,
        }
    }

    /// Returns a part of one version.
    pub(super) fn own(&self, index: usize, part: VersionedPart) -> &'a Value {
        if self.is_common(part) {
            return &NOTHING;
        }
        &self.versions[index][part.name()]
    }

    /// Returns the subresources of a version, wherever they belong.
    pub(super) fn subresources(&self, index: usize) -> &'a Value {
        &self.versions[index]["subresources"]
    }

    /// Returns the schemas, each once.
    pub(super) fn schemas(&self) -> Vec<&'a Value> {
        let own = (0..self.versions.len()).map(|index| self.own(index, VersionedPart::Schema));
        let all = std::iter::once(self.common(VersionedPart::Schema)).chain(own);
        all.map(|validation| &validation["openAPIV3Schema"])
            .filter(|schema| schema.is_object())
            .collect()
    }

    /// Returns the schema of the version with a name, wherever it belongs.
    pub(super) fn schema_of(&self, name: &Value) -> Option<&'a Value> {
        let mut versions = self.versions.iter();
        let version = versions.find(|version| version["name"] == *name)?;
        Some(&version["schema"])
    }
}

/// Returns a list without items as null: both are no list.
fn without_empty(value: &Value) -> &Value {
    match value {
        Value::Array(items) if items.is_empty() => &NOTHING,
        value => value,
    }
}
