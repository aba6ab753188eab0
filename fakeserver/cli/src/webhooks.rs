//! Addresses of services of the cluster that the server asks: webhooks, and aggregated API servers.

use clap::Args;
use fakeserver_server::FakeServer;
use http::Uri;

#[derive(Debug, Args)]
pub(super) struct WebhookOptions {
    /// Address of a service that webhook configurations or API services name, as in `default/hooks=https://127.0.0.1:9443`
    ///
    /// Repeated for several. With `https` the certificate has to name `hooks.default.svc`, and to be signed by the
    /// `caBundle` of the configuration or the API service; `http` goes without TLS. Webhooks with a `url` are asked there.
    #[arg(long, value_name = "NAMESPACE/NAME=URL", value_parser = parse_route)]
    webhook_service: Vec<Route>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Route {
    host: String,
    to: Uri,
}

// === impl WebhookOptions ===

impl WebhookOptions {
    /// Tells the server where its webhooks are.
    pub(super) fn configure(&self, server: &FakeServer) {
        for route in &self.webhook_service {
            server.redirect_webhooks(&route.host, route.to.clone());
        }
    }
}

fn parse_route(text: &str) -> Result<Route, String> {
    let wrong = || format!("{text:?} is no route; try `default/hooks=https://127.0.0.1:9443`");
    let (service, url) = text.split_once('=').ok_or_else(wrong)?;
    let (namespace, name) = service.split_once('/').ok_or_else(wrong)?;
    let to: Uri = url.parse().map_err(|_| wrong())?;
    let is_url = matches!(to.scheme_str(), Some("http" | "https"));
    let has_path = to.path() != "/" || to.query().is_some();
    if namespace.is_empty() || name.is_empty() || !is_url || has_path {
        return Err(wrong());
    }
    Ok(Route {
        host: format!("{name}.{namespace}.svc"),
        to,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_a_service_and_where_it_is() {
        let route = parse_route("default/hooks=http://127.0.0.1:9443").unwrap();
        assert_eq!(route.host, "hooks.default.svc");
        assert_eq!(route.to, "http://127.0.0.1:9443");
        for wrong in [
            "",
            "hooks=https://127.0.0.1",
            "default/hooks",
            "default/=https://127.0.0.1",
            "default/hooks=127.0.0.1:9443",
            "default/hooks=ftp://127.0.0.1",
            "default/hooks=https://127.0.0.1/path",
        ] {
            let error = parse_route(wrong).unwrap_err();
            assert!(error.contains("try `default/hooks="), "{wrong}: {error}");
        }
    }
}
