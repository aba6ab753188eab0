//! The fields of a pod that hold its containers and their statuses.

use serde_json::Value;

use super::container::Role;

/// A list of containers in the specification of a pod, and that of their statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContainerField {
    Init,
    Main,
    Ephemeral,
}

// === impl ContainerField ===

impl ContainerField {
    /// All of them, in the order in which containers start.
    pub(super) const ALL: [Self; 3] = [Self::Init, Self::Main, Self::Ephemeral];

    /// Returns the field in which containers of a role are.
    pub(super) fn of(role: Role) -> Self {
        match role {
            Role::Init | Role::Sidecar => Self::Init,
            Role::Main => Self::Main,
            Role::Ephemeral => Self::Ephemeral,
        }
    }

    /// Returns the role of a container that is in this field.
    pub(super) fn role_of(self, container: &Value) -> Role {
        match self {
            Self::Init if container["restartPolicy"] == "Always" => Role::Sidecar,
            Self::Init => Role::Init,
            Self::Main => Role::Main,
            Self::Ephemeral => Role::Ephemeral,
        }
    }

    /// Returns the name of the field of a specification.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Init => "initContainers",
            Self::Main => "containers",
            Self::Ephemeral => "ephemeralContainers",
        }
    }

    /// Returns the name of the field of a status.
    pub(super) fn status_name(self) -> &'static str {
        match self {
            Self::Init => "initContainerStatuses",
            Self::Main => "containerStatuses",
            Self::Ephemeral => "ephemeralContainerStatuses",
        }
    }
}

/// Returns the containers of a specification, in the order in which they start.
pub(super) fn containers(spec: &Value) -> impl Iterator<Item = (ContainerField, &Value)> {
    ContainerField::ALL.into_iter().flat_map(|field| {
        let all = spec[field.name()].as_array().into_iter().flatten();
        all.map(move |container| (field, container))
    })
}

/// Returns the container of that name, whose role is any.
pub(super) fn container<'a>(spec: &'a Value, name: &str) -> Option<&'a Value> {
    let mut all = containers(spec).map(|(_, container)| container);
    all.find(|container| container["name"] == name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn containers_are_found_with_their_roles() {
        let spec = json!({
            "ephemeralContainers": [{"name": "debug"}],
            "containers": [{"name": "main", "restartPolicy": "Always"}],
            "initContainers": [{"name": "first"}, {"name": "beside", "restartPolicy": "Always"}],
        });
        let all = containers(&spec);
        let roles: Vec<Role> = all.map(|(field, it)| field.role_of(it)).collect();
        let expected = [Role::Init, Role::Sidecar, Role::Main, Role::Ephemeral];
        assert_eq!(roles, expected);
        assert_eq!(container(&spec, "debug").unwrap()["name"], "debug");
        assert_eq!(container(&spec, "other"), None);
        for role in expected {
            let field = ContainerField::of(role);
            assert_eq!(
                field.status_name(),
                field.name().replace("ontainers", "ontainerStatuses")
            );
        }
    }
}
