//! Questions to a scripted server, on the paused clock.

use std::{sync::Arc, time::Duration};

use tokio::time::{sleep, timeout};

use crate::{
    discovery::{
        CachedDiscovery, DiscoveryClient, DiscoveryOptions, GroupKind, ServerResources,
        tests::server::{Reply, ScriptedServer},
    },
    rest_mapper::{PartialResource, Preference, RestMapper},
};

use super::{ServerGroup, group, group_of};

fn core() -> ServerGroup {
    group("", &["v1"], &[("pods", "Pod")])
}

fn foos() -> ServerGroup {
    group("stable.a.io", &["v1"], &[("foos", "Foo")])
}

/// Both forms of discovery: what holds must hold in either.
fn servers(groups: &[ServerGroup]) -> [(ScriptedServer, RestMapper); 2] {
    [
        ScriptedServer::of(groups.to_vec()),
        ScriptedServer::aggregated_of(groups.to_vec()),
    ]
    .map(|server| {
        let mapper = RestMapper::new(server.client());
        (server, mapper)
    })
}

/// Installs groups in either form.
fn install(server: &ScriptedServer, groups: &[ServerGroup]) {
    server.serve(groups.to_vec());
    if server.is_aggregated() {
        server.serve_aggregated(&ServerResources::new(groups.to_vec()));
    }
}

async fn resolve(mapper: &RestMapper, name: &str) -> String {
    match mapper.resource_for(name).await {
        Ok(mapping) => mapping.resource.to_string(),
        Err(error) => error.to_string(),
    }
}

const NOTHING: [&str; 0] = [];

#[tokio::test(start_paused = true)]
async fn a_recorded_server_answers_what_people_type() {
    let server = ScriptedServer::default();
    let recorded = |file: &str| {
        let file = format!("{}/tests/data/discovery/{file}", env!("CARGO_MANIFEST_DIR"));
        Reply::Json(std::fs::read_to_string(file).unwrap())
    };
    server.set_aggregated("/api", recorded("aggregated-api.json"));
    server.set_aggregated("/apis", recorded("aggregated-apis.json"));
    let mapper = RestMapper::new(server.client());
    for (name, expected) in [
        ("po", "pods.v1."),
        ("pods", "pods.v1."),
        ("pod", "pods.v1."),
        ("Pod", "pods.v1."),
        ("pods.v1.", "pods.v1."),
        ("deployments.apps", "deployments.v1.apps"),
        ("Deployment.v1.apps", "deployments.v1.apps"),
        ("deploy", "deployments.v1.apps"),
        ("events", "events.v1."),
        ("ev", "events.v1."),
        ("events.events.k8s.io", "events.v1.events.k8s.io"),
        ("hpa", "horizontalpodautoscalers.v2.autoscaling"),
        (
            "hpa.v1.autoscaling",
            "horizontalpodautoscalers.v1.autoscaling",
        ),
        ("ing", "ingresses.v1.networking.k8s.io"),
        ("netpol", "networkpolicies.v1.networking.k8s.io"),
        ("crd", "customresourcedefinitions.v1.apiextensions.k8s.io"),
        ("sa", "serviceaccounts.v1."),
        ("svc", "services.v1."),
        ("ep", "endpoints.v1."),
        ("endpoints", "endpoints.v1."),
        ("endpointslice", "endpointslices.v1.discovery.k8s.io"),
        ("leases", "leases.v1.coordination.k8s.io"),
        ("sc", "storageclasses.v1.storage.k8s.io"),
        ("storageclasses.storage", "storageclasses.v1.storage.k8s.io"),
        ("cs", "componentstatuses.v1."),
        ("roles.rbac", "roles.v1.rbac.authorization.k8s.io"),
    ] {
        assert_eq!(resolve(&mapper, name).await, expected, "{name}");
    }
    let nodes = mapper.resource_for("no").await.unwrap();
    assert!(!nodes.is_namespaced());
    assert_eq!(mapper.singular_of("ingresses").await.unwrap(), "ingress");
    let all = mapper.category("all").await.unwrap();
    let all: Vec<_> = all.iter().map(ToString::to_string).collect();
    for name in ["pods", "services", "deployments.apps", "cronjobs.batch"] {
        assert!(all.iter().any(|it| it == name), "{name} in {all:?}");
    }
    server.take_requests();
    let error = mapper.resource_for("deploymnets").await.unwrap_err();
    assert!(error.is_no_match());
    assert!(
        error
            .to_string()
            .contains("did you mean deployments.v1.apps?"),
        "{error}"
    );
    assert_eq!(
        server.take_requests(),
        NOTHING,
        "everything has just been read"
    );
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_appears_is_found_without_a_reset() {
    for (server, mapper) in servers(&[core()]) {
        assert!(mapper.resource_for("foos").await.unwrap_err().is_no_match());
        install(&server, &[core(), foos()]);
        assert!(mapper.resource_for("foos").await.unwrap_err().is_no_match());
        sleep(Duration::from_secs(10)).await;
        assert_eq!(resolve(&mapper, "foos").await, "foos.v1.stable.a.io");
        server.take_requests();
        assert_eq!(resolve(&mapper, "foos").await, "foos.v1.stable.a.io");
        assert_eq!(server.take_requests(), NOTHING);
    }
}

#[tokio::test(start_paused = true)]
async fn one_miss_is_one_refresh_until_its_time_is_over() {
    let (server, mapper) = servers(&[core()]).into_iter().nth(1).unwrap();
    assert_eq!(resolve(&mapper, "pods").await, "pods.v1.");
    assert_eq!(server.take_requests().len(), 2);
    for _ in 0..3 {
        sleep(Duration::from_secs(10)).await;
        for _ in 0..5 {
            assert!(mapper.resource_for("foos").await.is_err());
            assert_eq!(resolve(&mapper, "pods").await, "pods.v1.");
        }
        assert_eq!(server.take_requests().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_named_group_is_read_before_everything() {
    for (server, mapper) in servers(&[core()]) {
        assert_eq!(resolve(&mapper, "pods").await, "pods.v1.");
        sleep(Duration::from_secs(10)).await;
        server.take_requests();
        server.serve_group(&foos());
        let group = ["/apis/stable.a.io", "/apis/stable.a.io/v1"];
        assert_eq!(
            resolve(&mapper, "foos.stable.a.io").await,
            "foos.v1.stable.a.io"
        );
        assert_eq!(server.take_requests(), group);
        // Also for a version and a kind.
        mapper.discovery().invalidate_group("stable.a.io");
        assert_eq!(
            resolve(&mapper, "Foo.v1.stable.a.io").await,
            "foos.v1.stable.a.io"
        );
        assert_eq!(server.take_requests(), group);
    }
}

#[tokio::test(start_paused = true)]
async fn the_beginning_of_a_group_that_appears_is_found_in_the_list() {
    for (server, mapper) in servers(&[core()]) {
        assert_eq!(resolve(&mapper, "pods").await, "pods.v1.");
        sleep(Duration::from_secs(10)).await;
        install(&server, &[core(), foos()]);
        assert_eq!(resolve(&mapper, "foos.stable").await, "foos.v1.stable.a.io");
    }
}

#[tokio::test(start_paused = true)]
async fn a_kind_reads_its_group_whatever_the_version_and_never_everything() {
    for (server, mapper) in servers(&[core(), foos()]) {
        let kind = GroupKind::new("stable.a.io", "Bar");
        let missing = mapper.rest_mapping(&kind, &[]).await.unwrap_err();
        assert!(missing.is_no_match());
        sleep(Duration::from_secs(10)).await;
        server.take_requests();
        let grown = group(
            "stable.a.io",
            &["v2", "v1"],
            &[("foos", "Foo"), ("bars", "Bar")],
        );
        server.serve_group(&grown);
        let found = mapper.rest_mapping(&kind, &[]).await.unwrap();
        assert_eq!(found.resource.to_string(), "bars.v2.stable.a.io");
        assert_eq!(
            server.take_requests(),
            [
                "/apis/stable.a.io",
                "/apis/stable.a.io/v2",
                "/apis/stable.a.io/v1"
            ]
        );
        assert_eq!(mapper.rest_mappings(&kind, &[]).await.unwrap().len(), 2);
        let old = mapper.rest_mapping(&kind, &["v1"]).await.unwrap();
        assert_eq!(old.kind.to_string(), "Bar.v1.stable.a.io");
        // Several versions and a missing one, from what is known.
        let first = mapper
            .rest_mapping(&kind, &["v9", "v1", "v2"])
            .await
            .unwrap();
        assert_eq!(first.resource.version, "v1");
        let missing = mapper.rest_mapping(&kind, &["v9"]).await.unwrap_err();
        assert!(missing.is_no_match(), "{missing}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_group_that_is_declared_out_of_date_is_read_again_with_its_order_of_versions() {
    for (server, mapper) in servers(&[core(), foos()]) {
        assert_eq!(resolve(&mapper, "foos").await, "foos.v1.stable.a.io");
        server.serve_group(&group("stable.a.io", &["v2", "v1"], &[("foos", "Foo")]));
        mapper.discovery().invalidate_group("stable.a.io");
        assert_eq!(resolve(&mapper, "foos").await, "foos.v2.stable.a.io");
        assert_eq!(
            resolve(&mapper, "foos.v1.stable.a.io").await,
            "foos.v1.stable.a.io"
        );
        // Gone altogether.
        install(&server, &[core()]);
        mapper.discovery().invalidate_group("stable.a.io");
        assert!(mapper.resource_for("foos").await.unwrap_err().is_no_match());
    }
}

#[tokio::test(start_paused = true)]
async fn a_failing_group_leaves_the_others_usable_and_its_own_names_unknown() {
    let metrics = group_of("metrics.k8s.io", &[("v1beta1", None)]);
    for (server, mapper) in servers(&[core(), metrics, foos()]) {
        assert_eq!(resolve(&mapper, "pods").await, "pods.v1.");
        let error = mapper.resource_for("nodemetrics").await.unwrap_err();
        assert!(error.is_unknown() && error.is_retryable(), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("metrics.k8s.io/v1beta1: the server answered 503"),
            "{text}"
        );
        // A group that is named, and is not the one that failed, is known.
        let error = mapper.resource_for("bars.stable.a.io").await.unwrap_err();
        assert!(error.is_no_match(), "{error}");
        let resolved = mapper.resolve("foos").await.unwrap();
        assert_eq!(resolved.mapping.resource.to_string(), "foos.v1.stable.a.io");
        assert_eq!(resolved.warnings.len(), 1);

        let healed = group("metrics.k8s.io", &["v1beta1"], &[("nodes", "NodeMetrics")]);
        server.serve_group(&healed);
        sleep(Duration::from_secs(2)).await;
        let expected = "nodes.v1beta1.metrics.k8s.io";
        assert_eq!(resolve(&mapper, "nodemetrics").await, expected);
        assert_eq!(mapper.resolve("foos").await.unwrap().warnings.len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_miss_that_cannot_be_verified_is_unknown() {
    for (server, mapper) in servers(&[core(), foos()]) {
        assert_eq!(resolve(&mapper, "pods").await, "pods.v1.");
        sleep(Duration::from_secs(10)).await;
        for path in ["/api", "/apis", "/apis/stable.a.io"] {
            server.set(path, Reply::Reset);
            server.remove_aggregated(path);
        }
        let error = mapper.resource_for("bars").await.unwrap_err();
        assert!(error.is_unknown() && error.is_retryable(), "{error}");
        assert!(
            error
                .to_string()
                .contains("all groups: the connection failed"),
            "{error}"
        );
        let kind = GroupKind::new("stable.a.io", "Bar");
        let error = mapper.rest_mapping(&kind, &[]).await.unwrap_err();
        assert!(
            error
                .to_string()
                .contains("stable.a.io: the connection failed"),
            "{error}"
        );
        assert_eq!(
            resolve(&mapper, "foos").await,
            "foos.v1.stable.a.io",
            "what is known stays"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_be_asked_is_an_error_of_discovery() {
    for (server, mapper) in servers(&[core()]) {
        server.remove_aggregated("/apis");
        server.set("/apis", Reply::Status(403, "forbidden".to_owned()));
        let error = mapper.resource_for("pods").await.unwrap_err();
        assert!(error.is_unknown() && !error.is_no_match());
        assert!(!error.is_retryable(), "a refusal does not pass by itself");
        let source = std::error::Error::source(&error).unwrap();
        assert_eq!(source.to_string(), "the server answered 403: forbidden");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_dropped_leaves_the_mapper_usable() {
    let (server, mapper) = servers(&[core()]).into_iter().next().unwrap();
    server.set("/apis", Reply::Hang);
    let outcome = timeout(Duration::from_secs(1), mapper.resource_for("pods")).await;
    assert!(outcome.is_err());
    server.serve([core()]);
    assert_eq!(resolve(&mapper, "pods").await, "pods.v1.");
}

#[tokio::test(start_paused = true)]
async fn a_bad_name_is_refused_without_a_request() {
    let (server, mapper) = servers(&[core()]).into_iter().next().unwrap();
    for name in ["", "pods/status", "../secrets", "a b"] {
        let error = mapper.resource_for(name).await.unwrap_err();
        assert!(!error.is_no_match() && !error.is_retryable(), "{error}");
    }
    assert_eq!(server.take_requests(), NOTHING);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_no_usual_one_is_still_asked_for() {
    let (server, mapper) = servers(&[core()]).into_iter().next().unwrap();
    assert_eq!(resolve(&mapper, "pods").await, "pods.v1.");
    sleep(Duration::from_secs(10)).await;
    server.take_requests();
    assert!(mapper.resource_for("foos.example.com").await.is_err());
    let requests = server.take_requests();
    assert_eq!(
        requests[0], "/apis/example.com",
        "a group called com is hardly meant"
    );
    assert!(!requests.iter().any(|path| path == "/apis/com"));

    install(
        &server,
        &[core(), group("com", &["example"], &[("foos", "Foo")])],
    );
    sleep(Duration::from_secs(10)).await;
    assert_eq!(
        resolve(&mapper, "foos.example.com").await,
        "foos.example.com"
    );
}

#[tokio::test(start_paused = true)]
async fn preferences_come_before_the_servers_order() {
    let gateways = [("gateways", "Gateway")];
    let mesh = group("mesh.io", &["v1"], &gateways);
    let api = group("gateway.networking.k8s.io", &["v1"], &gateways);
    let server = ScriptedServer::of([mesh, api]);
    let mapper = RestMapper::new(server.client());
    assert_eq!(resolve(&mapper, "gateways").await, "gateways.v1.mesh.io");
    let preference = Preference::group("gateway.networking.k8s.io");
    let preferring = mapper.clone().with_preferences([preference]);
    let expected = "gateways.v1.gateway.networking.k8s.io";
    assert_eq!(resolve(&preferring, "gateways").await, expected);
    assert_eq!(resolve(&mapper, "gateways").await, "gateways.v1.mesh.io");
    let all = preferring.resources_for("gateways").await.unwrap();
    assert_eq!(all.len(), 2);
    let mesh = PartialResource::new("gateways").with_group("mesh.io");
    let mesh = preferring.resource_for_partial(mesh).await.unwrap();
    assert_eq!(mesh.resource.group, "mesh.io");
}

#[tokio::test(start_paused = true)]
async fn a_table_is_made_once_for_what_is_known() {
    let server = ScriptedServer::of([core()]);
    let client = DiscoveryClient::new(server.client())
        .with_options(DiscoveryOptions::default().with_plain_discovery());
    let mapper = RestMapper::from_discovery(CachedDiscovery::new(client));
    let first = mapper.table().await.unwrap();
    assert!(Arc::ptr_eq(&first, &mapper.clone().table().await.unwrap()));
    mapper.discovery().invalidate();
    assert!(!Arc::ptr_eq(&first, &mapper.table().await.unwrap()));
}
