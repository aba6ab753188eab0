//! The initial fill: writes all objects of the world, one part at a time.

use std::convert::Infallible;

use fakeserver_server::write::Backend;

use super::{
    LiveCluster, Simulation,
    churn::Machine,
    print::{Mode, Printer},
    prototypes::Prototypes,
    shape,
    world::World,
};

/// The minimum number of writes in one transaction; the last one may have fewer.
const WRITES_PER_TRANSACTION: u32 = 1_000;

/// A part of the world that is written together.
#[derive(Clone, Copy, Debug)]
enum WorldPart {
    Namespace(usize),
    Node(u32),
    Daemon(usize),
    App(usize),
    Cron(usize),
}

// === impl Simulation ===

impl Simulation {
    /// Writes the cluster into an empty store. `progress` hears how many objects are in, and how many there will be.
    pub(super) fn write_all(&self, backend: &Backend, progress: &mut dyn FnMut(usize, usize)) {
        let services = backend.service_range();
        let prototypes = Prototypes::new(&backend.registry(), services);
        let beginning = backend.clock.now();
        let mut world = shape::found(&self.options, backend.entropy.seed(), beginning.as_second());
        world.services = services;
        let count = objects(&world);
        let mut parts = parts(&world).peekable();
        let mut written = 0;
        while parts.peek().is_some() {
            let done: Result<u32, Infallible> = backend.storage.transact(|tx| {
                let mut printer = Printer {
                    tx,
                    prototypes: &prototypes,
                    written: 0,
                };
                while printer.written < WRITES_PER_TRANSACTION
                    && let Some(part) = parts.next()
                {
                    write(&mut printer, &world, part, beginning.as_second());
                }
                Ok(printer.written)
            });
            let Ok(done) = done;
            written += done as usize;
            progress(written, count.max(written));
        }
        drop(parts);
        let churn = self.options.churn.clone();
        let machine = Machine::new(churn, &mut world, beginning.as_millisecond());
        *self.lock() = Some(LiveCluster {
            prototypes,
            world,
            machine,
            beginning,
            ticks: 0,
        });
    }
}

fn parts(world: &World) -> impl Iterator<Item = WorldPart> + use<> {
    let nodes = u32::try_from(world.nodes.len()).unwrap_or(u32::MAX);
    let namespaces = (0..world.namespaces.len()).map(WorldPart::Namespace);
    namespaces
        .chain((0..nodes).map(WorldPart::Node))
        .chain((0..world.daemons.len()).map(WorldPart::Daemon))
        .chain((0..world.apps.len()).map(WorldPart::App))
        .chain((0..world.crons.len()).map(WorldPart::Cron))
}

/// Returns the number of objects of the world.
fn objects(world: &World) -> usize {
    let of_apps = world
        .apps
        .iter()
        .map(|app| 4 + app.sets.len() + app.slices.len());
    3 * world.namespaces.len()
        + 2 * world.nodes.len()
        + world.daemons.len()
        + of_apps.sum::<usize>()
        + world.crons.len()
        + world.jobs.len()
        + world.pods.len()
}

fn write(printer: &mut Printer<'_, '_>, world: &World, part: WorldPart, now: i64) {
    let pods = |printer: &mut Printer<'_, '_>, numbers: &[u32]| {
        for pod in numbers.iter().filter_map(|number| world.pods.get(*number)) {
            printer.pod(world, pod, Mode::Create);
        }
    };
    match part {
        WorldPart::Namespace(number) => printer.namespace(world, number),
        WorldPart::Node(number) => {
            printer.node(world, number, Mode::Create);
            printer.lease(world.node(number), (now, 0), Mode::Create);
        }
        WorldPart::Daemon(number) => {
            printer.daemon_set(world, number, now, Mode::Create);
            pods(printer, &world.daemons[number].pods);
        }
        WorldPart::App(number) => {
            let app = &world.apps[number];
            printer.app_data(world, app);
            printer.deployment(world, app, Mode::Create);
            for set in &app.sets {
                printer.replica_set(world, app, set.revision, Mode::Create);
                pods(printer, &set.pods);
            }
            for slice in 0..app.slices.len() {
                printer.slice(world, app, slice, Mode::Create);
            }
        }
        WorldPart::Cron(number) => {
            let cron = &world.crons[number];
            printer.cron_job(world, cron, Mode::Create);
            for job in cron.jobs.iter().filter_map(|job| world.jobs.get(*job)) {
                printer.job(world, job, Mode::Create);
                pods(printer, &[job.pod]);
            }
        }
    }
}
