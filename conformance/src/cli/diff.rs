//! The command `diff`: generated requests to two servers.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Args as ClapArgs;
use fakeserver::cli::output::OutputArgs;
use serde_json::json;
use support::cli::{finish, progress_bar, say};

use super::{
    corpus::{
        GenerateArgs, PATIENCE_MAX_SECONDS,
        report::{self, Mismatch},
    },
    server::ServerArgs,
};
use crate::{
    call::whole,
    corpus::{Body, Causes, Difference, Generator, Pair, Session},
};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(flatten)]
    left: LeftArgs,
    #[command(flatten)]
    right: RightArgs,
    #[command(flatten)]
    generate: GenerateArgs,
    /// Send this request only.
    #[arg(long, value_name = "NUMBER", conflicts_with = "requests")]
    request: Option<u64>,
    /// Show this many groups of requests that differ, each by its smallest request.
    #[arg(long, value_name = "N", default_value_t = 10)]
    show: usize,
    /// Show requests as they are generated, not as small as they can be.
    #[arg(long)]
    no_shrink: bool,
    /// Write the differences to this file as JSON, too; `-` writes them to standard output, and nothing else.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    /// Seconds to wait for each answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=PATIENCE_MAX_SECONDS))]
    timeout: u64,
}

/// Declares the options of one of the two servers.
macro_rules! side {
    ($args:ident, $side:literal) => {
        #[derive(Debug, ClapArgs)]
        struct $args {
            #[arg(id = $side, long = $side, value_name = "URL",
                required_unless_present = concat!($side, "_kubeconfig"),
                conflicts_with = concat!($side, "_kubeconfig"),
                help = concat!("The ", $side, " server, as in `http://127.0.0.1:8001`"))]
            server: Option<String>,
            #[arg(id = concat!($side, "_kubeconfig"), long = concat!($side, "-kubeconfig"), value_name = "FILE",
                help = concat!("Kubeconfig with the ", $side, " server and the credentials"))]
            kubeconfig: Option<PathBuf>,
            /// Context of that kubeconfig [default: its current one].
            #[arg(id = concat!($side, "_context"), long = concat!($side, "-context"), value_name = "NAME",
                requires = concat!($side, "_kubeconfig"))]
            context: Option<String>,
            #[arg(id = concat!($side, "_token"), long = concat!($side, "-token"), value_name = "TOKEN",
                conflicts_with = concat!($side, "_kubeconfig"),
                help = concat!("Bearer token for the ", $side, " server"))]
            token: Option<String>,
            /// File with that token, which hides it from the list of processes.
            #[arg(id = concat!($side, "_token_file"), long = concat!($side, "-token-file"), value_name = "FILE",
                conflicts_with_all = [concat!($side, "_kubeconfig"), concat!($side, "_token")])]
            token_file: Option<PathBuf>,
            #[arg(id = concat!($side, "_certificate_authority"), long = concat!($side, "-certificate-authority"),
                value_name = "FILE", conflicts_with = concat!($side, "_kubeconfig"),
                help = concat!("Authority of the ", $side, " server's certificate, as PEM"))]
            certificate_authority: Option<PathBuf>,
            #[arg(id = concat!($side, "_insecure"), long = concat!($side, "-insecure-skip-tls-verify"),
                conflicts_with = concat!($side, "_kubeconfig"),
                help = concat!("Do not check the ", $side, " server's certificate"))]
            insecure_skip_tls_verify: bool,
        }

        impl $args {
            fn server(&self) -> ServerArgs {
                ServerArgs {
                    server: self.server.clone(),
                    kubeconfig: self.kubeconfig.clone(),
                    context: self.context.clone(),
                    token: self.token.clone(),
                    token_file: self.token_file.clone(),
                    certificate_authority: self.certificate_authority.clone(),
                    insecure_skip_tls_verify: self.insecure_skip_tls_verify,
                    ..ServerArgs::default()
                }
            }

            /// Returns the options that name this server again, without secrets.
            fn replay(&self) -> String {
                let file = |file: &Path| file.display().to_string();
                let given = [
                    ("", self.server.clone()),
                    ("-kubeconfig", self.kubeconfig.as_deref().map(file)),
                    ("-context", self.context.clone()),
                    ("-token", self.token.as_ref().map(|_| "TOKEN".to_owned())),
                    ("-token-file", self.token_file.as_deref().map(file)),
                    ("-certificate-authority", self.certificate_authority.as_deref().map(file)),
                ];
                let given = given.into_iter().filter_map(|(option, value)| Some((option, value?)));
                let options: Vec<String> = given
                    .map(|(option, value)| format!(concat!("--", $side, "{} {}"), option, value))
                    .collect();
                let insecure = if self.insecure_skip_tls_verify {
                    concat!(" --", $side, "-insecure-skip-tls-verify")
                } else {
                    ""
                };
                format!("{}{insecure}", options.join(" "))
            }
        }
    };
}

side!(LeftArgs, "left");
side!(RightArgs, "right");

/// The outcome of the comparison.
struct Outcome {
    causes: Causes,
    found: Vec<(u64, Difference)>,
    differing_set_up: Vec<String>,
}

// === impl Args ===

impl Args {
    pub(super) fn run(self) -> ExitCode {
        finish(async move { self.perform().await })
    }

    /// Returns true if all answers are equal.
    async fn perform(&self) -> Result<bool, String> {
        let is_quiet = self.json.as_deref() == Some(Path::new("-"));
        if let Some(path) = self.json.as_deref().filter(|_| !is_quiet) {
            self.output.check([path])?;
        }
        let print = |text: &str| {
            if !is_quiet {
                say(text);
            }
        };
        let patience = Duration::from_secs(self.timeout);
        let (left, right) = (self.left.server(), self.right.server());
        let seed = self.generate.seed();
        let mut sessions = Vec::new();
        for (side, server) in [("left", &left), ("right", &right)] {
            let (endpoint, version) = server.reach(patience).await?;
            print(&format!("{side:5} {} ({version})\n", server.name()));
            sessions.push(Session::new(endpoint));
        }
        print(&format!("seed  {seed}\n"));
        let generator = self.generate.generator(seed, &sessions[0]).await?;
        let [left, right] = &sessions[..] else {
            return Err("there are two servers".to_owned());
        };
        let mut pair = Pair::new(left.clone(), right.clone());
        let outcome = self.compare(&mut pair, &generator).await?;
        let replays = self.replays(&pair, &generator, &outcome, seed).await?;
        for line in &outcome.differing_set_up {
            print(&format!("\nset-up: {line}\n"));
        }
        for (mismatch, replay) in &replays {
            let text = report::mismatch(mismatch, ["left", "right"]);
            print(&format!("{text}  replay: {replay}\n"));
        }
        print(&report::causes(&outcome.causes));
        print(&self.total(&outcome));
        if let Some(path) = &self.json {
            let text = self.as_json(&outcome, &replays, seed);
            if is_quiet {
                say(&text);
            } else {
                self.output.write(path, text.as_bytes())?;
            }
        }
        Ok(outcome.is_good())
    }

    async fn compare(&self, pair: &mut Pair, generator: &Generator) -> Result<Outcome, String> {
        let mut outcome = Outcome {
            causes: Causes::default(),
            found: Vec::new(),
            differing_set_up: Vec::new(),
        };
        let count = if self.request.is_some() {
            1
        } else {
            self.generate.requests
        };
        let bar = progress_bar(usize::try_from(count).unwrap_or(usize::MAX), "requests");
        bar.set_message("set-up");
        for set_up in generator.set_up() {
            let differing = pair.set_up(&set_up).await;
            let differing =
                differing.map_err(|error| format!("the set-up failed: {}", whole(&error)))?;
            outcome.differing_set_up.extend(differing);
        }
        let refreshed = pair.refresh().await;
        refreshed.map_err(|error| format!("the set-up cannot be read: {}", whole(&error)))?;
        let first = self.request.unwrap_or(0);
        for number in first..first.saturating_add(count) {
            let case = generator.case(number);
            bar.set_message(format!("{}, {} differ", case.kind, outcome.found.len()));
            let found = pair.compare(&case).await.map_err(|error| whole(&error))?;
            if let Some(difference) = found {
                outcome
                    .causes
                    .add(difference.cause.clone(), outcome.found.len());
                outcome.found.push((number, difference));
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(outcome)
    }

    /// Returns the first request of each group that is shown, as small as it can be, and the command that sends it again.
    async fn replays(
        &self,
        pair: &Pair,
        generator: &Generator,
        outcome: &Outcome,
        seed: u64,
    ) -> Result<Vec<(Mismatch, String)>, String> {
        let causes = outcome.causes.by_frequency();
        let shown_count = causes.len().min(self.show);
        let bar = progress_bar(shown_count, "groups");
        bar.set_message("shrinking");
        let mut replays = Vec::new();
        for (_, places) in causes.into_iter().take(shown_count) {
            let (number, difference) = &outcome.found[places[0]];
            let (case, difference) = (generator.case(*number), difference.clone());
            let (case, difference) = if self.no_shrink {
                (case, difference)
            } else {
                pair.shrink(case, difference)
                    .await
                    .map_err(|error| whole(&error))?
            };
            let mismatch = Mismatch {
                place: format!("request {number}"),
                case,
                differences: difference.differences,
            };
            replays.push((mismatch, self.replay(seed, *number)));
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(replays)
    }

    fn replay(&self, seed: u64, number: u64) -> String {
        let (left, right) = (self.left.replay(), self.right.replay());
        let generate = self.generate.replay(seed);
        format!("conformance diff {left} {right} {generate} --request {number}")
    }

    fn total(&self, outcome: &Outcome) -> String {
        let count = if self.request.is_some() {
            1
        } else {
            self.generate.requests
        };
        let found = outcome.found.len();
        let equal = count.saturating_sub(u64::try_from(found).unwrap_or(u64::MAX));
        format!("{equal} of {count} answers equal\n")
    }

    fn as_json(&self, outcome: &Outcome, replays: &[(Mismatch, String)], seed: u64) -> String {
        let replays = replays.iter().map(|(mismatch, replay)| {
            let mut replays = mismatch.as_json();
            replays["replay"] = json!(replay);
            replays["headers"] = json!(mismatch.case.request.headers);
            replays["body"] = json!(mismatch.case.request.body.as_ref().map(Body::text));
            replays
        });
        let numbers: Vec<u64> = outcome.found.iter().map(|(number, _)| *number).collect();
        let report = json!({
            "good": outcome.is_good(),
            "left": self.left.server().name(),
            "right": self.right.server().name(),
            "seed": seed,
            "request_count": if self.request.is_some() { 1 } else { self.generate.requests },
            "differing_set_up": outcome.differing_set_up,
            "differing_requests": numbers,
            "causes": report::causes_as_json(&outcome.causes),
            "shown": replays.collect::<Vec<_>>(),
        });
        format!("{report:#}\n")
    }
}

// === impl Outcome ===

impl Outcome {
    fn is_good(&self) -> bool {
        self.found.is_empty() && self.differing_set_up.is_empty()
    }
}
