//! A real server, with a proxy in front of it that makes the faults.

use std::collections::BTreeMap;

use axum::Router;
use fakeserver::faults::Faults as Rules;
use kube::Config;

use super::{LiveError, chronicle::Chronicle, ground};
use crate::{
    faults::FaultInjector,
    plan::{Resource, Selection},
    proxy::Proxy,
    sim::Plan,
    sim::servers::Servers,
    trace::{Change, Member, Recorder},
    transport::Route,
    workload::Workload,
};

/// A real server: `router` reaches it without faults, `proxy` with them, and `chronicle` follows its changes.
pub(super) struct RealServers {
    router: Router,
    proxy: Proxy,
    chronicle: Chronicle,
}

/// Returns the way to the server that no fault is on.
pub(super) fn undisturbed(config: &Config) -> Result<Router, LiveError> {
    Ok(Proxy::new(config.clone())?.router())
}

// === impl RealServers ===

impl RealServers {
    /// Prepares the server for a run and begins to follow its changes.
    pub(super) async fn open(config: &Config) -> Result<Self, LiveError> {
        let router = undisturbed(config)?;
        ground::prepare(&router).await?;
        Ok(Self {
            chronicle: Chronicle::open(&router).await?,
            proxy: Proxy::new(config.clone())?,
            router,
        })
    }
}

impl Servers for RealServers {
    type Error = LiveError;

    fn router(&self) -> Router {
        self.router.clone()
    }

    fn rules(&self) -> Rules {
        self.proxy.faults().clone()
    }

    fn open_route(&mut self) -> Route {
        Route::through(self.proxy.router())
    }

    fn faults(&self, plan: &Plan, clients: Vec<String>, recorder: Recorder) -> FaultInjector {
        FaultInjector::of_proxy(&self.proxy, plan.seed, clients, recorder)
    }

    async fn begin_incident(
        &mut self,
        plan: &Plan,
        place: usize,
        _: &mut Workload,
        _: &mut FaultInjector,
    ) -> Result<(), LiveError> {
        Err(LiveError::Incident {
            name: plan.incidents[place].kind.name(),
        })
    }

    fn has_come_to(&self, last: &BTreeMap<Resource, u64>) -> bool {
        let mut last = last.iter();
        last.all(|(resource, at)| self.chronicle.has_come_to(*resource, *at))
    }

    fn members(&self, selection: &Selection) -> Vec<Member> {
        self.chronicle.members(selection)
    }

    fn changes(&self, resource: Resource) -> Result<Vec<Change>, LiveError> {
        self.chronicle.changes(resource)
    }
}
