//! `exec` and `attach`: connections with a container that runs.

use axum::response::Response;
use fakeserver_server::{
    nodes::ExecRequest,
    verbs::{Api, Request},
};
use fakeserver_value::status::Status;
use serde_json::Value;

use super::{
    sources::StoredSources,
    status::is_running,
    upgrade::{self, Upgrade},
};
use crate::containers::{
    CommandSession, CommandWork, Containers, Program, Session, SessionWork, Setting,
};

/// Answers with a session that begins when the client's connection is upgraded.
pub(super) fn serve(
    api: &Api,
    request: &Request<'_>,
    containers: &Containers,
    pod: &Value,
    container: &str,
) -> Result<Response, Status> {
    let upgrade = Upgrade::of(request)?;
    let is_attach = request.target.subresource() == "attach";
    if !is_running(pod, container) {
        let why = if is_attach {
            let name = request.target.name();
            let namespace = request.target.path.namespace.as_deref().unwrap_or_default();
            format!("container {container} not found in pod {name}_{namespace}")
        } else {
            format!("container not found ({container:?})")
        };
        return Ok(upgrade.refuse(api, why));
    }
    let key = request.target.key(request.target.name());
    let log = api.backend.storage.view(|view| {
        view.get(&key)?;
        containers.log(&key, container, false)
    });
    let log = log.ok_or_else(|| Status::not_found(request.target.named(key.name())))?;
    let leave = containers.leave_token();
    let work = if is_attach {
        CommandWork::Attach(log.clone().follow_from_end(leave.clone()))
    } else {
        let (program, command) = program(api, request, containers, pod, container);
        CommandWork::Run { program, command }
    };
    let is_set = |name: &str| request.query.bool(name).unwrap_or_default();
    let session = Session {
        work: SessionWork::Command(CommandSession {
            work,
            has_stdin: is_set("stdin"),
            is_terminal: is_set("tty"),
        }),
        // What is attached ends by itself, once it has shown the last lines.
        life: (!is_attach).then(|| log.follow_from_end(leave)),
    };
    Ok(upgrade::pending(api, session))
}

/// Returns the program that a request is to run, and the command as messages show it.
fn program(
    api: &Api,
    request: &Request<'_>,
    containers: &Containers,
    pod: &Value,
    container: &str,
) -> (Program, String) {
    let command: Vec<String> = request.query.all("command").map(str::to_owned).collect();
    let command_line = format!("[{}]", command.join(" "));
    let namespace = request.target.path.namespace.as_deref().unwrap_or_default();
    let exec_request = ExecRequest::new(namespace, request.target.name(), container, command);
    if let Some(output) = containers.answer(&exec_request) {
        return (Program::finished(output), command_line);
    }
    let lists = ["containers", "initContainers", "ephemeralContainers"];
    let mut all = lists
        .into_iter()
        .filter_map(|list| pod["spec"][list].as_array())
        .flatten();
    let spec = all
        .find(|spec| spec["name"] == container)
        .unwrap_or(&Value::Null);
    let sources = StoredSources::new(api, namespace, pod);
    let setting = Setting::of(pod, spec, &sources);
    let now = api.backend.clock.now();
    (
        Program::new(&exec_request.command, setting, now),
        command_line,
    )
}
