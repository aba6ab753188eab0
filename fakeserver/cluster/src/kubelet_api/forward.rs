//! `portforward`: connections with the ports of a pod, which reach the address that stands for it.

use axum::response::{IntoResponse, Response};
use fakeserver_server::{
    edge::request::Query,
    verbs::{Api, Request},
};
use fakeserver_value::status::Status;
use http::{StatusCode, header};
use serde_json::Value;

use super::upgrade::{self, Upgrade};
use crate::containers::{Containers, ForwardTarget, Session, SessionWork};

/// The number of ports whose channels have numbers in a byte.
const PORTS_MAX: usize = 64;

/// Answers with a session that begins when the client's connection is upgraded.
pub(super) fn serve(
    api: &Api,
    request: &Request<'_>,
    containers: &Containers,
    pod: &Value,
) -> Result<Response, Status> {
    let ports = ports(&request.query)?;
    let upgrade = Upgrade::of(request)?;
    if ports.len() > PORTS_MAX {
        return Err(Status::bad_request(format!(
            "at most {PORTS_MAX} ports are forwarded by one connection"
        )));
    }
    if ports.is_empty() && !upgrade.is_tunnel() {
        let content_type = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
        let why = "query parameter \"port\" is required";
        return Ok((StatusCode::BAD_REQUEST, content_type, why).into_response());
    }
    let key = request.target.key(request.target.name());
    let first = pod["spec"]["containers"][0]["name"].as_str();
    let log = api.backend.storage.view(|view| {
        view.get(&key)?;
        containers.log(&key, first.unwrap_or_default(), false)
    });
    let log = log.ok_or_else(|| Status::not_found(request.target.named(key.name())))?;
    let target = ForwardTarget {
        ports,
        name: key.name().to_owned(),
        uid: pod["metadata"]["uid"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        address: containers.address(pod),
    };
    let session = Session {
        work: SessionWork::Forward(target),
        life: Some(log.follow_from_end(containers.leave_token())),
    };
    Ok(upgrade::pending(api, session))
}

/// Returns the ports that a query names, in lists or one by one.
fn ports(query: &Query) -> Result<Vec<u16>, Status> {
    let named = query.all("ports").flat_map(|list| list.split(','));
    let ports = named.map(|port| {
        port.parse::<u16>().map_err(|error| {
            let why = match error.kind() {
                std::num::IntErrorKind::PosOverflow => "value out of range",
                _ => "invalid syntax",
            };
            Status::bad_request(format!(
                "cannot convert to []int32: strconv.ParseUint: parsing {port:?}: {why}"
            ))
        })
    });
    ports.collect()
}
