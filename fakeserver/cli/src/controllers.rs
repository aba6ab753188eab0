//! The controllers that a command line chooses.

use fakeserver_cluster::workloads::Workloads;
use fakeserver_server::Controllers;

/// The value of `--controllers`: those of an API server, and the workloads, which further flags configure.
#[derive(Clone, Debug)]
pub(crate) struct ControllersChoice {
    pub(crate) of_server: Controllers,
    pub(crate) workloads: Option<Workloads>,
}

// === impl ControllersChoice ===

impl ControllersChoice {
    /// Reads names that are separated by commas.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        // Elections are the API server's own, and have a feature gate.
        let mut controllers = Controllers::none().with_leader_election(true);
        let mut workloads = None;
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        if names.len() > 1 && names.contains(&"none") {
            return Err("`none` is with no other name; leave it or the others out".to_owned());
        }
        for name in names {
            controllers = match name {
                "none" => controllers,
                "default" | "workloads" => controllers
                    .with_garbage_collector(true)
                    .with_namespaces(true),
                "garbage-collector" => controllers.with_garbage_collector(true),
                "namespaces" => controllers.with_namespaces(true),
                "service-accounts" => controllers.with_service_accounts(true),
                "quota" => controllers.with_quota(true),
                "certificates" => controllers.with_certificates(true),
                _ => {
                    return Err(format!(
                        "no controller {name:?}; try `default`, `workloads` or `none`, or some of `garbage-collector`, \
                         `namespaces`, `certificates`, `quota` and `service-accounts`"
                    ));
                }
            };
            if name == "workloads" {
                workloads = Some(Workloads::default());
            }
        }
        Ok(Self {
            of_server: controllers,
            workloads,
        })
    }

    /// Changes the workloads.
    ///
    /// # Errors
    ///
    /// There are no workload controllers; `missing` names the flag that needs them.
    pub(crate) fn with_workloads(
        mut self,
        missing: impl FnOnce() -> String,
        change: impl FnOnce(Workloads) -> Workloads,
    ) -> Result<Self, String> {
        self.workloads = Some(change(self.workloads.ok_or_else(missing)?));
        Ok(self)
    }

    /// Returns the controllers as a server takes them.
    pub(crate) fn all(self) -> Controllers {
        match self.workloads {
            Some(workloads) => self.of_server.with_workloads(workloads),
            None => self.of_server,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controllers_are_named_one_by_one_or_together() {
        let chosen = |text| format!("{:?}", ControllersChoice::parse(text).unwrap().all());
        let given = |controllers: Controllers| format!("{controllers:?}");
        let none = Controllers::none().with_leader_election(true);
        let both = Controllers::default();
        assert_eq!(chosen("none"), given(none.clone()));
        assert_eq!(chosen("default"), given(both.clone()));
        assert_eq!(chosen("namespaces, garbage-collector"), given(both.clone()));
        assert_eq!(chosen("namespaces"), given(none.with_namespaces(true)));
        assert_eq!(
            chosen("workloads"),
            given(both.clone().with_workloads(Workloads::default()))
        );
        assert_eq!(
            chosen("default,quota,service-accounts"),
            given(both.with_quota(true).with_service_accounts(true))
        );
        for (text, expected) in [("kubelet", "`certificates`"), ("none,workloads", "`none`")] {
            let error = ControllersChoice::parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
