//! The factory of a run, and the informers that were requested of it.

use std::time::Duration;

use informer::{factory::SharedInformerFactory, reflector::ReflectorOptions};
use tokio::{
    task::yield_now,
    time::{Instant, sleep, timeout},
};

use super::{
    FactoryActKind, FactoryEvent, FactoryPlan,
    view::{AnyView, view},
};
use crate::{
    participants::participant::{End, Host, Run},
    task::TaskSet,
    trace::{Member, Recorder},
    transport::ClientLine,
};

/// The name of its client.
pub(super) const CLIENT: &str = "factory";
/// The time limit of each act. None of them waits for the server.
const ACT_LIMIT: Duration = Duration::from_mins(1);
/// The yields after a start, in which tasks that it should not stop would end.
const START_YIELD_COUNT: usize = 8;
/// The interval of comparisons of caches with the server at the end.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// The time for handlers to be notified of what is in the cache.
const SETTLE: Duration = Duration::from_millis(20);

/// The factory of a run, and the informers that were requested of it.
pub(crate) struct Factory {
    plan: FactoryPlan,
    line: ClientLine,
    seed: u64,
    recorder: Recorder,
    shared: SharedInformerFactory,
    views: Vec<Box<dyn AnyView>>,
    is_running: bool,
    start_count: usize,
    handler_count: usize,
    /// Waits for the sync of all informers.
    waits: TaskSet,
}

// === impl Factory ===

impl Run<FactoryPlan> for Factory {
    async fn act(&mut self, place: usize) {
        let kind = self.plan.acts[place].kind;
        let limited = timeout(ACT_LIMIT, self.perform(kind)).await;
        if limited.is_err() {
            let text = format!("{kind:?} does not end");
            self.record(FactoryEvent::Differs { text });
        }
    }

    /// Records the caches.
    fn observe(&self) {
        for view in &self.views {
            view.observe();
        }
    }

    /// Starts it, unless it is running.
    async fn recover(&mut self) {
        if !self.is_running {
            self.start().await;
        }
    }

    /// Waits until the caches are equal to the server, and records them.
    async fn settle(&mut self, end: &End<'_>) {
        let views = self.plan.views.iter();
        let wanted: Vec<Vec<Member>> = views
            .map(|view| {
                let mut members = (end.members)(&view.selection);
                members.sort_by(|one, other| one.key.cmp(&other.key));
                members
            })
            .collect();
        let until = Instant::now() + end.limit;
        let are_equal = |views: &[Box<dyn AnyView>]| {
            let mut pairs = views.iter().zip(&wanted);
            pairs.all(|(view, wanted)| view.is_equal(wanted))
        };
        while !are_equal(&self.views) && Instant::now() < until {
            sleep(POLL_INTERVAL).await;
        }
        sleep(SETTLE).await;
        self.observe();
        for (view, members) in wanted.into_iter().enumerate() {
            self.record(FactoryEvent::Wanted { view, members });
        }
    }

    fn watch_count(&self) -> usize {
        self.shared.informer_count()
    }

    async fn shut_down(&mut self) {
        if timeout(ACT_LIMIT, self.stop()).await.is_err() {
            let text = "the last shutdown does not end".to_owned();
            self.record(FactoryEvent::Differs { text });
        }
        self.views.clear();
        self.waits.shutdown().await;
        self.shared = SharedInformerFactory::new(self.line.client());
    }
}

impl Factory {
    pub(super) fn new(plan: &FactoryPlan, host: &mut Host<'_>) -> Self {
        let (route, recorder) = ((host.open_route)(), host.recorder.clone());
        let yields = host.yields(CLIENT);
        let line = ClientLine::new(
            CLIENT,
            route,
            yields,
            recorder.clone(),
            |request, crossing| FactoryEvent::of_exchange(request, &crossing).into(),
        );
        let mut factory = Self {
            shared: SharedInformerFactory::new(line.client()),
            plan: plan.clone(),
            line,
            seed: host.seed.get(),
            recorder,
            views: Vec::new(),
            is_running: false,
            start_count: 0,
            handler_count: 0,
            waits: TaskSet::new(),
        };
        factory.make();
        factory
    }

    async fn perform(&mut self, kind: FactoryActKind) {
        match kind {
            FactoryActKind::Start => self.start().await,
            FactoryActKind::Stop => self.stop().await,
            FactoryActKind::Restart(yields) => self.restart(yields).await,
            FactoryActKind::Renew => self.renew().await,
            FactoryActKind::Request(view) => self.request(view),
            FactoryActKind::Join(view) => self.join(view),
            FactoryActKind::Leave(view) => self.leave(view, false).await,
            FactoryActKind::Remove(view) => self.leave(view, true).await,
            FactoryActKind::Release(view) => self.release(view).await,
        }
    }

    /// Makes the views of a new factory.
    fn make(&mut self) {
        self.record(FactoryEvent::Made);
        let mut options = ReflectorOptions::default();
        options.page_size = Some(self.plan.page_size);
        options.streaming_lists = self.plan.streaming_lists;
        options.seed = Some(self.seed);
        let factory = self.shared.clone().with_options(options);
        let views = self.plan.views.iter().enumerate();
        self.views = views
            .map(|(place, plan)| view(place, plan, &factory, &self.recorder))
            .collect();
    }

    async fn start(&mut self) {
        self.begin();
        for _ in 0..START_YIELD_COUNT {
            yield_now().await;
        }
        self.record(FactoryEvent::Started);
    }

    /// Starts it, and begins to wait for its sync.
    fn begin(&mut self) {
        self.record(FactoryEvent::Starts);
        self.shared.start();
        self.is_running = true;
        self.start_count += 1;
        let (factory, recorder, start) =
            (self.shared.clone(), self.recorder.clone(), self.start_count);
        self.waits.spawn(async move {
            let waited = factory.wait_for_cache_sync(Duration::MAX).await;
            recorder.record(FactoryEvent::SyncWaitEnds {
                start,
                has_synced: waited.is_ok(),
            });
        });
    }

    async fn stop(&mut self) {
        self.record(FactoryEvent::Stops);
        self.is_running = false;
        self.shared.shutdown().await;
        let task_count = self.views.iter().map(|view| view.task_count()).sum();
        self.record(FactoryEvent::Stopped { task_count });
        self.observe();
    }

    /// Starts it after some yields since a shutdown began.
    async fn restart(&mut self, yields: u8) {
        self.record(FactoryEvent::Stops);
        let factory = self.shared.clone();
        let begin = async {
            for _ in 0..yields {
                yield_now().await;
            }
            self.begin();
        };
        // `biased`, so that the shutdown begins first in each run of the plan.
        tokio::join!(biased; factory.shutdown(), begin);
    }

    async fn renew(&mut self) {
        let was_running = self.is_running;
        self.stop().await;
        // Before the views are dropped: the new factory is asked for the same.
        let before: Vec<Option<usize>> =
            self.views.iter().map(|view| view.handler_count()).collect();
        self.views.clear();
        self.shared = SharedInformerFactory::new(self.line.client());
        self.make();
        for (view, handler_count) in before.into_iter().enumerate() {
            if let Some(handler_count) = handler_count {
                self.request(view);
                for _ in 0..handler_count {
                    self.join(view);
                }
            }
        }
        if was_running {
            self.start().await;
        }
    }

    fn request(&mut self, view: usize) {
        if let Some(own) = self.views.get_mut(view) {
            let (list, transforms) = own.request();
            let informer_count = self.shared.informer_count();
            self.record(FactoryEvent::Requested {
                view,
                list,
                transforms,
                informer_count,
            });
        }
    }

    fn join(&mut self, view: usize) {
        let handler = self.handler_count;
        if let Some(own) = self
            .views
            .get_mut(view)
            .filter(|view| view.handler_count().is_some())
        {
            self.handler_count += 1;
            own.join(handler);
        }
    }

    async fn leave(&mut self, view: usize, is_awaited: bool) {
        if let Some(view) = self.views.get_mut(view) {
            view.leave(is_awaited).await;
        }
    }

    /// Drops the handles of a view, and with them those of views that share its informer.
    async fn release(&mut self, view: usize) {
        if let Some(own) = self.views.get_mut(view) {
            self.recorder.record(FactoryEvent::Releases { view });
            own.release();
            let count = self.shared.release_unused().await;
            self.record(FactoryEvent::Released {
                count,
                informer_count: self.shared.informer_count(),
            });
        }
    }

    fn record(&self, event: FactoryEvent) {
        self.recorder.record(event);
    }
}
