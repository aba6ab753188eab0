//! The kinds of mistakes: each is an edit of a manifest without one.

use super::part::Part;

/// A kind of mistake that people make in manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Mistake {
    /// A field with a misspelt name.
    UnknownField,
    /// A text where a number has to be.
    WrongType,
    /// A container without a name.
    MissingField,
    /// Labels that the selector does not match.
    SelectorMismatch,
    /// A name in upper case.
    InvalidName,
    /// A label with a space.
    InvalidLabel,
    /// A port above 65535.
    PortOutOfRange,
    /// A key that is there twice.
    DuplicateKey,
    /// An amount that is no quantity.
    InvalidQuantity,
    /// A request above its limit.
    RequestAboveLimit,
    /// A version of an API that was removed.
    RemovedApi,
    /// A misspelt kind.
    UnknownKind,
    /// Two mounts at one path.
    DuplicateMount,
    /// A mount of a volume that is not there.
    MissingVolume,
    /// A schedule with four parts.
    InvalidSchedule,
    /// A word that is none of those that the field takes.
    InvalidEnum,
    /// A minimum above the maximum.
    MinimumAboveMaximum,
    /// Two ports of one name.
    DuplicatePort,
    /// Something that an admission policy of the set denies.
    DeniedByPolicy,
    /// A custom resource against the schema of its definition.
    AgainstSchema,
}

// === impl Mistake ===

impl Mistake {
    /// All kinds.
    pub const ALL: [Self; 20] = [
        Self::UnknownField,
        Self::WrongType,
        Self::MissingField,
        Self::SelectorMismatch,
        Self::InvalidName,
        Self::InvalidLabel,
        Self::PortOutOfRange,
        Self::DuplicateKey,
        Self::InvalidQuantity,
        Self::RequestAboveLimit,
        Self::RemovedApi,
        Self::UnknownKind,
        Self::DuplicateMount,
        Self::MissingVolume,
        Self::InvalidSchedule,
        Self::InvalidEnum,
        Self::MinimumAboveMaximum,
        Self::DuplicatePort,
        Self::DeniedByPolicy,
        Self::AgainstSchema,
    ];

    /// Returns the kind of object that has it.
    pub(super) fn part(self) -> Part {
        match self {
            Self::InvalidName => Part::ConfigMap,
            Self::RemovedApi => Part::Budget,
            Self::InvalidSchedule => Part::CronJob,
            Self::MinimumAboveMaximum => Part::Autoscaler,
            Self::DuplicatePort => Part::Service,
            Self::AgainstSchema => Part::Backup,
            _ => Part::Deployment,
        }
    }

    /// Returns a manifest of [its kind](Self::part) with the mistake.
    ///
    /// # Panics
    ///
    /// The manifest has not the text that is edited.
    pub(super) fn made_in(self, manifest: &str) -> String {
        let (text, wrong) = self.edit();
        assert!(manifest.contains(text), "{self:?}: {manifest}");
        manifest.replacen(text, wrong, 1)
    }

    /// Returns a text of the manifest, and the wrong one in its place.
    fn edit(self) -> (&'static str, &'static str) {
        match self {
            Self::UnknownField => ("imagePullPolicy: ", "imagePullPolice: "),
            Self::WrongType => ("  replicas: ", "  replicas: about "),
            Self::MissingField => ("      - name: main\n        image: ", "      - image: "),
            Self::SelectorMismatch => (
                "      labels:\n        app: ",
                "      labels:\n        app: x-",
            ),
            Self::InvalidName => ("  name: part-", "  name: Part_"),
            Self::InvalidLabel => ("/name: part-", "/name: part "),
            Self::PortOutOfRange => ("containerPort: 80", "containerPort: 800"),
            Self::DuplicateKey => (
                "      restartPolicy: Always\n",
                "      restartPolicy: Always\n      restartPolicy: Always\n",
            ),
            Self::InvalidQuantity => ("memory: 1Gi", "memory: 1 Gi"),
            Self::RequestAboveLimit => (
                "limits:\n            cpu: 1\n",
                "limits:\n            cpu: 1m\n",
            ),
            Self::RemovedApi => ("policy/v1\n", "policy/v1beta1\n"),
            Self::UnknownKind => ("kind: Deployment\n", "kind: Deploymnet\n"),
            Self::DuplicateMount => (
                "mountPath: /tmp",
                "mountPath: /etc/x\n        - name: config\n          mountPath: /etc/x",
            ),
            Self::MissingVolume => ("        - name: scratch\n", "        - name: scrap\n"),
            Self::InvalidSchedule => ("3 * * *", "3 * *"),
            Self::InvalidEnum => ("IfNotPresent", "IfMissing"),
            Self::MinimumAboveMaximum => ("minReplicas: 2", "minReplicas: 2000"),
            Self::DuplicatePort => ("name: metrics", "name: http"),
            Self::DeniedByPolicy => ("  replicas: 1", "  replicas: 10"),
            Self::AgainstSchema => ("size: small", "size: medium"),
        }
    }
}
