//! The live page: who gets it, what its socket tells, and what it can do.

use std::time::Duration;

use axum::body::Body;
use fakeserver::{Authorization, FakeServer, FakeServerBuilder, UserInfo};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

use crate::{
    sockets::SocketServer,
    support::{Api, CONFIG_MAPS},
};

const PAGE: &str = "/_control/page";
const LIVE: &str = "/_control/page/live";
const PATIENCE: Duration = Duration::from_secs(20);

/// A page, and the state as it was told.
struct Page {
    socket: WebSocketStream<TcpStream>,
    state: Value,
    catalogue: Value,
}

// === impl Page ===

impl Page {
    /// Opens the socket without a word.
    async fn connect(served: &SocketServer, headers: &[(&'static str, &str)]) -> Self {
        let origin = format!("http://{}", served.address);
        let mut all = vec![("origin", origin.as_str())];
        all.extend_from_slice(headers);
        let (socket, _) = served.open(LIVE, &all).await.unwrap();
        Self {
            socket,
            state: json!({}),
            catalogue: Value::Null,
        }
    }

    async fn open_as(served: &SocketServer, headers: &[(&'static str, &str)]) -> Self {
        let mut page = Self::connect(served, headers).await;
        page.say(&json!({"token": "secret"})).await;
        let first = page.receive().await.unwrap();
        assert_eq!(first["type"], "catalogue");
        page.catalogue = first["faults"].clone();
        page
    }

    async fn open(served: &SocketServer) -> Self {
        Self::open_as(served, &[]).await
    }

    async fn say(&mut self, message: &Value) {
        let text = Message::text(message.to_string());
        self.socket.send(text).await.unwrap();
    }

    /// Returns the next message, or the code and the reason of the end.
    async fn receive(&mut self) -> Result<Value, (u16, String)> {
        let receive = timeout(PATIENCE, self.socket.next()).await;
        match receive.expect("a message comes").unwrap().unwrap() {
            Message::Text(text) => {
                let message: Value = serde_json::from_str(&text).unwrap();
                if message["type"] == "state" {
                    for (part, value) in message.as_object().unwrap() {
                        self.state[part] = value.clone();
                    }
                }
                Ok(message)
            }
            Message::Close(Some(close)) => Err((close.code.into(), close.reason.to_string())),
            other => panic!("{other:?}"),
        }
    }

    /// Waits for a state.
    async fn until(&mut self, wanted: impl Fn(&Value) -> bool) {
        while !wanted(&self.state) {
            self.receive().await.unwrap();
        }
    }

    /// Returns the code and the text of the answer to a command.
    async fn answer(&mut self, command: &Value) -> (u64, String) {
        self.say(command).await;
        loop {
            let message = self.receive().await.unwrap();
            if message["type"] == "answer" {
                let text = message["text"].as_str().unwrap().to_owned();
                return (message["code"].as_u64().unwrap(), text);
            }
        }
    }
}

fn builder() -> FakeServerBuilder {
    FakeServer::builder().with_page("secret")
}

fn config_map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"k": "v"}})
}

fn view_of(resource: &str) -> Value {
    json!({"view": {"group": "", "resource": resource, "namespace": "default", "limit": 100}})
}

/// The names in the table.
fn names(state: &Value) -> Vec<&str> {
    let rows = state["table"]["rows"].as_array();
    let rows = rows.into_iter().flatten();
    rows.map(|row| row["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_page_is_one_file_that_loads_nothing() {
    let api = Api {
        server: builder().build(),
    };
    let host = [("host", "127.0.0.1:8001")];
    let page = api.send("GET", PAGE, &host, Body::empty()).await;
    assert_eq!(page.code, 200);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'sha256-"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    assert!(!page.text.contains("secret"), "the file tells no token");

    let named = [("host", "rebound.example:8001")];
    let refused = api.send("GET", PAGE, &named, Body::empty()).await;
    assert_eq!(refused.code, 403);
    assert!(refused.text.contains("localhost"), "{}", refused.text);
    let other = [host[0], ("origin", "http://other.example")];
    assert_eq!(api.send("GET", PAGE, &other, Body::empty()).await.code, 403);
    assert_eq!(api.send("POST", PAGE, &host, Body::empty()).await.code, 405);
    let below = format!("{PAGE}/other");
    assert_eq!(
        api.send("GET", &below, &host, Body::empty()).await.code,
        404
    );
}

#[tokio::test]
async fn a_server_has_no_page_by_default() {
    let api = Api::new();
    let host = [("host", "127.0.0.1:8001")];
    for path in [PAGE, LIVE] {
        let none = api.send("GET", path, &host, Body::empty()).await;
        assert_eq!(none.code, 404);
        assert!(none.text.contains("--page"), "{}", none.text);
    }
}

#[tokio::test]
async fn the_page_needs_its_token() {
    let served = SocketServer::of(builder().build()).await;
    for hello in [
        json!({"token": "wrong"}),
        json!({"token": ""}),
        json!({}),
        view_of("secrets"),
    ] {
        let mut page = Page::connect(&served, &[]).await;
        page.say(&hello).await;
        let (code, reason) = page.receive().await.unwrap_err();
        assert_eq!(code, 1008, "{hello}");
        assert!(reason.contains("token"), "{reason}");
    }
    for origin in [None, Some("http://other.example"), Some("null")] {
        let headers: Vec<_> = origin
            .map(|origin| ("origin", origin))
            .into_iter()
            .collect();
        let (code, why) = served.refused(LIVE, &headers).await;
        assert_eq!(code, 403, "{origin:?}: {why}");
    }
    // A site that has bound its name to this address.
    let rebound = [("origin", "http://evil.example"), ("host", "evil.example")];
    assert_eq!(served.refused(LIVE, &rebound).await.0, 403);
}

/// A server, and a page that shows its config maps: `one`.
async fn page_of_one() -> (SocketServer, Api, Page) {
    let served = SocketServer::of(builder().build()).await;
    let api = Api {
        server: served.server.clone(),
    };
    let mut page = Page::open(&served).await;
    page.say(&view_of("configmaps")).await;
    api.post(CONFIG_MAPS, &config_map("one")).await.created();
    page.until(|state| names(state) == ["one"]).await;
    (served, api, page)
}

#[tokio::test]
async fn the_page_follows_the_server() {
    let (served, api, mut page) = page_of_one().await;
    let columns = page.state["table"]["columns"].as_array().unwrap();
    let columns: Vec<_> = columns.iter().map(|column| &column["name"]).collect();
    assert_eq!(columns, ["Name", "Data", "Age"]);
    assert_eq!(page.state["table"]["rows"][0]["cells"][1], 1);

    let object = json!({"object": {
        "group": "", "resource": "configmaps", "namespace": "default", "name": "one",
    }});
    page.say(&object).await;
    page.until(|state| state["object"]["yaml"].is_string())
        .await;
    let yaml = page.state["object"]["yaml"].as_str().unwrap();
    assert!(yaml.starts_with("apiVersion: v1\n"), "{yaml}");
    assert!(!yaml.contains("managedFields"), "{yaml}");
    let manager = &page.state["object"]["managers"][0];
    assert_eq!(manager["operation"], "Update");
    assert_eq!(manager["fieldsV1"]["f:data"]["f:k"], json!({}));

    let watching = "/api/v1/configmaps?watch=1";
    let headers = [("origin", "http://localhost"), ("user-agent", "curious/1")];
    let (watch, _) = served.open(watching, &headers).await.unwrap();
    let row = json!({"client": "curious", "group": "", "resource": "configmaps", "count": 1});
    page.until(|state| state["watches"]["rows"] == json!([row]))
        .await;
    assert_eq!(page.state["counts"]["watches"], 1);
    drop(watch);
    page.until(|state| state["watches"]["rows"] == json!([]))
        .await;

    api.delete(&format!("{CONFIG_MAPS}/one")).await.ok();
    page.until(|state| names(state).is_empty() && state["object"]["yaml"].is_null())
        .await;
    let revision = served.server.revision();
    page.until(|state| state["counts"]["revision"] == revision)
        .await;
}

#[tokio::test]
async fn many_objects_are_shown_part_by_part() {
    let served = SocketServer::of(builder().build()).await;
    for number in 0..250 {
        let map = config_map(&format!("n{number:03}"));
        let mut object = json!({"kind": "ConfigMap", "apiVersion": "v1", "data": map["data"]});
        object["metadata"] = json!({"namespace": "default", "name": map["metadata"]["name"]});
        served.server.apply(&object).unwrap();
    }
    let mut page = Page::open(&served).await;
    let mut view = view_of("configmaps");
    view["view"]["limit"] = json!(10_000);
    page.say(&view).await;
    page.until(|state| names(state).len() == 200).await;
    // Those of other namespaces count too.
    assert!(page.state["table"]["count"].as_u64() >= Some(250));
    view["view"]["start"] = page.state["table"]["next"].clone();
    page.say(&view).await;
    page.until(|state| names(state).first() == Some(&"n200"))
        .await;
    assert_eq!(names(&page.state).len(), 50);
    assert_eq!(page.state["table"]["next"], Value::Null);
    page.say(&json!({"view": null})).await;
    page.until(|state| state["table"].is_null()).await;
}

#[tokio::test]
async fn the_page_installs_faults_and_shows_their_effects() {
    let served = SocketServer::of(builder().build()).await;
    let api = Api {
        server: served.server.clone(),
    };
    let mut page = Page::open(&served).await;
    let entries = page.catalogue.as_array().unwrap();
    let throttle = entries.iter().find(|entry| entry["fault"] == "throttle");
    let throttle = throttle.unwrap();
    assert_eq!(throttle["parameters"][0], "retryAfterSeconds");
    assert_eq!(throttle["defaults"]["retryAfterSeconds"], 1);

    let spec = json!({"fault": "throttle", "match": {"resource": "configmaps"}});
    let (code, _) = page.answer(&json!({"fault": spec})).await;
    assert_eq!(code, 201);
    api.get(CONFIG_MAPS).await.refused_plainly(429);
    page.until(|state| state["faults"][0]["fired"] == 1).await;
    assert_eq!(page.state["faults"][0]["spec"]["fault"], "throttle");

    let id = &page.state["faults"][0]["id"];
    let remove = json!({"remove": id});
    assert_eq!(page.answer(&remove).await.0, 204);
    page.until(|state| state["faults"] == json!([])).await;
    assert_eq!(page.answer(&remove).await.0, 404);
    let (code, text) = page.answer(&json!({"fault": {"fault": "throtle"}})).await;
    assert_eq!(code, 400);
    assert!(text.contains("throttle"), "{text}");
    let (code, text) = page.answer(&json!({"control": "stop"})).await;
    assert_eq!(code, 400);
    assert!(text.contains("`reset`"), "{text}");
}

#[tokio::test]
async fn the_page_is_right_after_expire_disconnect_and_reset() {
    let (served, api, mut page) = page_of_one().await;
    for control in ["compact", "expire", "disconnect"] {
        let (code, _) = page.answer(&json!({"control": control})).await;
        assert_eq!(code, 204, "{control}");
        let name = format!("after-{control}");
        api.post(CONFIG_MAPS, &config_map(&name)).await.created();
        page.until(|state| names(state).contains(&name.as_str()))
            .await;
    }
    assert_eq!(page.answer(&json!({"control": "reset"})).await.0, 204);
    page.until(|state| names(state).is_empty()).await;
    let revision = served.server.revision();
    page.until(|state| state["counts"]["revision"] == revision)
        .await;
    let (code, text) = page.answer(&json!({"control": "snapshot"})).await;
    assert_eq!(code, 409);
    assert!(text.contains("--data"), "{text}");
}

#[tokio::test]
async fn the_page_has_the_rights_of_its_user() {
    let jane = ("authorization", "Bearer jane");
    let guarded = builder()
        .with_authorization(Authorization::Rbac)
        .with_token("jane", UserInfo::new("jane"));
    let served = SocketServer::of(guarded.build()).await;
    let origin = format!("http://{}", served.address);
    let headers = [("origin", origin.as_str()), jane];
    assert_eq!(served.refused(LIVE, &headers).await.0, 403);
    let group = "rbac.authorization.k8s.io";
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "page"},
        "rules": [
            {"verbs": ["get"], "nonResourceURLs": ["/_control/page", "/_control/page/*"]},
            {"verbs": ["list"], "apiGroups": [""], "resources": ["configmaps"]},
        ],
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "page"},
        "subjects": [{"kind": "User", "name": "jane", "apiGroup": group}],
        "roleRef": {"kind": "ClusterRole", "name": "page", "apiGroup": group},
    });
    served.server.apply(&role).unwrap();
    served.server.apply(&binding).unwrap();

    let mut page = Page::open_as(&served, &[jane]).await;
    page.say(&view_of("configmaps")).await;
    page.until(|state| state["table"]["resource"] == "configmaps")
        .await;
    let (code, text) = page.answer(&view_of("secrets")).await;
    assert_eq!(code, 403);
    assert!(text.contains("cannot list resource \"secrets\""), "{text}");
    page.until(|state| state["table"].is_null()).await;
    let object = json!({"object": {
        "group": "", "resource": "configmaps", "namespace": "default", "name": "one",
    }});
    let (code, text) = page.answer(&object).await;
    assert_eq!(code, 403);
    assert!(
        text.contains("cannot get resource \"configmaps\""),
        "{text}"
    );
    let revision = served.server.revision();
    for (command, path) in [
        (json!({"control": "reset"}), "/_control/reset"),
        (json!({"fault": {"fault": "throttle"}}), "/_control/faults"),
    ] {
        let (code, text) = page.answer(&command).await;
        assert_eq!(code, 403);
        assert!(
            text.contains(&format!("cannot post path \"{path}\"")),
            "{text}"
        );
    }
    assert_eq!(served.server.revision(), revision);
    assert!(served.server.faults().installed().is_empty());
}

#[tokio::test]
async fn the_number_of_open_pages_is_limited() {
    let served = SocketServer::of(builder().build()).await;
    let mut open = Vec::new();
    for _ in 0..16 {
        open.push(Page::open(&served).await);
    }
    let mut further = Page::connect(&served, &[]).await;
    further.say(&json!({"token": "secret"})).await;
    let (code, reason) = further.receive().await.unwrap_err();
    assert_eq!(code, 1013);
    assert!(reason.contains("too many pages"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn a_page_of_another_site_controls_nothing() {
    let api = Api::new();
    for (origin, code) in [
        ("http://127.0.0.1:8001", 204),
        ("http://127.0.0.1:9", 403),
        ("http://evil.example", 403),
        ("null", 403),
    ] {
        let headers = [("host", "127.0.0.1:8001"), ("origin", origin)];
        let answer = api.send("POST", "/_control/reset", &headers, "").await;
        assert_eq!(answer.code, code, "{origin}");
    }
}
