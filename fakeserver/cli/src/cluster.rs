//! The simulated cluster, on the command line.

use std::time::Duration;

use clap::Args;
use fakeserver_cluster::simulated::{Churn, ClusterOptions};
use fakeserver_server::FakeServerBuilder;
use jiff::SignedDuration;

use super::controllers::ControllersChoice;

#[derive(Debug, Args)]
#[command(next_help_heading = "Simulated cluster")]
pub(super) struct ClusterArguments {
    /// Begin with so many nodes, and what a cluster of that size has.
    #[arg(long, value_name = "COUNT", conflicts_with = "data", value_parser = clap::value_parser!(u32).range(1..=32_000))]
    nodes: Option<u32>,

    /// Pods on the nodes
    #[arg(long, value_name = "COUNT", requires = "nodes", default_value_t = 0)]
    pods: u32,

    /// Writes to objects a second, on average and altogether: leases and reports of nodes first, then rollouts, jobs,
    /// crashes and their consequences
    #[arg(long, value_name = "WRITES", requires = "nodes", default_value_t = 0)]
    churn: u32,

    /// Interval at which every node renews its lease; or `off`
    #[arg(long, value_name = "DURATION", requires = "nodes", default_value = "10s", value_parser = parse_interval)]
    churn_leases: Interval,

    /// Interval at which every node reports its status; or `off`
    #[arg(long, value_name = "DURATION", requires = "nodes", default_value = "5m", value_parser = parse_interval)]
    churn_node_status: Interval,

    /// Interval at which some node is lost for five minutes; or `off`
    #[arg(long, value_name = "DURATION", requires = "nodes", default_value = "10m", value_parser = parse_interval)]
    churn_node_failures: Interval,

    /// Shares of other activities: a list of `rollouts=`, `scalings=`, `crashes=` and `jobs=`. A share that is left out
    /// keeps its default, 4, 2, 10 or 20
    #[arg(long, value_name = "LIST", requires = "nodes", default_value = "", value_parser = parse_mix)]
    churn_mix: Mix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval(Option<Duration>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mix {
    rollouts: Option<u32>,
    scalings: Option<u32>,
    crashes: Option<u32>,
    jobs: Option<u32>,
}

// === impl ClusterArguments ===

impl ClusterArguments {
    /// Checks that no other controllers run the workloads of the cluster.
    pub(super) fn check(&self, controllers: &ControllersChoice) -> Result<(), String> {
        match self.nodes {
            Some(nodes) if controllers.workloads.is_some() => Err(format!(
                "--nodes {nodes}: a simulated cluster runs its workloads itself; leave out `--nodes` to let \
                 `--controllers workloads` run yours on nodes that you create, or leave out `workloads`"
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn configure(&self, builder: FakeServerBuilder) -> FakeServerBuilder {
        let Some(nodes) = self.nodes else {
            return builder;
        };
        let mut churn = Churn::new(self.churn)
            .with_lease_interval(self.churn_leases.0)
            .with_node_status_interval(self.churn_node_status.0)
            .with_node_failure_interval(self.churn_node_failures.0);
        let Mix {
            rollouts,
            scalings,
            crashes,
            jobs,
        } = self.churn_mix;
        if let Some(share) = rollouts {
            churn = churn.with_rollouts(share);
        }
        if let Some(share) = scalings {
            churn = churn.with_scalings(share);
        }
        if let Some(share) = crashes {
            churn = churn.with_crashes(share);
        }
        if let Some(share) = jobs {
            churn = churn.with_jobs(share);
        }
        builder.with_cluster(ClusterOptions::new(nodes, self.pods).with_churn(churn))
    }
}

fn parse_interval(text: &str) -> Result<Interval, String> {
    if text == "off" {
        return Ok(Interval(None));
    }
    let interval = text
        .parse::<SignedDuration>()
        .map_err(|error| format!("{error}; try `10s` or `off`"))?;
    let interval = Duration::try_from(interval).ok();
    let interval = interval.filter(|interval| !interval.is_zero());
    match interval {
        Some(_) => Ok(Interval(interval)),
        None => Err("an interval is more than nothing; try `10s` or `off`".to_owned()),
    }
}

fn parse_mix(text: &str) -> Result<Mix, String> {
    let mut mix = Mix::default();
    for part in text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (name, share) = part
            .split_once('=')
            .ok_or_else(|| format!("{part:?} has no share; try `rollouts=4,jobs=0`"))?;
        let share: u32 = share
            .parse()
            .map_err(|error| format!("{part:?}: {error}; try `rollouts=4,jobs=0`"))?;
        let field = match name {
            "rollouts" => &mut mix.rollouts,
            "scalings" => &mut mix.scalings,
            "crashes" => &mut mix.crashes,
            "jobs" => &mut mix.jobs,
            _ => {
                return Err(format!(
                    "no {name:?} happen; try `rollouts`, `scalings`, `crashes` or `jobs`"
                ));
            }
        };
        // More of them could not be added up.
        *field = Some(share.min(1_000_000));
    }
    Ok(mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_churn_are_named_one_by_one() {
        let mix = parse_mix("rollouts=1, jobs=0").unwrap();
        assert_eq!(
            (mix.rollouts, mix.jobs, mix.crashes),
            (Some(1), Some(0), None)
        );
        assert_eq!(parse_mix(""), Ok(Mix::default()));
        assert!(parse_mix("rollouts").is_err());
        assert!(parse_mix("storms=1").is_err());
        assert_eq!(parse_interval("off"), Ok(Interval(None)));
        assert!(parse_interval("0s").is_err());
    }
}
