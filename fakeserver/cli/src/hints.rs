//! The suggestions of `fakeserver serve` in a terminal: possible next commands.

use std::fmt::Write as _;

use super::kubeconfig::quoted;

/// A server that is ready, as its user sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hints<'a> {
    /// `http://ADDRESS:PORT`, or `https://`.
    pub(super) url: &'a str,
    /// The file and the context by which the server can be reached, if it is in a kubeconfig.
    pub(super) kubeconfig: Option<(&'a str, &'a str)>,
    /// True if requests need credentials.
    pub(super) asks_for_credentials: bool,
    /// True if pods run, and controllers make them.
    pub(super) runs_workloads: bool,
}

/// The escape sequences that begin and end bold text.
const BOLD: (&str, &str) = ("\x1b[1m", "\x1b[0m");

// === impl Hints ===

impl Hints<'_> {
    /// Returns the text. It has bold headings and links if `is_styled`.
    pub(super) fn text(&self, is_styled: bool) -> String {
        let (bold, plain) = if is_styled { BOLD } else { ("", "") };
        let url = self.url;
        let link = |path: &str| {
            let target = format!("{url}{path}");
            if is_styled {
                format!("\x1b]8;;{target}\x1b\\{target}\x1b]8;;\x1b\\")
            } else {
                target
            }
        };
        let mut text = format!("\n{bold}In another terminal{plain}\n");
        let mut add =
            |line: &str| writeln!(text, "{line}").expect("a string takes what is written");
        let kubectl = match self.kubeconfig {
            Some((file, context)) => {
                add(&format!("  export KUBECONFIG={}", quoted(file)));
                Some(format!("kubectl --context {}", quoted(context)))
            }
            None => (!self.is_guarded()).then(|| format!("kubectl --server {url}")),
        };
        if let Some(kubectl) = kubectl {
            add(&format!("  {kubectl} get namespaces"));
            add(&format!(
                "  {kubectl} create configmap hello --from-literal=to=you"
            ));
            add(&format!("  {kubectl} get configmaps --watch"));
        } else {
            add("  `--kubeconfig FILE` writes what clients need to reach it");
        }
        add(&format!(
            "{bold}Faults{plain}, all in {}",
            link("/_control/faults/catalogue")
        ));
        if self.is_guarded() {
            add(
                "  requests to it need what all requests need: the certificates or tokens of the kubeconfig",
            );
        } else {
            add(&format!(
                "  curl {url}/_control/faults -d '{{\"fault\": \"throttle\", \"match\": {{\"verb\": \"list\"}}}}'"
            ));
            add(&format!("  curl -X DELETE {url}/_control/faults"));
        }
        if !self.runs_workloads {
            add(&format!(
                "{bold}Workloads{plain} are stored as by an API server alone: no pod is made or started, and roll-outs wait for ever"
            ));
            add("  `--controllers workloads` makes and runs them");
        }
        add("Ctrl-C ends the server. --quiet leaves this out.");
        text
    }

    /// Returns true if a request needs more than the address: credentials, or an authority to trust.
    fn is_guarded(&self) -> bool {
        self.asks_for_credentials || self.url.starts_with("https:")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HINTS: Hints<'_> = Hints {
        url: "http://127.0.0.1:8001",
        kubeconfig: None,
        asks_for_credentials: false,
        runs_workloads: false,
    };

    #[test]
    fn the_flag_for_workloads_is_named_where_they_do_not_run() {
        let flag = "`--controllers workloads`";
        assert!(HINTS.text(false).contains(flag));
        let hints = Hints {
            runs_workloads: true,
            ..HINTS
        };
        assert!(!hints.text(false).contains(flag));
    }

    #[test]
    fn without_a_kubeconfig_the_address_is_named() {
        let text = HINTS.text(false);
        assert!(
            text.contains("  kubectl --server http://127.0.0.1:8001 get namespaces\n"),
            "{text}"
        );
        assert!(!text.contains('\x1b'), "{text}");
    }

    #[test]
    fn a_kubeconfig_is_exported_and_its_context_named() {
        let kubeconfig = Some(("/tmp/my config", "fake"));
        let text = Hints {
            kubeconfig,
            ..HINTS
        }
        .text(false);
        assert!(
            text.contains("  export KUBECONFIG='/tmp/my config'\n"),
            "{text}"
        );
        assert!(
            text.contains("  kubectl --context fake get configmaps --watch\n"),
            "{text}"
        );
    }

    #[test]
    fn credentials_come_from_a_kubeconfig() {
        let hints = Hints {
            asks_for_credentials: true,
            ..HINTS
        };
        let text = hints.text(true);
        assert!(text.contains("`--kubeconfig FILE` writes"), "{text}");
        assert!(!text.contains("kubectl"), "{text}");
        assert!(
            text.contains("\x1b]8;;http://127.0.0.1:8001/_control/faults/catalogue\x1b\\"),
            "{text}"
        );
    }
}
