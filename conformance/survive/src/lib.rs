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
mod finding;
mod trace;
mod plan;
mod director;
mod client_view;
mod trace_writer;
mod recorder;
mod watch_rules;
mod history;
mod end_state;
mod user_mask;
mod world;
mod output;
mod environment;
mod running_subject;
mod connection;
mod function;
mod process;
mod subject;
mod run;
mod readiness;
mod tap;
mod step_runner;
mod paused_runtime;
mod execute;
mod acceptance;
mod reference;
mod stored_reference;
mod draw;
mod promises;
mod processor_time;
mod timeline;
mod annotated_trace;
mod runs;
mod error;
mod reference_failure;
mod campaign;
mod differential;
mod repeat;
mod origin;
mod report;
mod survey;
mod trace_folder;
mod check;
#[cfg(feature = "proptest")]
mod strategies;
#[doc(hidden)]
pub mod cli;

#[cfg(feature = "proptest")]
pub use self::strategies::{objects, workloads};
pub use self::{
    acceptance::{Acceptance, AcceptanceList, AcceptedFinding},
    annotated_trace::with_findings,
    campaign::{Campaign, Choice, Verdict},
    check::{Check, CheckError, check},
    definitions::definition_files,
    end_state::Mask,
    error::CampaignError,
    execute::{CONTROLLERS, RunError, Setup, TRACE, controllers},
    finding::{Finding, Promise},
    function::{Ending, Function},
    generate::Change,
    kinds::ObjectRef,
    origin::{Origin, PlanList},
    plan::{Family, Perturbation, Plan, Refusal, Side},
    process::SubjectCommand,
    readiness::Readiness,
    reference::Reference,
    report::{
        REFERENCE_FILE, Report, counted, escaped, file_stem, index, junit, markdown, replay_line,
    },
    runs::Runs,
    stored_reference::StoredReference,
    subject::Subject,
    survey::{Progress, Survey},
    timeline::timeline,
    trace::{WriteKey, WritePoint},
    trace_folder::TraceError,
    workload::{Action, PatchType, Rule, Step, When, Workload, WorkloadError},
};
