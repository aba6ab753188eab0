//! Faults from any process: `/_control/faults`.

use axum::{
    Json,
    body::Body,
    response::{IntoResponse, Response},
};
use fakeserver_kinds::registry::Registry;
use fakeserver_value::{
    similar::closest_name,
    status::{Cause, Details, NamedObject, Status, warning_headers},
};
use http::{Method, StatusCode, header};
use serde::Serialize;
use tokio::time::timeout;

use crate::{
    edge::{
        request::{REQUEST_LIMIT, read_body},
        response::timed_out,
    },
    faults::{CatalogueEntry, Fault, FaultSpec, Faults, InstalledFault, SpecError},
};

/// The maximum number of faults in force that were made of specs.
const FAULTS_MAX: usize = 256;

/// The faults in force.
#[derive(Serialize)]
struct FaultList {
    items: Vec<InstalledFault>,
}

/// `GET` lists the installed faults, `POST` installs one or several, `DELETE` removes all; below it, by an id, `GET`
/// returns one and `DELETE` removes it. `catalogue` lists all faults.
///
/// `below` is the rest of the path after `/_control/faults/`.
///
/// A fault for which `refusal` returns a reason is rejected with 422. If `warning` returns a text, the response has a
/// `Warning` header.
///
/// # Cancel safety
///
/// Either all requested faults are installed, or none.
pub async fn serve_faults(
    faults: &Faults,
    refusal: impl Fn(&FaultSpec) -> Option<String>,
    warning: impl Fn(&FaultSpec) -> Option<String>,
    method: &Method,
    below: Option<&str>,
    body: Body,
) -> Response {
    let answer = match (method, below) {
        (&Method::GET, None) => Ok(list(faults)),
        (&Method::POST, None) => install(faults, refusal, warning, body).await,
        (&Method::DELETE, None) => {
            for fault in faults.installed() {
                faults.remove(fault.id);
            }
            Ok(StatusCode::NO_CONTENT.into_response())
        }
        (&Method::GET, Some("catalogue")) => {
            let entries: Vec<&CatalogueEntry> = Fault::all().map(Fault::entry).collect();
            Ok(Json(entries).into_response())
        }
        (&Method::GET, Some(id)) => show(faults, id),
        (&Method::DELETE, Some(id)) => remove(faults, id),
        _ => Err(Status::method_not_allowed()),
    };
    answer.unwrap_or_else(IntoResponse::into_response)
}

fn list(faults: &Faults) -> Response {
    let items = faults.installed();
    Json(FaultList { items }).into_response()
}

/// Installs all that the body describes, or nothing.
async fn install(
    faults: &Faults,
    refusal: impl Fn(&FaultSpec) -> Option<String>,
    warning: impl Fn(&FaultSpec) -> Option<String>,
    body: Body,
) -> Result<Response, Status> {
    let Ok(body) = timeout(REQUEST_LIMIT, read_body(body)).await else {
        return Ok(timed_out());
    };
    let body = body?;
    let specs = FaultSpec::read(&body).map_err(|error| refused(&error))?;
    if let Some(why) = specs.iter().find_map(refusal) {
        return Err(Status {
            code: StatusCode::UNPROCESSABLE_ENTITY,
            reason: "Invalid".into(),
            ..Status::bad_request(why)
        });
    }
    let room = FAULTS_MAX.saturating_sub(faults.installed().len());
    if specs.len() > room {
        return Err(Status {
            code: StatusCode::CONFLICT,
            reason: "Conflict".into(),
            ..Status::bad_request(format!(
                "at most {FAULTS_MAX} faults can be in force; there is room for {room} more"
            ))
        });
    }
    let warnings: Vec<String> = specs.iter().filter_map(warning).collect();
    let mut ids = Vec::new();
    for spec in &specs {
        let guard = faults.install_spec(spec);
        ids.push(guard.id());
        guard.detach();
    }
    let installed = faults.installed().into_iter();
    let items = installed.filter(|fault| ids.contains(&fault.id)).collect();
    let mut answer = (StatusCode::CREATED, Json(FaultList { items })).into_response();
    for warning in warning_headers(&warnings) {
        answer.headers_mut().append(header::WARNING, warning);
    }
    Ok(answer)
}

/// Returns a warning if the fault is for a resource that is not served now.
pub(super) fn unserved(registry: &Registry, spec: &FaultSpec) -> Option<String> {
    let wanted = spec.filter.wanted_resource()?;
    let group = spec.filter.wanted_group();
    let groups = registry.groups().iter();
    let resources =
        groups.flat_map(|group| group.versions.iter().map(move |version| (group, version)));
    let served: Vec<(&str, &str)> = resources
        .flat_map(|(group, version)| {
            let plurals = version.resources.iter().map(|resource| &*resource.plural);
            plurals.map(|plural| (&*group.name, plural))
        })
        .collect();
    let is_wanted = |own: &str| group.is_none_or(|group| group == own);
    let is_served = |&(own, plural): &(&str, &str)| is_wanted(own) && plural == wanted;
    if wanted.is_empty() || served.iter().any(is_served) {
        return None;
    }
    let fault = spec.fault.name();
    let within = group.map(|group| format!(" in the group {group:?}"));
    let within = within.unwrap_or_default();
    let plurals = served.iter().filter(|(own, _)| is_wanted(own));
    let similar = closest_name(wanted, plurals.map(|(_, plural)| *plural));
    let elsewhere = || served.iter().find(|(_, plural)| *plural == wanted);
    let advice = match (similar, elsewhere()) {
        (Some(similar), _) => format!("did you mean {similar:?}?"),
        (None, Some((own, _))) => format!("it is of the group {own:?}"),
        (None, None) => "it is for a resource that is defined later, or never fires".to_owned(),
    };
    Some(format!(
        "{fault}: match.resource: no resource {wanted:?} is served{within} now; {advice}"
    ))
}

fn show(faults: &Faults, id: &str) -> Result<Response, Status> {
    let found = faults.installed().into_iter();
    let found = found.into_iter().find(|fault| fault.id.to_string() == id);
    found
        .map(|fault| Json(fault).into_response())
        .ok_or_else(|| unknown(id))
}

fn remove(faults: &Faults, id: &str) -> Result<Response, Status> {
    let is_removed = id.parse().is_ok_and(|id| faults.remove(id));
    if is_removed {
        Ok(StatusCode::NO_CONTENT.into_response())
    } else {
        Err(unknown(id))
    }
}

fn unknown(id: &str) -> Status {
    Status::not_found(NamedObject {
        resource: "faults",
        group: "",
        name: id,
    })
}

fn refused(error: &SpecError) -> Status {
    let mut cause = Cause::new("FieldValueInvalid", error.problem());
    error.field().clone_into(&mut cause.field);
    let details = Details {
        kind: "faults".to_owned(),
        causes: vec![cause],
        ..Details::default()
    };
    Status {
        details: Some(Box::new(details)),
        ..Status::bad_request(error.to_string())
    }
}
