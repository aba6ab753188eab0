//! Faults from any process: `/_control/faults`.

use axum::{
    Json,
    body::Body,
    response::{IntoResponse, Response},
};
use http::{Method, StatusCode};
use serde::Serialize;

use crate::{
    edge::request::read_body,
    faults::{CatalogueEntry, Fault, FaultSpec, Faults, InstalledFault, SpecError},
    value::status::{Cause, Details, Named, Status},
};

/// The maximum number of faults in force that were made of specs.
const FAULTS_MAX: usize = 256;

/// The faults in force.
#[derive(Serialize)]
struct FaultList {
    items: Vec<InstalledFault>,
}

/// `GET` lists what is in force, `POST` installs one or several, `DELETE` removes all; below it, by an id, `GET` shows one
/// and `DELETE` removes it. `catalogue` lists what there is.
///
/// `below` is what stands behind `/_control/faults/` in the path.
///
/// Where `refusal` says why a fault cannot be made here, it is refused with 422.
///
/// # Cancel safety
///
/// Faults are installed, all that were asked for, or not.
pub async fn serve_faults(
    faults: &Faults,
    refusal: impl Fn(&FaultSpec) -> Option<String>,
    method: &Method,
    below: Option<&str>,
    body: Body,
) -> Response {
    let answer = match (method, below) {
        (&Method::GET, None) => Ok(list(faults)),
        (&Method::POST, None) => install(faults, refusal, body).await,
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
    body: Body,
) -> Result<Response, Status> {
    let body = read_body(body).await?;
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
    let mut ids = Vec::new();
    for spec in &specs {
        let guard = faults.install_spec(spec);
        ids.push(guard.id());
        guard.detach();
    }
    let installed = faults.installed().into_iter();
    let items = installed.filter(|fault| ids.contains(&fault.id)).collect();
    Ok((StatusCode::CREATED, Json(FaultList { items })).into_response())
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
    Status::not_found(Named {
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
