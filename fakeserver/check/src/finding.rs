//! Findings of a check: a rule, a place in a file, and the versions for which it holds.

use std::{fmt, sync::Arc};

use fakeserver_versions::KubernetesVersion;

/// The weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: the levels of reports"
)]
pub enum Severity {
    /// A server rejects the object, or drops a part of it.
    Error,
    /// A server takes the object and warns, or a later one will reject it.
    Warning,
    /// The check says what it did not look at, or what it assumed.
    Note,
}

/// The kind of a finding. Reports name it by its [id](Self::id).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// The text is no YAML or JSON, or exceeds a limit.
    Syntax,
    /// The document is no object with `kind` and `apiVersion`.
    NoObject,
    /// No version of Kubernetes has the kind.
    UnknownKind,
    /// The version of Kubernetes does not serve the kind: not yet, or not by default.
    UnservedApi,
    /// An earlier version of Kubernetes, or this one, has removed the API.
    RemovedApi,
    /// A later version of Kubernetes removes the API.
    DeprecatedApi,
    /// Neither Kubernetes nor a manifest defines the kind.
    MissingDefinition,
    /// The value of a field has the wrong type, or the object cannot be decoded.
    WrongType,
    /// The kind has no such field.
    UnknownField,
    /// A key is there twice.
    DuplicateField,
    /// A field has a value that its kind does not allow.
    InvalidField,
    /// An admission policy denies the object.
    PolicyDenied,
    /// An admission plugin denies the object.
    AdmissionDenied,
    /// Two manifests are the same object.
    DuplicateObject,
    /// The server rejects the object for another reason.
    Rejected,
    /// The server takes the object and warns.
    ServerWarning,
    /// No manifest creates the namespace of an object.
    MissingNamespace,
    /// A webhook or an aggregated API server has a say in a cluster, and is not called here.
    NotCalled,
}

/// A position in a file, as editors show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Position {
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
}

/// The name of an object, as its manifest has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct ObjectName {
    /// The `apiVersion`.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace that the manifest names, or an empty text.
    pub namespace: String,
    /// The name, or the prefix of a generated one with `*`.
    pub name: String,
}

/// One thing that a check has found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of finding.
    pub rule: Rule,
    /// The file, as it was named or found.
    pub file: Arc<str>,
    /// The place in the file, if it is one of its bytes.
    pub position: Option<Position>,
    /// The object that it is about, if there is one.
    pub object: Option<Arc<ObjectName>>,
    /// The path of the field as the API names it, or an empty text.
    pub field: String,
    /// The reason, without the field.
    pub message: String,
    /// The versions of Kubernetes for which it holds. It is empty if no version matters.
    pub versions: Vec<KubernetesVersion>,
}

// === impl Rule ===

impl Rule {
    /// All rules.
    pub const ALL: [Self; 18] = [
        Self::Syntax,
        Self::NoObject,
        Self::UnknownKind,
        Self::UnservedApi,
        Self::RemovedApi,
        Self::DeprecatedApi,
        Self::MissingDefinition,
        Self::WrongType,
        Self::UnknownField,
        Self::DuplicateField,
        Self::InvalidField,
        Self::PolicyDenied,
        Self::AdmissionDenied,
        Self::DuplicateObject,
        Self::Rejected,
        Self::ServerWarning,
        Self::MissingNamespace,
        Self::NotCalled,
    ];

    /// Returns the name by which reports call it.
    pub fn id(self) -> &'static str {
        self.words().0
    }

    /// Returns a sentence about what is wrong.
    pub fn description(self) -> &'static str {
        self.words().1
    }

    /// Returns the weight of its findings.
    pub fn severity(self) -> Severity {
        match self {
            Self::DeprecatedApi | Self::ServerWarning => Severity::Warning,
            Self::MissingNamespace | Self::NotCalled => Severity::Note,
            _ => Severity::Error,
        }
    }

    /// Returns whether the field is part of what is said, and not only the place of something about the whole object.
    pub(crate) fn names_fields(self) -> bool {
        !matches!(
            self,
            Self::UnknownKind
                | Self::UnservedApi
                | Self::RemovedApi
                | Self::DeprecatedApi
                | Self::MissingDefinition
                | Self::DuplicateObject
                | Self::MissingNamespace
                | Self::NotCalled
        )
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Syntax => ("syntax", "The text is no YAML or JSON, or exceeds a limit."),
            Self::NoObject => ("no-object", "The document has no kind and apiVersion."),
            Self::UnknownKind => ("unknown-kind", "No version of Kubernetes has the kind."),
            Self::UnservedApi => (
                "unserved-api",
                "The version of Kubernetes does not serve the API.",
            ),
            Self::RemovedApi => ("removed-api", "The API was removed from Kubernetes."),
            Self::DeprecatedApi => ("deprecated-api", "The API will be removed."),
            Self::MissingDefinition => (
                "missing-definition",
                "No manifest defines the custom resource.",
            ),
            Self::WrongType => (
                "wrong-type",
                "The object cannot be decoded: a value has the wrong type.",
            ),
            Self::UnknownField => ("unknown-field", "The kind has no such field."),
            Self::DuplicateField => ("duplicate-field", "A key is there twice."),
            Self::InvalidField => ("invalid-field", "The server rejects the value of a field."),
            Self::PolicyDenied => ("policy-denied", "An admission policy denies the object."),
            Self::AdmissionDenied => ("admission-denied", "An admission plugin denies the object."),
            Self::DuplicateObject => ("duplicate-object", "Two manifests are the same object."),
            Self::Rejected => ("rejected", "The server rejects the object."),
            Self::ServerWarning => ("server-warning", "The server warns about the object."),
            Self::MissingNamespace => (
                "missing-namespace",
                "No manifest creates the namespace of the object.",
            ),
            Self::NotCalled => (
                "not-called",
                "A webhook or an aggregated API server is not called by the check.",
            ),
        }
    }
}

// === impl Severity ===

impl Severity {
    /// Returns the word for it: `error`, `warning` or `note`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

// === impl Finding ===

impl Finding {
    /// Returns its weight.
    pub fn severity(&self) -> Severity {
        self.rule.severity()
    }

    /// Returns the message with the field before it.
    pub fn text(&self) -> String {
        if self.field.is_empty() {
            self.message.clone()
        } else {
            format!("{}: {}", self.field, self.message)
        }
    }
}

/// Prints `LINE:COLUMN`.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Prints the kind, the namespace if there is one, and the name: `Pod shop/cart`.
impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if !self.namespace.is_empty() {
            write!(f, " {}/{}", self.namespace, self.name)
        } else if self.name.is_empty() {
            Ok(())
        } else {
            write!(f, " {}", self.name)
        }
    }
}
