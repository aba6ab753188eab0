//! All runs of a subject: the reference, the plans side by side, and the smaller ones of those that fail.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use futures::{FutureExt, StreamExt, stream};
use serde_json::Value;
use support::{partition::Partition, task::map_in_threads};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    acceptance::AcceptedFinding,
    definitions::check_conversion,
    draw,
    environment::check_in_cluster,
    error::CampaignError,
    execute::{self, Conditions, Outcome, RunError, Setup, Task},
    finding::Finding,
    kinds::ServedKinds,
    plan::{Family, Plan},
    processor_time,
    promises::{self, Case, rules::Rules},
    reference::Reference,
    reference_failure::no_reference,
    runs::Runs,
    trace::RunTrace,
    workload::Workload,
};

/// The runs of each core: they mostly wait.
const JOBS_PER_CORE: usize = 8;

/// The choice of runs.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The families of plans.
    pub families: Vec<Family>,
    /// The largest number of plans; all those of the families by default.
    pub plans: Option<usize>,
    /// The time in which new plans are begun.
    pub limit: Option<Duration>,
    /// The partition of these plans that is run.
    pub partition: Partition,
    /// The number of runs at once; as many as the subject lets the processors, by default.
    pub jobs: Option<usize>,
    /// The seed of pairs.
    pub seed: u64,
    /// The folder of the runs' folders.
    pub folder: PathBuf,
    /// Ends the campaign when it is cancelled: the runs of commands under way are killed, and their plans have no verdict.
    pub stop: CancellationToken,
}

/// The verdict on one plan.
#[derive(Debug)]
pub struct Verdict {
    /// The plan.
    pub plan: Plan,
    /// The promises that it broke; none if it survived.
    pub findings: Vec<Finding>,
    /// Those that are accepted.
    pub accepted: Vec<AcceptedFinding>,
    /// Its runs: of a command that broke a promise there are several.
    pub runs: Runs,
    /// True if its writes did not come, so that it says nothing.
    pub is_idle: bool,
    /// The record of the run.
    pub trace: RunTrace,
    /// The duration of the steps.
    pub took: Duration,
    /// The folder of its output.
    pub folder: PathBuf,
}

/// The subject, its workload, and the compiled rules.
#[derive(Debug)]
pub struct Campaign {
    pub(super) setup: Setup,
    workload: Workload,
    kinds: ServedKinds,
    rules: Rules,
}

// === impl Campaign ===

impl Campaign {
    /// Prepares the runs of a subject.
    ///
    /// # Errors
    ///
    /// The definitions cannot be served, or an expression is wrong.
    pub async fn new(setup: Setup, workload: Workload) -> Result<Self, CampaignError> {
        execute::compiled(&workload)?;
        if setup.certificates.is_some() {
            check_in_cluster().await.map_err(CampaignError::InCluster)?;
        }
        let (kinds, definitions) = setup.within(served(&setup)).await?;
        check_kinds(&workload, &kinds)
            .and_then(|()| check_conversion(&workload, &definitions, &setup.definitions))
            .map_err(CampaignError::Workload)?;
        let rules = Rules::compile(&workload, &kinds).map_err(CampaignError::Workload)?;
        Ok(Self {
            setup,
            workload,
            kinds,
            rules,
        })
    }

    /// Sets the files and folders of definitions, which say what those before them said.
    pub fn set_definitions(&mut self, definitions: Vec<PathBuf>) {
        self.setup.definitions = definitions;
    }

    /// Returns the workload.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// Runs twice without perturbation, side by side.
    ///
    /// # Errors
    ///
    /// A run cannot begin, or the subject does not get through the steps.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the subject's processes are killed.
    pub async fn reference(&self, folder: &Path) -> Result<Reference, CampaignError> {
        let plan = Plan::default();
        let folders = ["reference-1", "reference-2"].map(|name| folder.join(name));
        let first = self.run(&plan, Conditions::Usual, &folders[0]);
        let second = self.run(&plan, Conditions::Other, &folders[1]);
        let (began, taken) = (Instant::now(), processor_time::taken());
        let (first, second) = Box::pin(async { tokio::join!(first, second) }).await;
        let took = began.elapsed().max(Duration::from_millis(1));
        let taken = processor_time::taken().saturating_sub(taken);
        let (first, second) = (first?, second?);
        let mut findings = Vec::new();
        for outcome in [&first, &second] {
            let found = self.found(outcome, &plan, None);
            if let Some(error) = no_reference(outcome, &self.workload, &found) {
                return Err(error);
            }
            findings.extend(found);
        }
        Ok(Reference {
            busy: taken.as_secs_f64() / took.as_secs_f64() / 2.0,
            ..Reference::of([&first, &second], findings)
        })
    }

    /// Runs plans side by side, and tells `watch` of each verdict as it comes. Plans that were not run in time, or until the campaign
    /// was stopped, have none. If a run cannot begin, no other one does, and the failure is beside the verdicts before it.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the subject's processes are killed.
    pub async fn verdicts(
        &self,
        reference: &Reference,
        plans: Vec<Plan>,
        choice: &Choice,
        mut watch: impl FnMut(&Verdict),
    ) -> (Vec<Verdict>, Option<CampaignError>) {
        let deadline = choice.limit.map(|limit| Instant::now() + limit);
        let is_over = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let one = async |(number, plan): &(usize, Plan)| {
            if is_over() {
                return Ok(None);
            }
            let folder = choice.folder.join(format!("{:04}", number + 1));
            let verdict = self.verdict(reference, plan.clone(), &folder).await?;
            Ok(Some(verdict))
        };
        let jobs = self.jobs(reference, choice);
        let plans: Vec<(usize, Plan)> = plans.into_iter().enumerate().collect();
        let mut observe = |verdict: &Result<Option<Verdict>, CampaignError>| {
            if let Ok(Some(verdict)) = verdict {
                watch(verdict);
            }
        };
        let done = if self.setup.subject.is_function() {
            map_in_threads(&plans, jobs, |plan| at_once(one(plan)), observe)
        } else {
            let runs = stream::iter(&plans).map(async |plan| (plan.0, one(plan).await));
            let runs = runs
                .buffer_unordered(jobs)
                .take_until(choice.stop.cancelled());
            let mut runs = std::pin::pin!(runs);
            let mut done = Vec::new();
            while let Some((number, verdict)) = runs.next().await {
                observe(&verdict);
                let has_failed = verdict.is_err();
                done.push((number, verdict));
                if has_failed {
                    break;
                }
            }
            done.sort_by_key(|(number, _)| *number);
            done.into_iter().map(|(_, verdict)| verdict).collect()
        };
        let (mut verdicts, mut failure) = (Vec::new(), None);
        for verdict in done {
            match verdict {
                Ok(verdict) => verdicts.extend(verdict),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        (verdicts, failure)
    }

    /// Returns the number of runs at once: those of a function never wait.
    pub(super) fn jobs(&self, reference: &Reference, choice: &Choice) -> usize {
        if self.setup.subject.is_function() {
            choice.jobs.map_or_else(cores, |jobs| jobs.max(1))
        } else {
            choice.jobs(reference)
        }
    }

    /// Runs one plan.
    ///
    /// # Errors
    ///
    /// The run cannot begin.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the subject's processes are killed.
    pub async fn verdict(
        &self,
        reference: &Reference,
        plan: Plan,
        folder: &Path,
    ) -> Result<Verdict, CampaignError> {
        // Changed fields take several runs, which are compared with each other.
        if plan.family == Family::Generated {
            return Box::pin(self.changed(reference, plan, folder)).await;
        }
        let outcome = self.run(&plan, Conditions::Usual, folder).await?;
        let mut findings = self.found(&outcome, &plan, Some(reference));
        let accepted = reference.accepted.take(&plan, &mut findings);
        let verdict = Verdict {
            is_idle: outcome.not_done.len() == plan.perturbations.len()
                && !plan.perturbations.is_empty(),
            runs: Runs::one(!findings.is_empty()),
            plan,
            trace: outcome.trace,
            took: outcome.took,
            folder: folder.to_owned(),
            findings,
            accepted,
        };
        if verdict.findings.is_empty() && !self.setup.subject.is_function() {
            // It is there for people who look for the cause of a failure.
            let _ = fs::remove_dir_all(folder);
        }
        Ok(verdict)
    }

    /// Drops perturbations as long as the same promise is broken.
    ///
    /// # Errors
    ///
    /// A run cannot begin; the verdict is then the smallest one so far.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the subject's processes are killed.
    pub async fn shrink(
        &self,
        reference: &Reference,
        verdict: &mut Verdict,
    ) -> Result<(), CampaignError> {
        let mut place = 0;
        while verdict.plan.perturbations.len() > 1 && place < verdict.plan.perturbations.len() {
            let mut plan = verdict.plan.clone();
            plan.perturbations.remove(place);
            // A folder of its own: the output of the verdict so far is still to be shown.
            let folder = verdict.folder.with_extension(format!("without-{place}"));
            let smaller = self.verdict(reference, plan, &folder).await?;
            let is_same = |finding: &Finding| {
                let mut findings = verdict.findings.iter();
                findings.any(|other| other.promise == finding.promise)
            };
            if smaller.findings.iter().any(is_same) {
                *verdict = smaller;
            } else {
                place += 1;
            }
        }
        Ok(())
    }

    async fn run(
        &self,
        plan: &Plan,
        conditions: Conditions,
        folder: &Path,
    ) -> Result<Outcome, CampaignError> {
        let task = Task::new(&self.workload, plan, folder);
        self.run_task(Task { conditions, ..task }).await
    }

    /// Returns whether the subject is a function.
    pub(super) fn is_of_function(&self) -> bool {
        self.setup.subject.is_function()
    }

    /// Runs a plan of a function once more, and writes its trace file. Returns the promises that it broke; `None` for a changed field,
    /// which is several runs.
    ///
    /// # Errors
    ///
    /// The run cannot begin, or the file cannot be written.
    pub(super) async fn traced(
        &self,
        reference: Option<&Reference>,
        plan: &Plan,
        file: &Path,
    ) -> Result<Option<Vec<Finding>>, CampaignError> {
        if plan.family == Family::Generated {
            return Ok(None);
        }
        let task = Task::new(&self.workload, plan, Path::new(""));
        let trace = Some(file);
        let outcome = self.run_task(Task { trace, ..task }).await?;
        let mut findings = self.found(&outcome, plan, reference);
        if let Some(reference) = reference {
            reference.accepted.take(plan, &mut findings);
        }
        Ok(Some(findings))
    }

    /// Runs a workload, which may be another one than that of the campaign.
    pub(super) async fn run_task(&self, task: Task<'_>) -> Result<Outcome, CampaignError> {
        if !self.setup.subject.is_function() {
            fs::create_dir_all(task.folder).map_err(|source| CampaignError::Folder {
                path: task.folder.to_owned(),
                source,
            })?;
        }
        let run = execute::run(&self.setup, &self.kinds, task);
        Ok(Box::pin(self.setup.within(run)).await?)
    }

    fn found(&self, outcome: &Outcome, plan: &Plan, reference: Option<&Reference>) -> Vec<Finding> {
        promises::check(&Case {
            outcome,
            plan,
            workload: &self.workload,
            reference,
            rules: &self.rules,
        })
    }
}

/// Fails if a step names an object of a kind that is not served.
fn check_kinds(workload: &Workload, kinds: &ServedKinds) -> Result<(), String> {
    for (place, step) in workload.steps.iter().enumerate() {
        if let Some(object) = step.action.object() {
            let found = kinds.find(object);
            found.map_err(|reason| format!("{}: {reason}", workload.step_named(place)))?;
        }
    }
    Ok(())
}

/// Returns the kinds that the server of a run serves, and the definitions of custom resources.
async fn served(setup: &Setup) -> Result<(ServedKinds, Vec<Value>), RunError> {
    let conditions = Conditions::Usual;
    let server = execute::server(setup, conditions, conditions.clock(&setup.subject))?;
    let kinds = ServedKinds::read(&server.router()).await;
    let definitions = server.objects("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    server.shutdown().await;
    Ok((kinds, definitions.iter().map(|it| it.to_value()).collect()))
}

/// Returns the outcome of runs in this process, which wait on clocks of their own alone.
pub(super) fn at_once<T>(runs: impl Future<Output = T>) -> T {
    let done = runs.now_or_never();
    done.expect("a run in this process goes to its end")
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

impl Choice {
    /// Returns the number of runs at once: eight a processor, since they mostly wait, or fewer of a subject that is busy.
    pub fn jobs(&self, reference: &Reference) -> usize {
        let cores = cores();
        let chosen = self.jobs.map(|jobs| jobs.max(1));
        chosen.unwrap_or_else(|| processor_time::runs(reference.busy, cores, cores * JOBS_PER_CORE))
    }

    /// Returns the plans that are chosen of those of a reference.
    pub fn plans(&self, reference: &Reference, workload: &Workload) -> Vec<Plan> {
        let singles = draw::plans(reference, workload, &self.families);
        let mut chosen = match self.plans {
            Some(count) => draw::sample(singles.clone(), count),
            None => singles.clone(),
        };
        let wanted = self.plans.unwrap_or_default();
        let has_pairs = self.families.contains(&Family::Pairs) || wanted > chosen.len();
        let pair_count = match self.plans {
            Some(count) => count.saturating_sub(chosen.len()),
            None => singles.len(),
        };
        if has_pairs && singles.len() > 1 {
            let seeds = (self.seed..).take(pair_count);
            chosen.extend(seeds.map(|seed| draw::pair(&singles, seed)));
        }
        chosen
    }
}
