//! Workloads and what belongs to them.

use fakeserver_kinds::{apps, batch, core, discovery};
use fakeserver_server::store::ObjectKey;

use super::{
    Mode, Printer,
    pods::PodStrings,
    text::{derived, digest, hex, job_name, service_address, text, time, version},
};

use crate::simulated::{
    hole::{Placeholder, Values},
    prototypes::SliceStencil,
    world::{App, Cron, Job, Pod, World},
};

// === impl Printer ===

impl Printer<'_, '_> {
    /// Writes the constant objects of a deployment: its configuration, its password, its service.
    pub(in crate::simulated) fn app_data(&mut self, world: &World, app: &App) {
        let namespace = &world.namespaces[app.namespace as usize].name;
        let created = time(app.created);
        let data = hex(app.uid, 7);
        let address = service_address(world.services.primary().family(), app.number);
        let prototypes = self.prototypes;
        let parts = [
            (
                core::config_map::KIND.storage(),
                "-config",
                &prototypes.config_map,
                derived(app.uid, 1),
            ),
            (
                core::secret::KIND.storage(),
                "-credentials",
                &prototypes.secret,
                derived(app.uid, 2),
            ),
            (
                core::service::KIND.storage(),
                "",
                &prototypes.service,
                app.service,
            ),
        ];
        for (resource, ending, stencil, uid) in parts {
            let (name, uid) = (format!("{}{ending}", app.name), uid.to_string());
            let values = Values::new().with_all([
                (Placeholder::Name, &*name),
                (Placeholder::Namespace, namespace),
                (Placeholder::Uid, &uid),
                (Placeholder::Created, &created),
                (Placeholder::App, &app.name),
                (Placeholder::Data, &data),
                (Placeholder::ClusterIp, &address),
            ]);
            let key = ObjectKey::namespaced(resource.clone(), namespace, &name);
            self.put(&key, stencil, &values, Mode::Create);
        }
    }

    pub(in crate::simulated) fn deployment(
        &mut self,
        world: &World,
        app: &App,
        mode: Mode,
    ) -> bool {
        let namespace = &world.namespaces[app.namespace as usize].name;
        let newest = app.newest();
        let version = version(newest.revision);
        let digest = digest(app, newest.revision);
        let ready = |pods: &[u32]| {
            let pods = pods.iter().filter_map(|pod| world.pods.get(*pod));
            pods.filter(|pod| pod.is_ready()).count()
        };
        let total: usize = app.sets.iter().map(|set| set.pods.len()).sum();
        let is_ready: usize = app.sets.iter().map(|set| ready(&set.pods)).sum();
        let missing = (app.replicas as usize).saturating_sub(is_ready);
        let numbers =
            [total, newest.pods.len(), is_ready, missing].map(|number| number.to_string());
        let (uid, created, changed) = (app.uid.to_string(), time(app.created), time(app.changed));
        let [replicas, revision, generation] =
            [app.replicas, newest.revision, app.generation].map(|number| number.to_string());
        let set_name = format!("{}-{}", app.name, newest.hash);
        let values = Values::new().with_all([
            (Placeholder::Name, &*app.name),
            (Placeholder::Namespace, namespace),
            (Placeholder::Uid, &uid),
            (Placeholder::Created, &created),
            (Placeholder::Ready, &changed),
            (Placeholder::App, &app.name),
            (Placeholder::Owner, &set_name),
            (Placeholder::Version, &version),
            (Placeholder::Digest, &digest),
            (Placeholder::Replicas, &replicas),
            (Placeholder::Revision, &revision),
            (Placeholder::Generation, &generation),
            (Placeholder::Number, &numbers[0]),
            (Placeholder::UpdatedReplicas, &numbers[1]),
            (Placeholder::ReadyReplicas, &numbers[2]),
            (Placeholder::MissingReplicas, &numbers[3]),
        ]);
        let key = ObjectKey::namespaced(
            apps::deployment::KIND.storage().clone(),
            namespace,
            &app.name,
        );
        let stencil = self.prototypes.deployment(app.profile);
        self.put(&key, stencil, &values, mode)
    }

    pub(in crate::simulated) fn replica_set(
        &mut self,
        world: &World,
        app: &App,
        revision: u32,
        mode: Mode,
    ) -> bool {
        let Some(set) = app.set(revision) else {
            return false;
        };
        let namespace = &world.namespaces[app.namespace as usize].name;
        let (uid, owner) = (set.uid.to_string(), app.uid.to_string());
        let (created, changed) = (time(set.created), time(app.changed.max(set.created)));
        let (version, digest) = (version(revision), digest(app, revision));
        let ready = set.pods.iter().filter_map(|pod| world.pods.get(*pod));
        let ready = ready.filter(|pod| pod.is_ready()).count().to_string();
        let pods = set.pods.len().to_string();
        let [wanted, generation, revision, replicas] =
            [set.wanted, set.generation, revision, app.replicas].map(|number| number.to_string());
        let name = format!("{}-{}", app.name, set.hash);
        let values = Values::new().with_all([
            (Placeholder::Name, &*name),
            (Placeholder::Namespace, namespace),
            (Placeholder::Uid, &uid),
            (Placeholder::OwnerUid, &owner),
            (Placeholder::Created, &created),
            (Placeholder::Ready, &changed),
            (Placeholder::App, &app.name),
            (Placeholder::Hash, &set.hash),
            (Placeholder::Version, &version),
            (Placeholder::Digest, &digest),
            (Placeholder::Replicas, &wanted),
            (Placeholder::Revision, &revision),
            (Placeholder::Generation, &generation),
            (Placeholder::Number, &replicas),
            (Placeholder::Pods, &pods),
            (Placeholder::ReadyReplicas, &ready),
        ]);
        let key =
            ObjectKey::namespaced(apps::replica_set::KIND.storage().clone(), namespace, &name);
        let stencil = self.prototypes.replica_set(app.profile);
        self.put(&key, stencil, &values, mode)
    }

    pub(in crate::simulated) fn delete_replica_set(
        &mut self,
        world: &World,
        app: &App,
        hash: &str,
    ) {
        let namespace = &world.namespaces[app.namespace as usize].name;
        let name = format!("{}-{hash}", app.name);
        self.delete(&ObjectKey::namespaced(
            apps::replica_set::KIND.storage().clone(),
            namespace,
            &name,
        ));
    }

    pub(in crate::simulated) fn slice(
        &mut self,
        world: &World,
        app: &App,
        index: usize,
        mode: Mode,
    ) -> bool {
        let Some(slice) = app.slices.get(index) else {
            return false;
        };
        let namespace = &world.namespaces[app.namespace as usize].name;
        let (uid, owner) = (slice.uid.to_string(), app.service.to_string());
        let (created, changed) = (time(app.created), time(app.changed));
        let generation = slice.generation.to_string();
        let name = format!("{}-{}", app.name, text(&slice.suffix));
        let mut list = String::with_capacity(320 * slice.pods.len());
        for number in &slice.pods {
            if let Some(pod) = world.pods.get(*number).filter(|pod| pod.node.is_some()) {
                let strings = PodStrings::of(world, pod);
                let values = strings.values();
                SliceStencil::put_endpoint(&mut list, &values, pod.is_ready());
            }
        }
        list.push_str(if list.is_empty() { "null" } else { "]" });
        let values = Values::new().with_all([
            (Placeholder::Name, &*name),
            (Placeholder::Namespace, namespace),
            (Placeholder::Uid, &uid),
            (Placeholder::OwnerUid, &owner),
            (Placeholder::Created, &created),
            (Placeholder::Ready, &changed),
            (Placeholder::App, &app.name),
            (Placeholder::Generation, &generation),
            (Placeholder::List, &list),
        ]);
        let key = ObjectKey::namespaced(
            discovery::endpoint_slice::KIND.storage().clone(),
            namespace,
            &name,
        );
        self.put(&key, &self.prototypes.slice.slice, &values, mode)
    }

    pub(in crate::simulated) fn delete_slice(&mut self, world: &World, app: &App, suffix: [u8; 5]) {
        let namespace = &world.namespaces[app.namespace as usize].name;
        let name = format!("{}-{}", app.name, text(&suffix));
        self.delete(&ObjectKey::namespaced(
            discovery::endpoint_slice::KIND.storage().clone(),
            namespace,
            &name,
        ));
    }

    pub(in crate::simulated) fn daemon_set(
        &mut self,
        world: &World,
        number: usize,
        now: i64,
        mode: Mode,
    ) -> bool {
        let daemon = &world.daemons[number];
        let namespace = "kube-system";
        let (uid, created, changed) = (daemon.uid.to_string(), time(daemon.created), time(now));
        let ready = daemon.pods.iter().filter_map(|pod| world.pods.get(*pod));
        let ready = ready.filter(|pod| pod.is_ready()).count().to_string();
        let pods = daemon.pods.len().to_string();
        let version = version(1);
        let digest = hex(daemon.uid, 1);
        let values = Values::new().with_all([
            (Placeholder::Name, daemon.name),
            (Placeholder::Namespace, namespace),
            (Placeholder::Uid, &uid),
            (Placeholder::Created, &created),
            (Placeholder::Ready, &changed),
            (Placeholder::App, daemon.name),
            (Placeholder::Version, &version),
            (Placeholder::Digest, &digest),
            (Placeholder::Pods, &pods),
            (Placeholder::ReadyReplicas, &ready),
        ]);
        let key = ObjectKey::namespaced(
            apps::daemon_set::KIND.storage().clone(),
            namespace,
            daemon.name,
        );
        self.put(&key, &self.prototypes.daemon_set, &values, mode)
    }

    pub(in crate::simulated) fn cron_job(
        &mut self,
        world: &World,
        cron: &Cron,
        mode: Mode,
    ) -> bool {
        let namespace = &world.namespaces[cron.namespace as usize].name;
        let (uid, created, last) = (cron.uid.to_string(), time(cron.created), time(cron.last));
        let digest = hex(cron.uid, 1);
        let version = version(1);
        let values = Values::new().with_all([
            (Placeholder::Name, &*cron.name),
            (Placeholder::Namespace, namespace),
            (Placeholder::Uid, &uid),
            (Placeholder::Created, &created),
            (Placeholder::Started, &last),
            (Placeholder::App, &cron.name),
            (Placeholder::Version, &version),
            (Placeholder::Digest, &digest),
        ]);
        let key = ObjectKey::namespaced(
            batch::cron_job::KIND.storage().clone(),
            namespace,
            &cron.name,
        );
        self.put(&key, &self.prototypes.cron_job, &values, mode)
    }

    pub(in crate::simulated) fn job(&mut self, world: &World, job: &Job, mode: Mode) -> bool {
        let cron = &world.crons[job.cron as usize];
        let namespace = &world.namespaces[cron.namespace as usize].name;
        let name = job_name(cron, job);
        let (uid, owner) = (job.uid.to_string(), cron.uid.to_string());
        let (created, ended) = (time(job.created), time(job.ended.unwrap_or_default()));
        let is_ready = world.pods.get(job.pod).is_some_and(Pod::is_ready);
        let digest = hex(cron.uid, 1);
        let version = version(1);
        let values = Values::new().with_all([
            (Placeholder::Name, &*name),
            (Placeholder::Namespace, namespace),
            (Placeholder::Uid, &uid),
            (Placeholder::OwnerUid, &owner),
            (Placeholder::Created, &created),
            (Placeholder::Ended, &ended),
            (Placeholder::App, &cron.name),
            (Placeholder::Version, &version),
            (Placeholder::Digest, &digest),
            (Placeholder::ReadyReplicas, if is_ready { "1" } else { "0" }),
        ]);
        let key = ObjectKey::namespaced(batch::job::KIND.storage().clone(), namespace, &name);
        let stencil = match job.ended {
            None => &self.prototypes.running_job,
            Some(_) => &self.prototypes.finished_job,
        };
        self.put(&key, stencil, &values, mode)
    }

    pub(in crate::simulated) fn delete_job(&mut self, world: &World, job: &Job) {
        let cron = &world.crons[job.cron as usize];
        let namespace = &world.namespaces[cron.namespace as usize].name;
        let name = job_name(cron, job);
        self.delete(&ObjectKey::namespaced(
            batch::job::KIND.storage().clone(),
            namespace,
            &name,
        ));
    }
}
