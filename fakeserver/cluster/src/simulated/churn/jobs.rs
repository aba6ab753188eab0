//! Cron jobs run: each run creates a job and its pod, and deletes older runs.

use super::{Tick, queue::PodRef};
use crate::simulated::{
    print::Mode,
    prototypes::PodPhase,
    shape::{JOBS_KEPT, add_job},
    world::Owner,
};

// === impl Tick ===

impl Tick<'_, '_, '_> {
    /// Begins a run of a cron job.
    pub(super) fn begin_job(&mut self) {
        let count = self.world.crons.len();
        if count == 0 {
            return;
        }
        let number = self.world.below(count);
        let second = self.second();
        let cron = &mut self.world.crons[number];
        cron.last = second;
        let run = cron.next;
        cron.next += 1;
        let job = add_job(
            self.world,
            u32::try_from(number).unwrap_or_default(),
            run,
            second,
        );
        let Some(own) = self.world.jobs.get(job) else {
            return;
        };
        self.printer.job(self.world, own, Mode::Create);
        self.announce_pod(own.pod);
        self.printer
            .cron_job(self.world, &self.world.crons[number], Mode::Update);
        self.forget_jobs(number);
    }

    /// A pod has done its work, and its job is complete.
    pub(super) fn finish(&mut self, pod: PodRef) {
        if self.phase(pod) == Some(PodPhase::Running) {
            self.complete(pod);
        }
    }

    pub(super) fn complete(&mut self, pod: PodRef) {
        if !self.turn(pod, PodPhase::Succeeded) {
            return;
        }
        let second = self.second();
        if let Some(Owner::Job(number)) = self.owner(pod)
            && let Some(job) = self.world.jobs.get_mut(number)
        {
            job.ended = Some(second);
            if let Some(job) = self.world.jobs.get(number) {
                self.printer.job(self.world, job, Mode::Update);
            }
            self.record_event(pod, ("job-controller", "Completed", "Job completed"));
        }
    }

    /// Deletes the oldest runs beyond those that are kept, as far as they have ended.
    fn forget_jobs(&mut self, cron: usize) {
        while self.world.crons[cron].jobs.len() > JOBS_KEPT {
            let oldest = self.world.crons[cron].jobs.front().copied();
            let Some(number) = oldest else { return };
            let Some(job) = self.world.jobs.get(number) else {
                self.world.crons[cron].jobs.pop_front();
                continue;
            };
            let is_over = match self.world.pods.get(job.pod) {
                Some(pod) => pod.owner != Owner::Job(number) || pod.phase == PodPhase::Succeeded,
                None => true,
            };
            if !is_over {
                return;
            }
            let pod = job.pod;
            if let Some(own) = self.world.pods.get(pod)
                && own.owner == Owner::Job(number)
            {
                self.printer.delete_pod(self.world, own);
                self.world.remove_pod(pod);
            }
            if let Some(job) = self.world.jobs.get(number) {
                self.printer.delete_job(self.world, job);
            }
            self.world.jobs.remove(number);
            self.world.crons[cron].jobs.pop_front();
        }
    }
}
