//! Does a user's controller survive? Crashes, lost answers, refusals, stale caches and unseen states, at each of its writes.
//!
//! The subject is a command in any language, or a function on a paused clock. It talks to a fake API server of its own, behind a tap that sees each request.
//! Two runs without perturbation are the *reference*: the writes, the state in the end. Each plan then does one thing at one
//! write, and the run has to keep the promises.
//!
//! ```text
//! workload ──► run ──► trace, history ──► reference ──► plans ──► runs ──► promises ──► report
//!               │
//!  subject ─► tap ─► fake server
//!              ▲
//!           director
//! ```

mod kinds;
mod workload;
mod workload_file;
mod definitions;
mod generate;
mod plan;
mod finding;
mod trace;
mod director;
mod shown;
mod telling;
mod recorder;
mod frozen;
mod history;
mod end_state;
mod given_mask;
mod world;
mod output;
mod places;
mod running;
mod line;
mod function;
mod process;
mod subject;
mod run;
mod readiness;
mod tap;
mod course;
mod paused;
mod execute;
mod accepted;
mod reference;
mod kept_reference;
mod draw;
mod promises;
mod processor_time;
mod timeline;
mod traced;
mod no_reference;
mod runs;
mod campaign;
mod differential;
mod origin;
mod repeat;
mod report;
mod survey;
mod kept_traces;
mod check;
#[cfg(feature = "proptest")]
mod strategies;
#[doc(hidden)]
pub mod cli;

#[cfg(feature = "proptest")]
pub use self::strategies::{objects, workloads};
pub use self::{
    accepted::{Acceptance, Accepted, LeftOut},
    campaign::{Campaign, CampaignError, Choice, Verdict},
    check::{Check, CheckError, check},
    definitions::definition_files,
    end_state::Mask,
    execute::{CONTROLLERS, RunError, Setup, TRACE, controllers},
    finding::{Finding, Promise},
    function::{Ending, Function},
    generate::Change,
    kept_reference::KeptReference,
    kept_traces::TraceError,
    kinds::ObjectRef,
    origin::Origin,
    plan::{Family, Perturbation, Plan, Refusal, Side},
    process::SubjectCommand,
    readiness::Readiness,
    reference::Reference,
    report::{
        REFERENCE_FILE, Report, counted, escaped, file_stem, index, junit, markdown, replay_line,
    },
    runs::Runs,
    subject::Subject,
    survey::{Progress, Survey},
    timeline::timeline,
    trace::{WriteKey, WritePoint},
    traced::with_findings,
    workload::{Action, PatchType, Rule, Step, When, Workload, WorkloadError},
};
