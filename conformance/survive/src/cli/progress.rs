//! The progress of a campaign: a bar on a terminal, and a line now and then elsewhere.

use std::{
    cell::RefCell,
    io::{self, IsTerminal as _},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use support::cli::{progress_bar, say_error};
use tokio::time::{Instant, interval};

use crate::{Progress, Survey, counted};

/// The time after which a line is written anyhow.
const PAUSE: Duration = Duration::from_secs(30);
/// The time after which a bar shows another time.
const TICK: Duration = Duration::from_millis(250);
/// The number of lines for the plans, at least if there are as many.
const STEPS: usize = 10;
const WITHOUT: &str = "runs without perturbation";

/// The displayed progress.
pub(super) struct ProgressDisplay(RefCell<Form>);

enum Form {
    Bar(ProgressBar),
    Lines(Lines),
}

/// The lines that tell of a campaign.
#[derive(Debug)]
struct Lines {
    began: Instant,
    /// The time of the last one.
    reported_at: Instant,
    /// The number of runs then.
    reported: usize,
    done: usize,
    /// `None` while there is no reference.
    all: Option<usize>,
    broken: usize,
}

// === impl ProgressDisplay ===

impl ProgressDisplay {
    /// Begins with the reference.
    pub(super) fn begin() -> Self {
        if io::stderr().is_terminal() {
            let bar = ProgressBar::new_spinner().with_message(WITHOUT);
            let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            return Self(RefCell::new(Form::Bar(bar)));
        }
        let lines = Lines::new(Instant::now());
        print_line(Some(format!("two {WITHOUT}")));
        Self(RefCell::new(Form::Lines(lines)))
    }

    /// Shows that there is a reference, and the number of plans.
    pub(super) fn on_survey(&self, survey: &Survey) {
        match &mut *self.0.borrow_mut() {
            Form::Bar(bar) => {
                bar.finish_and_clear();
                *bar = progress_bar(survey.plans.len(), "plans");
            }
            Form::Lines(lines) => {
                let (writes, plans) = (survey.reference.writes.len(), survey.plans.len());
                print_line(Some(lines.on_reference(writes, plans, Instant::now())));
            }
        }
    }

    /// Shows what was done.
    pub(super) fn on(&self, progress: Progress<'_>) {
        match &mut *self.0.borrow_mut() {
            Form::Bar(bar) => match progress {
                Progress::Judged(verdict) => {
                    if let Some(finding) = verdict.findings.first() {
                        bar.println(format!("{}: {finding}", verdict.plan));
                    }
                    bar.inc(1);
                }
                Progress::Repeats(count) => bar.inc_length(u64::try_from(count).unwrap_or(0)),
                Progress::Repeated => bar.inc(1),
            },
            Form::Lines(lines) => {
                let now = Instant::now();
                print_line(match progress {
                    Progress::Judged(verdict) => lines.on_run(!verdict.findings.is_empty(), now),
                    Progress::Repeats(count) => Some(lines.on_more(count, now)),
                    Progress::Repeated => lines.on_run(false, now),
                });
            }
        }
    }

    /// Shows that time passes until `work` is done.
    pub(super) async fn until_done<T>(&self, work: impl Future<Output = T>) -> T {
        let is_bar = matches!(*self.0.borrow(), Form::Bar(_));
        let mut ticks = interval(if is_bar { TICK } else { PAUSE / 3 });
        let mut work = std::pin::pin!(work);
        loop {
            // What is done counts before what is shown of it.
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = ticks.tick() => match &mut *self.0.borrow_mut() {
                    Form::Bar(bar) => bar.tick(),
                    Form::Lines(lines) => print_line(lines.on_tick(Instant::now())),
                },
            }
        }
    }

    /// Clears what stands on a terminal.
    pub(super) fn end(&self) {
        if let Form::Bar(bar) = &*self.0.borrow() {
            bar.finish_and_clear();
        }
    }
}

// === impl Lines ===

impl Lines {
    fn new(now: Instant) -> Self {
        Self {
            began: now,
            reported_at: now,
            reported: 0,
            done: 0,
            all: None,
            broken: 0,
        }
    }

    /// Returns the line for the reference.
    fn on_reference(&mut self, writes: usize, plans: usize, now: Instant) -> String {
        self.all = Some(plans);
        self.reported_at = now;
        format!(
            "the reference has {} after {}; {} to run",
            counted(writes, "write"),
            self.elapsed(now),
            counted(plans, "plan")
        )
    }

    /// Returns the line for plans that are run again.
    fn on_more(&mut self, count: usize, now: Instant) -> String {
        self.all = self.all.map(|all| all + count);
        self.reported_at = now;
        format!("again: {} that broke a promise", counted(count, "plan"))
    }

    /// Counts a run. Returns a line at each tenth of all.
    fn on_run(&mut self, is_broken: bool, now: Instant) -> Option<String> {
        self.done += 1;
        self.broken += usize::from(is_broken);
        let tenth = |done: usize| done * STEPS / self.all.unwrap_or(1).max(1);
        (tenth(self.done) > tenth(self.reported)).then(|| self.line(now))
    }

    /// Returns a line if there was none for a while.
    fn on_tick(&mut self, now: Instant) -> Option<String> {
        (now - self.reported_at >= PAUSE).then(|| self.line(now))
    }

    fn line(&mut self, now: Instant) -> String {
        (self.reported_at, self.reported) = (now, self.done);
        let elapsed = self.elapsed(now);
        match self.all {
            None => format!("{WITHOUT} since {elapsed}"),
            Some(all) => {
                let (done, broken) = (self.done, self.broken);
                format!("{done} of {all} runs after {elapsed}, {broken} broke a promise")
            }
        }
    }

    fn elapsed(&self, now: Instant) -> String {
        format!("{} s", (now - self.began).as_secs())
    }
}

fn print_line(line: Option<String>) {
    if let Some(line) = line {
        say_error(&format!("survive: {line}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_line_comes_at_each_tenth_and_after_each_pause() {
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        let mut lines = Lines::new(began);
        assert_eq!(lines.on_tick(at(29)), None);
        let line = lines.on_tick(at(30)).unwrap();
        assert_eq!(line, "runs without perturbation since 30 s");
        let line = lines.on_reference(3, 20, at(31));
        assert_eq!(
            line,
            "the reference has 3 writes after 31 s; 20 plans to run"
        );
        assert_eq!(lines.on_run(false, at(32)), None);
        let line = lines.on_run(true, at(33)).unwrap();
        assert_eq!(line, "2 of 20 runs after 33 s, 1 broke a promise");
        assert_eq!(lines.on_tick(at(62)), None);
        assert!(lines.on_tick(at(63)).is_some());
        let line_count = (0..18).filter_map(|_| lines.on_run(false, at(64))).count();
        assert_eq!(line_count, 9);
    }
}
