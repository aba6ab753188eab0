//! The service and endpoints of an aggregated API's server.

use axum::Router;
use fakeserver_kinds::{
    Kind,
    apiregistration::{
        availability::{self, Availability, ServiceAddress},
        remote::{RemoteApi, ServiceReference},
    },
    core::{endpoints, pod, service},
    discovery::endpoint_slice,
};
use http::{Uri, uri::Scheme};
use serde_json::Value;

use crate::{
    store::{ObjectKey, Range, View},
    write::{Backend, webhook::Route},
};

/// The service of an API, and its endpoints.
#[derive(Debug)]
pub(super) struct ServiceEndpoints {
    service: Option<Value>,
    slices: Vec<Value>,
    /// The route that was configured to the service, for which its endpoints do not count.
    route: Option<Route>,
}

/// An address of the server of an API.
#[derive(Clone, Debug)]
pub(super) enum Address {
    InProcess(Router),
    Socket {
        host: String,
        port: u16,
        is_tls: bool,
    },
}

// === impl ServiceEndpoints ===

impl ServiceEndpoints {
    /// Reads what is stored now.
    pub(super) fn read(backend: &Backend, reference: &ServiceReference) -> Self {
        let route = backend
            .webhooks
            .route_to(&reference.host(), Some(reference.port));
        backend.storage.view(|view| {
            let slices = if route.is_some() {
                Vec::new()
            } else {
                slices(view, reference)
            };
            Self {
                service: find(view, &service::KIND, reference),
                slices,
                route,
            }
        })
    }

    /// Returns the condition of an API without reachable endpoints; `None` if its server can be contacted.
    pub(super) fn unreachable(&self, api: &RemoteApi) -> Option<Availability> {
        let slices = self.route.is_none().then_some(&*self.slices);
        Availability::unreachable(api, self.service.as_ref(), slices)
    }

    /// Returns the addresses of the server, in the order in which they are tried.
    ///
    /// # Errors
    ///
    /// There are no addresses, for this reason.
    pub(super) fn addresses(
        &self,
        backend: &Backend,
        api: &RemoteApi,
    ) -> Result<Vec<Address>, String> {
        let reference = &api.service;
        let Some(service) = &self.service else {
            return Err(format!("services {:?} not found", reference.name));
        };
        match &self.route {
            Some(Route::InProcess(router)) => return Ok(vec![Address::InProcess(router.clone())]),
            Some(Route::To(to)) => return Ok(vec![Address::of(to)]),
            None => {}
        }
        let mut why = format!("no endpoints available for service {:?}", reference.name);
        let mut addresses = Vec::new();
        for place in availability::places(api, service, &self.slices) {
            match locate(backend, &reference.namespace, place) {
                Ok(address) => addresses.push(address),
                Err(problem) => why = problem,
            }
        }
        if addresses.is_empty() {
            Err(why)
        } else {
            Ok(addresses)
        }
    }
}

/// Returns the address of a place, if a connection can reach it.
fn locate(backend: &Backend, namespace: &str, place: ServiceAddress) -> Result<Address, String> {
    let name = match place {
        ServiceAddress::Host { host, port } => {
            return Ok(Address::Socket {
                host,
                port,
                is_tls: true,
            });
        }
        ServiceAddress::Pod(name) => name,
    };
    let key = ObjectKey::new(pod::KIND.storage().clone(), Some(namespace), &name);
    let pod = backend.storage.view(|view| view.get(&key).cloned());
    let pod = pod.ok_or_else(|| format!("pods {name:?} not found"))?;
    let kubelets = backend.kubelets.as_ref();
    let kubelets = kubelets.ok_or_else(|| {
        format!("connection refused: this server runs no pods, and {name:?} is one; make endpoints without `targetRef`")
    })?;
    let address = kubelets.address(&pod.to_value())?;
    // The port of a pod backend, as in the proxies of pods and services.
    let authority: Uri = address
        .parse()
        .map_err(|error| format!("{address:?} is no address: {error}"))?;
    Ok(Address::Socket {
        host: bare(authority.host()),
        port: authority.port_u16().unwrap_or_default(),
        is_tls: false,
    })
}

fn find(view: View<'_>, kind: &Kind, reference: &ServiceReference) -> Option<Value> {
    let namespace = Some(&*reference.namespace);
    let key = ObjectKey::new(kind.storage().clone(), namespace, &reference.name);
    Some(view.get(&key)?.to_value())
}

/// Returns the endpoint slices of a service, or those that a cluster would make of its endpoints.
fn slices(view: View<'_>, reference: &ServiceReference) -> Vec<Value> {
    let range = Range::Namespace((&*reference.namespace).into());
    let stored = view.snapshot(endpoint_slice::KIND.storage());
    let objects = stored.objects(&range, None);
    let own = objects
        .filter(|slice| slice.labels().get(endpoint_slice::SERVICE_NAME) == Some(&*reference.name));
    let slices: Vec<Value> = own.map(|slice| slice.to_value()).collect();
    if !slices.is_empty() {
        return slices;
    }
    let endpoints = find(view, &endpoints::KIND, reference);
    endpoints.map_or_else(Vec::new, |endpoints| availability::mirrored(&endpoints))
}

// === impl Address ===

impl Address {
    /// Returns the scheme, host and port of a URL.
    fn of(url: &Uri) -> Self {
        let is_tls = url.scheme() != Some(&Scheme::HTTP);
        Self::Socket {
            host: bare(url.host()),
            port: url.port_u16().unwrap_or(if is_tls { 443 } else { 80 }),
            is_tls,
        }
    }

    /// Returns the host and port, as the header `Host` and URLs have them.
    pub(super) fn authority(&self, reference: &ServiceReference) -> String {
        match self {
            Self::InProcess(_) => format!("{}:{}", reference.host(), reference.port),
            Self::Socket { host, port, .. } if host.contains(':') => format!("[{host}]:{port}"),
            Self::Socket { host, port, .. } => format!("{host}:{port}"),
        }
    }
}

/// Returns a host without the brackets of an address.
fn bare(host: Option<&str>) -> String {
    let host = host.unwrap_or_default();
    host.trim_matches(['[', ']']).to_owned()
}
