//! The route of an informer's connections, and their ends.

use std::{
    future::poll_fn,
    io,
    sync::{
        Arc, Mutex, MutexGuard, Weak,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use axum::Router;
use fakeserver::FakeServer;
use futures::task::AtomicWaker;

/// The present route of an informer's connections. Clones share it.
#[derive(Clone, Debug)]
pub struct Route(Arc<Mutex<RouteState>>);

/// The server that is written to, and that another one may replace. Clones share it.
#[derive(Clone, Debug)]
pub struct Leader(Arc<Mutex<FakeServer>>);

#[derive(Debug)]
struct RouteState {
    /// `None` while connections are refused.
    to: Option<Target>,
    open: Vec<Weak<Connection>>,
}

#[derive(Clone, Debug)]
struct Target {
    router: Router,
    /// The replica that catches up with the leader before it serves the most recent state.
    replica: Option<(FakeServer, Leader)>,
}

/// A request in progress, until its answer has ended.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    is_broken: AtomicBool,
    waker: AtomicWaker,
}

// === impl Route ===

impl Route {
    /// Creates a route to `server`.
    pub fn to(server: &FakeServer) -> Self {
        Self(Arc::new(Mutex::new(RouteState {
            to: Some(Target::of(server)),
            open: Vec::new(),
        })))
    }

    /// Creates a route to the server behind `router`.
    pub fn through(router: Router) -> Self {
        let to = Target {
            router,
            replica: None,
        };
        Self(Arc::new(Mutex::new(RouteState {
            to: Some(to),
            open: Vec::new(),
        })))
    }

    /// Breaks connections, and leads new ones to `server`.
    pub fn lead_to(&self, server: &FakeServer) {
        self.turn(Some(Target::of(server)));
    }

    /// Breaks connections, and leads new ones to `replica`, which follows `leader`.
    pub fn lead_to_replica(&self, replica: &FakeServer, leader: &Leader) {
        self.turn(Some(Target {
            replica: Some((replica.clone(), leader.clone())),
            ..Target::of(replica)
        }));
    }

    /// Breaks connections, and refuses new ones.
    pub fn refuse(&self) {
        self.turn(None);
    }

    /// Begins a request. `wants_latest` is true if its answer has to be the most recent state.
    pub(crate) fn connect(
        &self,
        wants_latest: bool,
    ) -> Result<(Router, Arc<Connection>), io::Error> {
        let mut way = self.lock();
        let to = way.to.clone();
        let to = to.ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionRefused))?;
        let connection = Arc::new(Connection::default());
        way.open.retain(|open| open.strong_count() > 0);
        way.open.push(Arc::downgrade(&connection));
        drop(way);
        if let Some((replica, leader)) = to.replica.filter(|_| wants_latest) {
            replica.follow(&leader.get(), u64::MAX);
        }
        Ok((to.router, connection))
    }

    fn turn(&self, to: Option<Target>) {
        let mut way = self.lock();
        way.to = to;
        let open = std::mem::take(&mut way.open);
        drop(way);
        for connection in open.iter().filter_map(Weak::upgrade) {
            connection.break_off();
        }
    }

    fn lock(&self) -> MutexGuard<'_, RouteState> {
        self.0.lock().expect("no holder panics")
    }
}

// === impl Leader ===

impl Leader {
    /// Creates a handle of `server`.
    pub fn new(server: FakeServer) -> Self {
        Self(Arc::new(Mutex::new(server)))
    }

    /// Replaces the server.
    pub fn set(&self, server: FakeServer) {
        *self.0.lock().expect("no holder panics") = server;
    }

    /// Returns the present server.
    pub fn get(&self) -> FakeServer {
        self.0.lock().expect("no holder panics").clone()
    }
}

// === impl Target ===

impl Target {
    fn of(server: &FakeServer) -> Self {
        Self {
            router: server.router(),
            replica: None,
        }
    }
}

// === impl Connection ===

impl Connection {
    /// Resolves when the connection breaks.
    pub(crate) async fn broken(&self) -> io::Error {
        poll_fn(|cx| self.poll_broken(cx)).await
    }

    pub(crate) fn poll_broken(&self, cx: &Context<'_>) -> Poll<io::Error> {
        self.waker.register(cx.waker());
        if self.is_broken.load(Ordering::Acquire) {
            Poll::Ready(io::ErrorKind::ConnectionReset.into())
        } else {
            Poll::Pending
        }
    }

    fn break_off(&self) {
        self.is_broken.store(true, Ordering::Release);
        self.waker.wake();
    }
}
