//! Discovery and health, as a client gets them.

use fakeserver::FakeServer;

use crate::support::Api;

#[tokio::test]
async fn documents_carry_the_headers_of_every_answer() {
    let api = Api::new();
    let aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let answer = api
        .send("GET", "/apis", &[("accept", aggregated)], "")
        .await;
    assert_eq!(answer.headers["content-type"], aggregated);
    assert_eq!(answer.headers["cache-control"], "public");
    assert_eq!(answer.headers["vary"], "Accept");
    assert!(answer.headers.contains_key("audit-id"));
    let etag = answer.headers["etag"].to_str().unwrap();
    let headers = [("accept", aggregated), ("if-none-match", etag)];
    assert_eq!(
        api.send("GET", "/apis", &headers, "").await.code.as_u16(),
        304
    );
}

#[tokio::test]
async fn the_address_is_the_one_that_the_client_used() {
    let api = Api::new();
    let host = [("host", "example.com:6443")];
    let versions = api.send("GET", "/api", &host, "").await.ok();
    assert_eq!(
        versions["serverAddressByClientCIDRs"][0]["serverAddress"],
        "example.com:6443"
    );
}

#[tokio::test]
async fn people_get_indented_json() {
    let api = Api::new();
    let curl = [("user-agent", "curl/8.0")];
    let answer = api.send("GET", "/version", &curl, "").await;
    assert!(
        answer.text.starts_with("{\n  \"major\": \"1\""),
        "{answer:?}"
    );
}

#[tokio::test]
async fn unknown_paths_answer_in_text_and_others_in_json() {
    let api = Api::new();
    for path in [
        "/nope",
        "/apis/nope",
        "/apis/nope/v1/things",
        "/healthz/nope",
    ] {
        let answer = api.get(path).await;
        assert_eq!(
            (answer.code.as_u16(), answer.text.as_str()),
            (404, "404 page not found\n"),
            "{path}"
        );
    }
    for path in [
        "/api/v9",
        "/api/v1/nope",
        "/apis/apps/v9",
        "/apis/apps/v1/pods",
    ] {
        assert_eq!(
            api.get(path).await.refused(404),
            "the server could not find the requested resource",
            "{path}"
        );
    }
    // Only routes go by the method.
    for (path, code) in [
        ("/apis", 200),
        ("/apis/apps", 200),
        ("/api", 405),
        ("/apis/apps/v1", 405),
    ] {
        let answer = api.post(path, &serde_json::json!({})).await;
        assert_eq!(answer.code.as_u16(), code, "{path}");
    }
}

#[tokio::test]
async fn counts_are_exported_to_prometheus() {
    let api = Api::new();
    api.config_map("a").await;
    api.get("/apis/apps/v1/deployments").await.ok();
    let answer = api.get("/metrics").await;
    assert_eq!(
        answer.headers["content-type"],
        "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
    );
    for line in [
        "# TYPE apiserver_request_total counter",
        "apiserver_request_total{group=\"\",resource=\"configmaps\",subresource=\"\",verb=\"CREATE\"} 1",
        "apiserver_request_total{group=\"apps\",resource=\"deployments\",subresource=\"\",verb=\"LIST\"} 1",
        "apiserver_registered_watchers 0",
    ] {
        assert!(answer.text.lines().any(|other| other == line), "{line}");
    }
    let refused = api.post("/metrics", &serde_json::json!({})).await;
    assert_eq!(refused.code.as_u16(), 405);
}

#[tokio::test]
async fn the_seats_of_priority_levels_are_exported_to_prometheus() {
    let server = FakeServer::builder()
        .with_max_requests_in_flight(400)
        .with_max_mutating_requests_in_flight(200)
        .build();
    let metrics = Api { server }.get("/metrics").await.text;
    for (level, seats) in [
        ("catch-all", 13),
        ("exempt", 0),
        ("global-default", 49),
        ("leader-election", 25),
        ("node-high", 98),
        ("system", 74),
        ("workload-high", 98),
        ("workload-low", 245),
    ] {
        let line = format!(
            "apiserver_flowcontrol_nominal_limit_seats{{priority_level=\"{level}\"}} {seats}"
        );
        assert!(metrics.lines().any(|other| other == line), "{line}");
    }
}
