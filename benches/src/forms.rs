//! The forms in which the server sends a list: the time of each, and the memory meanwhile.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use crate::{
    load::ask_something,
    program::Program,
    serve::{PODS_A_NODE, SEED},
    wire::{Connection, JSON},
};

/// A form, and the media type that asks for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) name: &'static str,
    accept: &'static str,
}

/// The cost of one list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListCost {
    pub(crate) elapsed: Duration,
    /// The most of the server's resident memory meanwhile, above what was resident before.
    pub(crate) above_bytes: u64,
}

/// The forms, in the order in which they are measured.
const FORMS: [Form; 3] = [
    Form {
        name: "JSON",
        accept: JSON,
    },
    Form {
        name: "protobuf",
        accept: "application/vnd.kubernetes.protobuf",
    },
    Form {
        name: "a table",
        accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    },
];

/// Lists all of `pods` pods of the program in each form, one after another.
pub(crate) async fn measure(pods: u32) -> Result<Vec<(Form, ListCost)>, Box<dyn Error>> {
    let [nodes, pods, seed] = [
        pods.div_ceil(PODS_A_NODE).to_string(),
        pods.to_string(),
        SEED.to_string(),
    ];
    let cluster = ["--nodes", &nodes, "--pods", &pods, "--seed", &seed];
    let server = Program::serve(&cluster.map(str::to_owned)).await?;
    // A cluster lives from the first request on.
    ask_something(&server.url).await?;
    let mut measured = Vec::new();
    for form in FORMS {
        measured.push((form, list(&server, form).await?));
    }
    Ok(measured)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
async fn list(server: &Program, form: Form) -> Result<ListCost, Box<dyn Error>> {
    let mut connection = Connection::open(&server.url).await?;
    server.reset_peak()?;
    let rest = server.usage()?.resident_bytes;
    let start = Instant::now();
    connection.skim("/api/v1/pods", form.accept).await?;
    let elapsed = start.elapsed();
    let peak = server.usage()?.peak_bytes;
    Ok(ListCost {
        elapsed,
        above_bytes: peak.saturating_sub(rest),
    })
}
