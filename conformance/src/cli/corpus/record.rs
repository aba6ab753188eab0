//! The command `corpus record`: generated requests and a server's answers to them.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use fakeserver::cli::output::OutputArgs;
use serde_json::value::to_raw_value;
use support::cli::{progress_bar, say};

use super::{GenerateArgs, ReachArgs};
use crate::{
    call::whole,
    corpus::{Corpus, Line, Session, normalised},
};

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    reach: ReachArgs,
    #[command(flatten)]
    generate: GenerateArgs,
    /// File to write, which is compressed if its name ends in `.xz`.
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    files: OutputArgs,
}

// === impl Args ===

impl Args {
    pub(super) async fn perform(&self) -> Result<(), String> {
        self.files.check([&*self.output])?;
        let (endpoint, version) = self.reach.reach().await?;
        let seed = self.generate.seed();
        let count = self.generate.requests;
        say(&format!("{} ({version}), seed {seed}\n", self.reach.name()));
        let mut session = Session::new(endpoint);
        let generator = self.generate.generator(seed, &session).await?;
        let bar = progress_bar(usize::try_from(count).unwrap_or(usize::MAX), "requests");
        let mut lines = Vec::new();
        for set_up in generator.set_up() {
            bar.set_message("set-up");
            match session.set_up(&set_up).await {
                Ok(()) => lines.push(Line::SetUp(set_up)),
                Err(error) if error.is_fatal() => return Err(whole(&error)),
                // Requests about an object that is not there are requests, too.
                Err(error) => bar.suspend(|| say(&format!("left out: {}\n", whole(&error)))),
            }
        }
        session.settle().await;
        let refreshed = session.refresh().await;
        refreshed.map_err(|error| format!("the set-up cannot be read: {}", whole(&error)))?;
        for number in 0..count {
            let case = generator.case(number);
            bar.set_message(case.kind.clone());
            let answer = session.ask(&case.request).await;
            let answer = answer
                .map_err(|error| format!("no answer to {}: {}", case.request, whole(&error)))?;
            let answer = to_raw_value(&normalised(&answer)).map_err(|error| error.to_string())?;
            lines.push(Line::Case { case, answer });
            bar.inc(1);
        }
        bar.finish_and_clear();
        let content = Corpus::new(lines).to_bytes(&self.output);
        let content = content.map_err(|error| format!("cannot compress: {error}"))?;
        self.files.write(&self.output, &content)?;
        say(&format!("{} {count} requests\n", self.output.display()));
        Ok(())
    }
}
