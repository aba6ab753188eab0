//! The selection of admission plugins, by the names of a real server.

use std::collections::BTreeSet;

use super::chain;

/// The plugins of a real server in its order, and whether they are on by default.
///
/// Upstream has them in `AllOrderedPlugins` and `DefaultOffAdmissionPlugins` of `pkg/kubeapiserver/options/plugins.go`.
/// There, `ServiceAccount` is on; here it is on by default only if a controller makes the accounts that pods need.
pub(super) const KNOWN: &[(&str, bool)] = &[
    ("AlwaysAdmit", false),
    ("NamespaceAutoProvision", false),
    ("NamespaceLifecycle", true),
    ("NamespaceExists", false),
    ("LimitPodHardAntiAffinityTopology", false),
    ("LimitRanger", true),
    (SERVICE_ACCOUNT, false),
    ("NodeRestriction", false),
    ("TaintNodesByCondition", true),
    ("AlwaysPullImages", false),
    ("ImagePolicyWebhook", false),
    ("PodSecurity", true),
    ("PodNodeSelector", false),
    ("Priority", true),
    ("DefaultTolerationSeconds", true),
    ("PodTolerationRestriction", false),
    ("EventRateLimit", false),
    ("ExtendedResourceToleration", false),
    ("DefaultStorageClass", true),
    ("StorageObjectInUseProtection", true),
    ("PodGroupProtection", true),
    ("OwnerReferencesPermissionEnforcement", false),
    ("PersistentVolumeClaimResize", true),
    ("RuntimeClass", true),
    ("CertificateApproval", true),
    ("CertificateSigning", true),
    ("ClusterTrustBundleAttest", true),
    ("CertificateSubjectRestriction", true),
    ("DefaultIngressClass", true),
    ("DenyServiceExternalIPs", false),
    ("PodTopologyLabels", true),
    ("PodGroupWorkloadExists", true),
    ("NodeDeclaredFeatureValidator", true),
    ("JobValidation", true),
    ("PodResizeValidator", true),
    ("MutatingAdmissionPolicy", true),
    ("MutatingAdmissionWebhook", true),
    ("ValidatingAdmissionPolicy", true),
    ("ValidatingAdmissionWebhook", true),
    ("ResourceQuota", true),
    ("AlwaysDeny", false),
];
const SERVICE_ACCOUNT: &str = "ServiceAccount";

/// The admission plugins of a server: those of a real server's defaults, and what is turned on and off besides.
///
/// Names are those of kube-apiserver's `--enable-admission-plugins`. `ServiceAccount` is off by default, unlike in
/// kube-apiserver, since it refuses all pods of a namespace without service accounts.
///
/// # Examples
///
/// ```
/// # use fakeserver_server as fakeserver;
/// use fakeserver::{AdmissionPlugins, FakeServer};
///
/// let plugins = AdmissionPlugins::default()
///     .with_enabled(["ServiceAccount"])
///     .with_disabled(["PodSecurity", "ResourceQuota"]);
/// let server = FakeServer::builder().with_admission(plugins).build();
/// # drop(server);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct AdmissionPlugins {
    enabled: BTreeSet<String>,
    disabled: BTreeSet<String>,
    /// True if a controller makes the accounts that pods need.
    makes_accounts: bool,
}

/// The error of plugins that are unknown, or both enabled and disabled, in the words of kube-apiserver.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", joined(.0))]
pub struct AdmissionPluginsError(Vec<String>);

// === impl AdmissionPlugins ===

impl AdmissionPlugins {
    /// Turns plugins on that are off by default.
    #[doc(alias = "enable-admission-plugins")]
    pub fn with_enabled<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.enabled.extend(names.into_iter().map(Into::into));
        self
    }

    /// Turns plugins off that are on by default, or that controllers turn on.
    #[doc(alias = "disable-admission-plugins")]
    pub fn with_disabled<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.disabled.extend(names.into_iter().map(Into::into));
        self
    }

    /// Returns the named plugins that a real server has and that do nothing here.
    #[must_use]
    pub fn without_effect(&self) -> Vec<&str> {
        let named = self.enabled.union(&self.disabled).map(String::as_str);
        named
            .filter(|name| is_known(name) && !chain::has(name))
            .collect()
    }

    /// Turns the plugin on that needs service accounts, unless it is disabled.
    pub fn with_accounts(mut self, makes_accounts: bool) -> Self {
        self.makes_accounts = makes_accounts;
        self
    }

    /// Returns whether a controller makes the accounts that pods need.
    pub(super) fn makes_accounts(&self) -> bool {
        self.makes_accounts
    }

    /// Refuses unknown plugins, and those that are both enabled and disabled.
    pub fn check(&self) -> Result<(), AdmissionPluginsError> {
        let mut errors = Vec::new();
        for (list, names) in [("enable", &self.enabled), ("disable", &self.disabled)] {
            let unknown = names.iter().filter(|name| !is_known(name));
            errors.extend(
                unknown.map(|name| format!("{list}-admission-plugins plugin {name:?} is unknown")),
            );
        }
        let both: Vec<&str> = self
            .enabled
            .intersection(&self.disabled)
            .map(String::as_str)
            .collect();
        if !both.is_empty() {
            errors.push(format!(
                "[{}] in enable-admission-plugins and disable-admission-plugins overlapped",
                both.join(" ")
            ));
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(AdmissionPluginsError(errors))
        }
    }

    /// Returns whether a plugin is on.
    pub(super) fn has(&self, name: &str) -> bool {
        let is_default = KNOWN.contains(&(name, true));
        let is_default = is_default || self.makes_accounts && name == SERVICE_ACCOUNT;
        self.enabled.contains(name) || is_default && !self.disabled.contains(name)
    }
}

fn is_known(name: &str) -> bool {
    KNOWN.iter().any(|(plugin, _)| *plugin == name)
}

/// Formats several errors as Go's aggregate does.
fn joined(errors: &[String]) -> String {
    match errors {
        [error] => error.clone(),
        errors => format!("[{}]", errors.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_plugins_and_contradictions_are_refused_together() {
        let plugins = AdmissionPlugins::default()
            .with_enabled(["Nothing", "PodSecurity", "Priority"])
            .with_disabled(["Priority", "PodSecurity"]);
        let error = plugins.check().unwrap_err();
        assert_eq!(
            error.to_string(),
            "[enable-admission-plugins plugin \"Nothing\" is unknown, [PodSecurity Priority] in \
             enable-admission-plugins and disable-admission-plugins overlapped]"
        );
        let one = AdmissionPlugins::default().with_disabled([""]);
        assert_eq!(
            one.check().unwrap_err().to_string(),
            "disable-admission-plugins plugin \"\" is unknown"
        );
    }

    #[test]
    fn an_explicit_disable_beats_what_controllers_turn_on() {
        let plugins = AdmissionPlugins::default();
        assert!(plugins.has("Priority") && !plugins.has(SERVICE_ACCOUNT));
        let with_accounts = plugins.clone().with_accounts(true);
        assert!(with_accounts.has(SERVICE_ACCOUNT));
        assert!(
            !with_accounts
                .with_disabled([SERVICE_ACCOUNT])
                .has(SERVICE_ACCOUNT)
        );
        assert!(plugins.with_enabled([SERVICE_ACCOUNT]).has(SERVICE_ACCOUNT));
    }

    #[test]
    fn known_plugins_without_effect_are_named() {
        let plugins = AdmissionPlugins::default()
            .with_enabled(["NodeRestriction"])
            .with_disabled(["AlwaysAdmit", "Priority"]);
        assert_eq!(plugins.check(), Ok(()));
        assert_eq!(plugins.without_effect(), ["AlwaysAdmit", "NodeRestriction"]);
    }
}
