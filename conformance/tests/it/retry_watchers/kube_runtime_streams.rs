//! Streams for kube-runtime's controllers: what changes, a store of what is there, and what is owned.

use std::collections::BTreeMap;

use fastrand::Rng;
use futures::{FutureExt, Stream, StreamExt};
use informer::{
    ResourceVersion, Scope, SharedInformer,
    kube_runtime_streams::{reflect, touched_objects},
    reflector::ReflectorOptions,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use tokio::time::sleep;

use super::{
    LIMIT, MOMENT, Maps, SEEDS,
    random_changes::{change, small_server},
};

/// Returns all that is there to be read.
fn drain<S: Stream + Unpin>(stream: &mut S) -> Vec<S::Item> {
    let next = || {
        tokio::task::unconstrained(stream.next())
            .now_or_never()
            .flatten()
    };
    std::iter::from_fn(next).collect()
}

fn named(object: &ConfigMap) -> (String, u64) {
    let version = object.resource_version().unwrap();
    (object.name_any(), version.parse().unwrap())
}

/// Checks that each object comes in ever newer states, and notes the last one of each.
fn newest(seed: u64, newest: &mut BTreeMap<String, u64>, objects: Vec<(String, u64)>) {
    for (name, version) in objects {
        let before = newest.insert(name.clone(), version);
        let is_newer = before.is_none_or(|before| before < version);
        assert!(is_newer, "seed {seed}: {name}@{version}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_controller_gets_what_changes_a_store_of_what_is_there_and_what_it_owns_also_when_it_goes()
 {
    for seed in 0..SEEDS / 5 {
        let mut random = Rng::with_seed(seed);
        let server = small_server();
        let builder =
            SharedInformer::builder(Maps::new(server.client(), Scope::Namespace("n".into())));
        let options = ReflectorOptions::default().with_seed(seed);
        let informer = builder.with_options(options).build().unwrap();
        (0..random.u8(0..6)).for_each(|_| change(&server, &mut random));
        let (mut objects, store) = reflect(&informer, ());
        let (mut touched, mut owned) = (
            touched_objects(&informer),
            touched_objects(&informer).owned(),
        );
        informer.start();
        informer.wait_for_cache_sync(LIMIT).await.unwrap();
        assert!(
            store.wait_until_ready().now_or_never().is_none(),
            "seed {seed}"
        );
        let [mut changed, mut newest_touched] = [BTreeMap::new(), BTreeMap::new()];
        for _ in 0..20 {
            (0..random.u8(0..4)).for_each(|_| change(&server, &mut random));
            let version = ResourceVersion::new(server.revision().to_string());
            informer.wait_until(&version, LIMIT).await.unwrap();
            sleep(MOMENT).await;
            if random.bool() {
                continue;
            }
            let came: Vec<_> = drain(&mut objects)
                .into_iter()
                .map(|object| named(&object.unwrap()))
                .collect();
            newest(seed, &mut changed, came);
            let came: Vec<_> = drain(&mut touched)
                .iter()
                .map(|object| named(object))
                .collect();
            let copies = drain(&mut owned)
                .into_iter()
                .map(|object| named(&object.unwrap()));
            assert_eq!(copies.collect::<Vec<_>>(), came, "seed {seed}");
            newest(seed, &mut newest_touched, came);
            let held: BTreeMap<_, _> = store.state().iter().map(|object| named(object)).collect();
            let mut expected = server.objects("", "v1", "configmaps");
            expected.retain(|object| object.namespace() == Some("n"));
            let expected: BTreeMap<_, _> = expected
                .iter()
                .map(|object| (object.name().to_owned(), object.revision()))
                .collect();
            assert_eq!(held, expected, "seed {seed}");
            assert!(
                store.wait_until_ready().now_or_never().is_some(),
                "seed {seed}"
            );
            for (name, version) in &held {
                assert_eq!(changed.get(name), Some(version), "seed {seed}: {name}");
            }
        }
    }
}
