//! The command `subject`: informers as processes under test, by the protocol of `docs/external.md`.

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
    participants::subjects::external::{Command, Introduction, Message, StatedObject},
};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Library of the informer.
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

/// The selection that a process mirrors.
struct MirrorSelection {
    client: kube::Client,
    kind: ApiResource,
    namespace: Option<String>,
    label_selector: Option<String>,
}

/// A running informer that reports its notifications. Dropping it ends it.
trait Mirror {
    /// Returns the content of its cache.
    fn held(&self) -> Vec<StatedObject>;
}

// === impl Args ===

impl Args {
    pub(super) fn run(self) -> ExitCode {
        // This thread reads, and another one does the rest.
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

    /// Follows each line of the input, until its end.
    fn converse(self) -> Result<(), String> {
        let mut mirror: Option<Box<dyn Mirror>> = None;
        say(&self.library.hello());
        let error_text = |error: &dyn Error| format!("standard input: {}", whole(error));
        for line in io::stdin().lines() {
            let line = line.map_err(|error| error_text(&error))?;
            let command = serde_json::from_str(&line).map_err(|error| error_text(&error))?;
            match (command, &mirror) {
                (Command::Start { .. }, Some(_)) => {
                    return Err("standard input: a second start".to_owned());
                }
                (command @ Command::Start { .. }, None) => {
                    mirror = Some(
                        self.library
                            .start(MirrorSelection::of(command, self.library)?)?,
                    );
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
    fn hello(self) -> Message {
        let name = self.to_possible_value();
        Message::Hello(Introduction {
            library: name.map_or_else(String::new, |name| name.get_name().to_owned()),
            ..Introduction::default()
        })
    }

    fn start(self, selection: MirrorSelection) -> Result<Box<dyn Mirror>, String> {
        match self {
            Self::Informer => informer::start(selection),
            Self::KubeRuntime => Ok(kube_runtime::start(selection)),
        }
    }
}

// === impl MirrorSelection ===

impl MirrorSelection {
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
        // As users of each library do.
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

/// Builds and writes a line while no other line is written: `message` can rely on earlier lines. A closed pipe ends the
/// program soon.
fn say_now<M: Borrow<Message>>(message: impl FnOnce() -> M) {
    let mut output = io::stdout().lock();
    let mut line = serde_json::to_string(message().borrow()).expect("messages are plain values");
    line.push('\n');
    let _ = output
        .write_all(line.as_bytes())
        .and_then(|()| output.flush());
}
