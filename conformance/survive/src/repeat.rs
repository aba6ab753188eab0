//! Further runs of plans that broke a promise.

use std::{fs, path::PathBuf};

use futures::{StreamExt, stream};
use tokio::time::Instant;

use super::{
    campaign::{Campaign, Choice, Verdict},
    error::CampaignError,
    plan::Plan,
    reference::Reference,
    runs::Runs,
};

// === impl Campaign ===

impl Campaign {
    /// Runs the plans that broke a promise again, side by side, and tells `watch` of each plan: once, and a second time if the first
    /// one keeps every promise. Those of a function would be the same to the byte, and are not run again; neither are plans whose
    /// turn comes after `deadline`, or when the campaign is stopped.
    pub(super) async fn repeat(
        &self,
        reference: &Reference,
        verdicts: &mut [Verdict],
        choice: &Choice,
        deadline: Option<Instant>,
        mut watch: impl FnMut(),
    ) -> Option<CampaignError> {
        let failed = verdicts.iter().enumerate();
        let failed = failed.filter(|(_, verdict)| !verdict.findings.is_empty());
        let failed: Vec<(usize, Plan, PathBuf)> = failed
            .map(|(place, it)| (place, it.plan.clone(), it.folder.clone()))
            .collect();
        let runs = stream::iter(failed).map(async |(place, plan, folder)| {
            let runs = self.runs_again(reference, plan, folder, deadline).await;
            (place, runs)
        });
        let runs = runs
            .buffer_unordered(choice.jobs(reference))
            .take_until(choice.stop.cancelled());
        let mut runs = std::pin::pin!(runs);
        while let Some((place, runs)) = runs.next().await {
            watch();
            match runs {
                Ok(runs) => verdicts[place].runs = runs,
                Err(error) => return Some(error),
            }
        }
        None
    }

    async fn runs_again(
        &self,
        reference: &Reference,
        plan: Plan,
        folder: PathBuf,
        deadline: Option<Instant>,
    ) -> Result<Runs, CampaignError> {
        let mut runs = Runs::one(true);
        while runs.is_in_doubt() && deadline.is_none_or(|deadline| Instant::now() < deadline) {
            let folder = folder.with_extension(format!("again-{}", runs.total));
            let again = self.verdict(reference, plan.clone(), &folder).await?;
            runs.count(!again.findings.is_empty());
            // The first one's are shown.
            let _ = fs::remove_dir_all(folder);
        }
        Ok(runs)
    }
}
