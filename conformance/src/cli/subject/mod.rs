//! `subject`: this project's own informers as processes under test, in the words of `docs/external.md`.

mod informer;
mod kube_runtime;

use std::{
    borrow::Borrow,
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

use clap::{Args as ClapArgs, ValueEnum};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::api::ApiResource;

use crate::{
    call::whole,
    subjects::external::{Command, Message, Stated},
};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Whose informer it is.
    #[arg(long, value_name = "NAME", value_enum, default_value_t)]
    library: Library,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Library {
    /// This project's `informer`.
    #[default]
    Informer,
    /// `kube_runtime`'s watcher with its default backoff, and a reflector's store.
    KubeRuntime,
}

/// What a process mirrors.
struct Asked {
    client: kube::Client,
    kind: ApiResource,
    namespace: Option<String>,
    label_selector: Option<String>,
}

/// An informer that has started and says what its handlers hear. Dropping it ends it.
trait Mirror {
    /// What its cache holds.
    fn held(&self) -> Vec<Stated>;
}

// === impl Args ===

impl Args {
    pub(super) fn run(self) -> ExitCode {
        // This thread reads, and another one does all the rest.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        let ended = runtime
            .map_err(|error| format!("no runtime: {error}"))
            .and_then(|runtime| {
                let _entered = runtime.enter();
                self.converse()
            });
        match ended {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => {
                eprintln!("error: {message}");
                ExitCode::from(2)
            }
        }
    }

    /// Does what each line of the input says, until there are no more.
    fn converse(self) -> Result<(), String> {
        let mut mirror: Option<Box<dyn Mirror>> = None;
        let told = |error: &dyn Error| format!("standard input: {}", whole(error));
        for line in io::stdin().lines() {
            let line = line.map_err(|error| told(&error))?;
            let command = serde_json::from_str(&line).map_err(|error| told(&error))?;
            match (command, &mirror) {
                (Command::Start { .. }, Some(_)) => {
                    return Err("standard input: a second start".to_owned());
                }
                (command @ Command::Start { .. }, None) => {
                    mirror = Some(self.library.start(Asked::of(command, self.library)?)?);
                }
                (Command::Cache, Some(mirror)) => say_now(|| Message::Cache {
                    objects: mirror.held(),
                }),
                (Command::Cache, None) => {
                    return Err("standard input: a question before the start".to_owned());
                }
            }
        }
        Ok(())
    }
}

// === impl Library ===

impl Library {
    fn start(self, asked: Asked) -> Result<Box<dyn Mirror>, String> {
        match self {
            Self::Informer => informer::start(asked),
            Self::KubeRuntime => Ok(kube_runtime::start(asked)),
        }
    }
}

// === impl Asked ===

impl Asked {
    fn of(command: Command, library: Library) -> Result<Self, String> {
        let Command::Start {
            server,
            resource,
            namespace,
            label_selector,
        } = command
        else {
            return Err("a start is wanted".to_owned());
        };
        let url = server.parse();
        let url = url.map_err(|error| format!("the server `{server}`: {error}"))?;
        let config = kube::Config::new(url);
        // As the users of each make one.
        let client = match library {
            Library::Informer => ::informer::http::client(config),
            Library::KubeRuntime => kube::Client::try_from(config),
        };
        Ok(Self {
            client: client.map_err(|error| whole(&error))?,
            kind: match resource.as_str() {
                "pods" => ApiResource::erase::<Pod>(&()),
                "configmaps" => ApiResource::erase::<ConfigMap>(&()),
                "nodes" => ApiResource::erase::<Node>(&()),
                other => return Err(format!("nothing is known of the resource `{other}`")),
            },
            namespace,
            label_selector,
        })
    }
}

/// Writes a line.
fn say(message: &Message) {
    say_now(|| message);
}

/// Writes a line, and makes it while nobody else writes one: what was said before is known to whoever makes it. Who does not
/// listen any more is about to end this.
fn say_now<M: Borrow<Message>>(message: impl FnOnce() -> M) {
    let mut output = io::stdout().lock();
    let mut line = serde_json::to_string(message().borrow()).expect("messages are plain values");
    line.push('\n');
    let _ = output
        .write_all(line.as_bytes())
        .and_then(|()| output.flush());
}
