//! From names as people type them to resources of the fake server.

use std::time::Duration;

use fakeserver::FakeServer;
use informer::{
    discovery::{CachedDiscovery, DiscoveryClient, DiscoveryOptions, GroupKind},
    factory::SharedInformerFactory,
    rest_mapper::{ResolveWarning, RestMapper},
};
use k8s_openapi::{api::core::v1::Pod, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{Api, api::PostParams};
use serde_json::Value;
use tokio::time::sleep;

use crate::support::Front;

const LIMIT: Duration = Duration::from_mins(1);

/// Returns mappers over both forms of discovery, in which the same must hold.
fn fronts() -> [(Front, RestMapper); 2] {
    let plain = DiscoveryOptions::default().with_plain_discovery();
    [DiscoveryOptions::default(), plain].map(|options| {
        let front = Front::new(&FakeServer::builder().build());
        let client = DiscoveryClient::new(front.client()).with_options(options);
        let mapper = RestMapper::from_discovery(CachedDiscovery::new(client));
        (front, mapper)
    })
}

async fn resolve(mapper: &RestMapper, name: &str) -> String {
    match mapper.resource_for(name).await {
        Ok(mapping) => mapping.resource.to_string(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_typed_name_becomes_resource_kind_and_scope() {
    for (_, mapper) in fronts() {
        let check = async |name: &str, resource: &str, kind: &str, is_namespaced: bool| {
            let mapping = mapper.resource_for(name).await.unwrap();
            assert_eq!(mapping.resource.to_string(), resource, "{name}");
            assert_eq!(mapping.kind.to_string(), kind, "{name}");
            assert_eq!(mapping.is_namespaced(), is_namespaced, "{name}");
        };
        for name in ["pods", "pod", "po", "Pod", "POD", "pods.v1."] {
            check(name, "pods.v1.", "Pod.v1.", true).await;
        }
        for name in [
            "deployments",
            "deploy",
            "deployments.apps",
            "deployment.apps",
            "deploy.apps",
            "Deployment.v1.apps",
            "deployments.v1.apps",
        ] {
            check(name, "deployments.v1.apps", "Deployment.v1.apps", true).await;
        }
        check("no", "nodes.v1.", "Node.v1.", false).await;
        check("ns", "namespaces.v1.", "Namespace.v1.", false).await;
        check("endpoints", "endpoints.v1.", "Endpoints.v1.", true).await;
        let storage_class = "StorageClass.v1.storage.k8s.io";
        let storage_classes = "storageclasses.v1.storage.k8s.io";
        for name in ["sc", "storageclasses.storage", "StorageClass"] {
            check(name, storage_classes, storage_class, false).await;
        }
        assert_eq!(mapper.singular_of("netpol").await.unwrap(), "networkpolicy");
        let all = mapper.category("all").await.unwrap();
        assert!(all.iter().any(|it| it.to_string() == "deployments.apps"));
    }
}

#[tokio::test(start_paused = true)]
async fn the_servers_order_and_its_preferred_versions_decide() {
    for (_, mapper) in fronts() {
        // The core group comes first, although another group has the name too.
        assert_eq!(resolve(&mapper, "events").await, "events.v1.");
        assert_eq!(
            resolve(&mapper, "events.events.k8s.io").await,
            "events.v1.events.k8s.io"
        );
        let all = mapper.resources_for("events").await.unwrap();
        let all: Vec<_> = all.iter().map(|it| it.resource.to_string()).collect();
        assert_eq!(all, ["events.v1.", "events.v1.events.k8s.io"]);
        // A short name of two resources is the first one's, with a warning.
        let resolved = mapper.resolve("ev").await.unwrap();
        assert_eq!(resolved.mapping.resource.to_string(), "events.v1.");
        assert!(matches!(
            &resolved.warnings[..],
            [ResolveWarning::AlsoMatches { name, resource }]
                if name == "ev" && resource.to_string() == "events.events.k8s.io"
        ));
        // The preferred version, and another one if it is named.
        assert_eq!(
            resolve(&mapper, "hpa").await,
            "horizontalpodautoscalers.v2.autoscaling"
        );
        assert_eq!(
            resolve(&mapper, "hpa.v1.autoscaling").await,
            "horizontalpodautoscalers.v1.autoscaling"
        );
        let kind = GroupKind::new("autoscaling", "HorizontalPodAutoscaler");
        let mapping = mapper.rest_mapping(&kind, &["v9", "v1"]).await.unwrap();
        assert_eq!(mapping.resource.version, "v1");
        let versions = mapper.rest_mappings(&kind, &[]).await.unwrap();
        let versions: Vec<_> = versions.iter().map(|it| &*it.resource.version).collect();
        assert_eq!(versions, ["v2", "v1"]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_unserved_name_is_no_match_and_has_suggestions() {
    for (_, mapper) in fronts() {
        let check = async |name: &str, expected: &str| {
            let error = mapper.resource_for(name).await.unwrap_err();
            assert!(error.is_no_match() && !error.is_retryable(), "{error}");
            assert_eq!(error.to_string(), expected);
        };
        check(
            "deploymnets",
            "the server has no resource \"deploymnets\"; did you mean deployments.v1.apps?",
        )
        .await;
        check(
            "pods.apps",
            "the server has no resource \"pods.apps\"; did you mean pods.v1.?",
        )
        .await;
        check(
            "gizmos",
            "the server has no resource \"gizmos\"; check the name, or install what defines it",
        )
        .await;
        let kind = GroupKind::new("apps", "Pod");
        let error = mapper.rest_mapping(&kind, &["v1"]).await.unwrap_err();
        assert!(error.is_no_match());
        assert_eq!(
            error.to_string(),
            "the server has no kind \"Pod.apps\" in version v1; did you mean Pod.v1.?"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_of_two_resources_in_one_version_is_ambiguous() {
    let [_, (front, mapper)] = fronts();
    front.edit("/api/v1", |document| {
        let resources = document["resources"].as_array_mut().unwrap();
        let secrets = |resource: &&mut Value| resource["name"] == "secrets";
        resources.iter_mut().find(secrets).unwrap()["singularName"] = "pods".into();
    });
    let error = mapper.resource_for("pods").await.unwrap_err();
    assert!(error.is_ambiguous() && !error.is_no_match());
    assert_eq!(
        error.to_string(),
        "\"pods\" may be any of pods.v1., secrets.v1.; ask by one of these names"
    );
    assert_eq!(resolve(&mapper, "po").await, "pods.v1.");
    assert_eq!(resolve(&mapper, "Secret").await, "secrets.v1.");
}

#[tokio::test(start_paused = true)]
async fn a_miss_reads_what_may_have_the_name_again() {
    for (front, mapper) in fronts() {
        front.hide_group("apps");
        let error = mapper.resource_for("deployments.apps").await.unwrap_err();
        assert!(error.is_no_match(), "{error}");
        front.heal();
        sleep(Duration::from_secs(10)).await;
        front.take_seen();
        // Its group is named, so that nothing else is read.
        assert_eq!(
            resolve(&mapper, "deployments.apps").await,
            "deployments.v1.apps"
        );
        assert_eq!(front.take_seen(), ["/apis/apps", "/apis/apps/v1"]);
        assert_eq!(resolve(&mapper, "deploy").await, "deployments.v1.apps");
        assert!(front.take_seen().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn resources_of_a_failed_group_are_unknown() {
    for (front, mapper) in fronts() {
        front.fail_version("apps", "v1");
        for name in ["deploy", "deployments.apps", "gizmos"] {
            let error = mapper.resource_for(name).await.unwrap_err();
            assert!(error.is_unknown() && error.is_retryable(), "{error}");
            assert!(!error.is_no_match());
            let reason = "apps/v1: the server answered 503: told by the test";
            assert!(error.to_string().contains(reason), "{error}");
        }
        // What comes before it is certain; what comes after it may be in it as well.
        let pods = mapper.resolve("pods").await.unwrap();
        assert!(pods.warnings.is_empty(), "{:?}", pods.warnings);
        let jobs = mapper.resolve("jobs").await.unwrap();
        assert!(matches!(
            jobs.warnings[..],
            [ResolveWarning::Undiscovered(_)]
        ));
        front.heal();
        sleep(Duration::from_secs(2)).await;
        assert_eq!(resolve(&mapper, "deploy").await, "deployments.v1.apps");
    }
}

#[tokio::test(start_paused = true)]
async fn a_short_name_becomes_a_running_informer() {
    for (front, mapper) in fronts() {
        let pods: Api<Pod> = Api::namespaced(front.client(), "default");
        let pod: Pod = serde_json::from_value(serde_json::json!({
            "metadata": {"name": "a"},
            "spec": {"containers": [{"name": "main", "image": "nginx"}]},
        }))
        .unwrap();
        pods.create(&PostParams::default(), &pod).await.unwrap();
        let factory = SharedInformerFactory::new(front.client()).with_rest_mapper(mapper);
        factory.start();
        let informer = factory.for_resource_name("po").await.unwrap();
        informer.wait_for_cache_sync(LIMIT).await.unwrap();
        let lister = informer.lister().namespaced("default").unwrap();
        assert_eq!(lister.get("a").unwrap().key().to_string(), "default/a");
        let metadata = ObjectMeta {
            name: Some("b".into()),
            ..pod.metadata.clone()
        };
        let other = Pod { metadata, ..pod };
        pods.create(&PostParams::default(), &other).await.unwrap();
        sleep(Duration::from_secs(1)).await;
        assert!(lister.get("b").is_ok());

        // What is not known makes no informer.
        front.fail_version("apps", "v1");
        sleep(Duration::from_mins(11)).await;
        let error = factory.for_resource_name("deploy").await.unwrap_err();
        assert!(error.is_unknown(), "{error}");
        assert_eq!(factory.informer_count(), 1);
        factory.shutdown().await;
    }
}
