//! A whole campaign: the reference, the plans that are chosen of it, their verdicts, and the smaller ones of those that fail.

use std::collections::BTreeMap;

use support::seed::Seed;
use tokio::time::Instant;

use super::{
    acceptance::AcceptanceList,
    campaign::{Campaign, Choice, Verdict},
    error::CampaignError,
    origin::{Origin, PlanList},
    plan::Plan,
    reference::Reference,
    report::Report,
};

/// The reference, and the plans that are chosen of it.
#[derive(Debug)]
pub struct Survey {
    /// The reference.
    pub reference: Reference,
    /// The plans.
    pub plans: Vec<Plan>,
    origin: Origin,
    began: Instant,
}

/// The progress of a campaign.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A plan was run.
    Judged(&'a Verdict),
    /// So many plans that broke a promise are run again.
    Repeats(usize),
    /// One of them was.
    Repeated,
}

// === impl Campaign ===

impl Campaign {
    /// Runs the reference and chooses plans, `changes` of which change a field.
    ///
    /// # Errors
    ///
    /// A run cannot begin, the subject does not get through the steps, or no field can be changed.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the subject's processes are killed.
    pub async fn survey(
        &self,
        choice: &Choice,
        accepted: &AcceptanceList,
        changes: usize,
    ) -> Result<Survey, CampaignError> {
        let (origin, began) = (Origin::of(&self.setup.subject, choice), Instant::now());
        let mut reference = self.reference(&choice.folder).await?;
        reference.accept(accepted);
        let mut plans = choice.plans(&reference, self.workload());
        if changes > 0 {
            plans.extend(self.changes(changes, Seed::new(choice.seed)).await?);
        }
        let all_plans = PlanList::of(&plans);
        // By the text: the references of partitions may differ, and none of their plans is run twice.
        plans.retain(|plan| choice.partition.has(&plan.to_string()));
        let origin = Origin {
            all_plans,
            jobs: self.jobs(&reference, choice),
            ..origin
        };
        Ok(Survey {
            reference,
            plans,
            origin,
            began,
        })
    }

    /// Runs the plans, makes those that fail smaller, and runs them again; tells `watch` of what is done.
    /// If a run cannot begin, the report tells of those before.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the subject's processes are killed.
    pub async fn judge(
        &self,
        survey: Survey,
        choice: &Choice,
        mut watch: impl FnMut(Progress<'_>),
    ) -> Report {
        let Survey {
            reference,
            plans,
            mut origin,
            began,
        } = survey;
        let planned_count = plans.len();
        let deadline = choice.limit.map(|limit| Instant::now() + limit);
        let mut verdicts = Vec::new();
        let judged = |verdict: &Verdict| watch(Progress::Judged(verdict));
        let (all, mut failure) = self.verdicts(&reference, plans, choice, judged).await;
        for mut verdict in all {
            let is_large = verdict.plan.perturbations.len() > 1;
            let is_over = choice.stop.is_cancelled() || failure.is_some();
            if !verdict.findings.is_empty() && is_large && !is_over {
                failure = self.shrink(&reference, &mut verdict).await.err();
            }
            verdicts.push(verdict);
        }
        let failed = verdicts.iter().filter(|it| !it.findings.is_empty()).count();
        if failed > 0 && failure.is_none() && !self.is_of_function() {
            watch(Progress::Repeats(failed));
            let watch = || watch(Progress::Repeated);
            let repeat = self.repeat(&reference, &mut verdicts, choice, deadline, watch);
            failure = repeat.await;
        }
        origin.seconds = began.elapsed().as_secs_f64();
        Report {
            origin,
            reference,
            interrupted: choice.stop.is_cancelled() && verdicts.len() < planned_count,
            verdicts,
            planned_count,
            failure,
            replays: BTreeMap::new(),
            traces: BTreeMap::new(),
            reference_trace: None,
        }
    }
}
