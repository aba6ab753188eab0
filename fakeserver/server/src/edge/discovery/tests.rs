//! The documents against those of a real server, and how they are negotiated.

use axum::response::Response;
use fakeserver_kinds::registry::Registry;
use fakeserver_versions::KubernetesVersion;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::Value;

use super::{AGGREGATED, DiscoverySource, Remote, serve};
use crate::edge::request::{ApiPath, MediaTypes, Query};

/// Returns the answer to a GET, if there is one.
fn get(path: &str, headers: &[(header::HeaderName, &str)]) -> Option<Response> {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
        .collect();
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let query = Query::parse(Some(query));
    let registry = Registry::builtin(KubernetesVersion::DEFAULT);
    let path = ApiPath::parse(path);
    let source = DiscoverySource {
        media_types: MediaTypes::default(),
        registry: &registry,
        remote: &Remote::default(),
        is_hidden: &|_, _| false,
    };
    let answer = serve(&source, &Method::GET, &path, &query, &headers, false)?;
    Some(answer.unwrap_or_else(axum::response::IntoResponse::into_response))
}

async fn text(response: Response) -> String {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.into()).unwrap()
}

async fn json(path: &str) -> Value {
    let response = get(path, &[]).unwrap();
    assert_eq!(response.status(), StatusCode::OK, "{path}");
    serde_json::from_str(&text(response).await).unwrap()
}

#[tokio::test]
async fn aggregated_documents_are_those_of_a_real_server() {
    let recorded: Value = serde_json::from_str(&KubernetesVersion::DEFAULT.discovery()).unwrap();
    for (path, items) in [("/api", "core"), ("/apis", "groups")] {
        let response = get(path, &[(header::ACCEPT, AGGREGATED)]).unwrap();
        assert_eq!(response.headers()[header::CONTENT_TYPE], AGGREGATED);
        let document: Value = serde_json::from_str(&text(response).await).unwrap();
        assert_eq!(document["kind"], "APIGroupDiscoveryList");
        assert_eq!(document["items"], recorded[items]);
    }
}

#[tokio::test]
async fn a_document_with_a_matching_etag_is_not_sent_again() {
    let first = get("/apis", &[(header::ACCEPT, AGGREGATED)]).unwrap();
    let etag = first.headers()[header::ETAG].to_str().unwrap().to_owned();
    let headers = [
        (header::ACCEPT, AGGREGATED),
        (header::IF_NONE_MATCH, etag.as_str()),
    ];
    let again = get("/apis", &headers).unwrap();
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(text(again).await, "");
    let stale = [
        (header::ACCEPT, AGGREGATED),
        (header::IF_NONE_MATCH, "\"0\""),
    ];
    assert_eq!(get("/apis", &stale).unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn the_first_form_that_a_client_accepts_is_given() {
    let kubectl = format!(
        "{AGGREGATED},application/json;g=apidiscovery.k8s.io;v=v2beta1,{}",
        "application/json"
    );
    for (accept, kind) in [
        ("", "APIGroupList"),
        ("*/*", "APIGroupList"),
        ("application/json", "APIGroupList"),
        (kubectl.as_str(), "APIGroupDiscoveryList"),
        (
            "application/json, application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            "APIGroupList",
        ),
    ] {
        let response = get("/apis", &[(header::ACCEPT, accept)]).unwrap();
        let document: Value = serde_json::from_str(&text(response).await).unwrap();
        assert_eq!(document["kind"], kind, "{accept}");
    }
    let refused = get("/apis", &[(header::ACCEPT, "application/xml")]).unwrap();
    assert_eq!(refused.status(), StatusCode::NOT_ACCEPTABLE);
    let older = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
    let refused = get("/apis", &[(header::ACCEPT, older)]).unwrap();
    assert_eq!(refused.status(), StatusCode::NOT_ACCEPTABLE);
    assert!(
        text(refused)
            .await
            .contains("only the following media types are accepted")
    );
    for path in ["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"] {
        let yaml = get(path, &[(header::ACCEPT, "application/yaml")]).unwrap();
        assert_eq!(yaml.headers()[header::CONTENT_TYPE], "application/yaml");
        assert!(text(yaml).await.contains("kind: API"), "{path}");
        let protobuf = "application/vnd.kubernetes.protobuf";
        let binary = get(path, &[(header::ACCEPT, protobuf)]).unwrap();
        assert_eq!(binary.headers()[header::CONTENT_TYPE], protobuf);
    }
}

#[tokio::test]
async fn groups_and_versions_have_documents_of_their_own() {
    let core = json("/api/v1").await;
    assert_eq!(core["groupVersion"], "v1");
    let named = |name: &str| {
        let resources = core["resources"].as_array().unwrap().iter();
        resources.clone().find(|resource| resource["name"] == name)
    };
    assert_eq!(named("pods").unwrap()["storageVersionHash"], "xPOwRZ+Yhw8=");
    assert_eq!(named("pods/eviction").unwrap()["group"], "policy");
    assert_eq!(named("pods/status").unwrap()["singularName"], "");
    let autoscaling = json("/apis/autoscaling").await;
    assert_eq!(autoscaling["preferredVersion"]["version"], "v2");
    assert_eq!(json("/api").await["versions"][0], "v1");
    let paths = json("/").await;
    let paths = paths["paths"].as_array().unwrap();
    assert!(paths.contains(&Value::from("/apis/apps/v1")));
}

#[tokio::test]
async fn unserved_resources_are_not_found() {
    assert!(get("/apis/nope", &[]).is_none());
    assert!(get("/nope", &[]).is_none());
    assert!(get("/healthz/nope", &[]).is_none());
    let version = get("/apis/apps/v9", &[]).unwrap();
    assert_eq!(version.status(), StatusCode::NOT_FOUND);
    assert!(text(version).await.contains("\"reason\":\"NotFound\""));
}

#[tokio::test]
async fn health_has_a_short_and_a_verbose_form() {
    for endpoint in ["/healthz", "/livez", "/readyz", "/readyz/ping"] {
        assert_eq!(text(get(endpoint, &[]).unwrap()).await, "ok", "{endpoint}");
    }
    let report = text(get("/readyz?verbose&exclude=etcd&exclude=x", &[]).unwrap()).await;
    for line in [
        "[+]ping ok\n[+]log ok\n[+]loopback-serving-certificate ok\n[+]etcd excluded: ok\n[+]etcd-readiness ok\n",
        "[+]shutdown ok\nwarn: some health checks cannot be excluded: no matches for \"x\"\nreadyz check passed\n",
    ] {
        assert!(report.contains(line), "{report}");
    }
    let nested = get("/livez/poststarthook/rbac/bootstrap-roles", &[]).unwrap();
    assert_eq!(text(nested).await, "ok");
    assert!(get("/livez/informer-sync", &[]).is_none());
}
