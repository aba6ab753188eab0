//! POST.

use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS, DEPLOYMENTS, PODS, deployment, pod, version, warnings};

#[tokio::test]
async fn server_set_fields_are_set() {
    let api = Api::new();
    let sent = json!({"metadata": {
        "name": "a", "uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z", "selfLink": "/x",
    }});
    let created = api.post(CONFIG_MAPS, &sent).await.created();
    assert_eq!(created["kind"], "ConfigMap");
    assert_eq!(created["apiVersion"], "v1");
    let metadata = &created["metadata"];
    assert_eq!(metadata["namespace"], "default");
    assert_eq!(metadata["creationTimestamp"], "2026-01-01T00:00:00Z");
    assert_eq!(metadata["uid"].as_str().unwrap().len(), 36);
    assert!(metadata.get("deletionTimestamp").is_none());
    assert!(metadata.get("selfLink").is_none());
    assert_eq!(version(&created), api.server.revision());
    assert_eq!(api.get(&format!("{CONFIG_MAPS}/a")).await.ok(), created);
}

#[tokio::test]
async fn a_generated_name_begins_with_its_prefix_and_is_new() {
    let api = Api::new();
    let sent = json!({"metadata": {"generateName": "gen-"}});
    let mut names = Vec::new();
    for _ in 0..20 {
        let created = api.post(CONFIG_MAPS, &sent).await.created();
        let name = created["metadata"]["name"].as_str().unwrap().to_owned();
        assert!(name.starts_with("gen-") && name.len() == 9, "{name}");
        names.push(name);
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 20);
    let long = json!({"metadata": {"generateName": "x".repeat(80)}});
    let created = api.post(CONFIG_MAPS, &long).await.created();
    assert_eq!(created["metadata"]["name"].as_str().unwrap().len(), 63);
}

#[tokio::test]
async fn a_name_is_generated_eight_times_at_most() {
    let generated = json!({"metadata": {"generateName": "x-"}});
    let mut taken: Vec<String> = Vec::new();
    for round in 0..=8 {
        // The same server each time: eight objects, of which some have the names that it is going to generate.
        let api = Api::new();
        for place in 0..8 {
            let unrelated = format!("other-{place}");
            let name = taken.get(place).unwrap_or(&unrelated);
            let finalizers = ["example.com/f"];
            let object = json!({"metadata": {"name": name, "finalizers": finalizers}});
            api.post(CONFIG_MAPS, &object).await.created();
        }
        let answer = api.post(CONFIG_MAPS, &generated).await;
        if round < 8 {
            let name = &answer.created()["metadata"]["name"];
            taken.push(name.as_str().unwrap().to_owned());
            continue;
        }
        let words = format!(
            "configmaps \"{}\" already exists, the server was not able to generate a unique name for the object",
            taken[7]
        );
        let status = answer.json();
        assert_eq!(status["details"]["retryAfterSeconds"], 1);
        assert_eq!(status["reason"], "AlreadyExists");
        assert_eq!(answer.refused(409), words);
        // As upstream, also for a name that the client has chosen.
        let object = json!({"metadata": {"generateName": "x-", "name": taken[7]}});
        assert_eq!(api.post(CONFIG_MAPS, &object).await.refused(409), words);
        api.delete(&format!("{CONFIG_MAPS}/{}", taken[7]))
            .await
            .ok();
        assert_eq!(
            api.post(CONFIG_MAPS, &object).await.refused(409),
            format!("object is being deleted: {words}")
        );
    }
}

#[tokio::test]
async fn a_dry_run_shows_the_object_and_stores_nothing() {
    let api = Api::new();
    let before = api.server.revision();
    let sent = json!({"metadata": {"name": "a"}});
    let path = format!("{CONFIG_MAPS}?dryRun=All");
    let created = api.post(&path, &sent).await.created();
    assert!(created["metadata"].get("resourceVersion").is_none());
    assert!(created["metadata"].get("uid").is_some());
    assert_eq!(api.server.revision(), before);
    api.get(&format!("{CONFIG_MAPS}/a")).await.refused(404);
}

#[tokio::test]
async fn generations_and_status_begin_as_their_types_have_it() {
    let api = Api::new();
    let created = api.post(PODS, &pod("p", "")).await.created();
    assert_eq!(created["metadata"]["generation"], 1);
    assert_eq!(
        created["status"],
        json!({"phase": "Pending", "qosClass": "BestEffort"})
    );
    let mut with_status = deployment("d");
    with_status["status"] = json!({"replicas": 7});
    let created = api.post(DEPLOYMENTS, &with_status).await.created();
    assert_eq!(created["metadata"]["generation"], 1);
    assert_eq!(created["status"], json!({}));
    let created = api.config_map("c").await;
    assert!(created["metadata"].get("generation").is_none());
    let node = json!({"metadata": {"name": "n"}, "status": {"phase": "Running"}});
    let created = api.post("/api/v1/nodes", &node).await.created();
    assert_eq!(created["status"]["phase"], "Running");
}

#[tokio::test]
async fn a_rejected_creation_changes_nothing() {
    let api = Api::new();
    api.config_map("a").await;
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.com/f"]}});
    api.post(CONFIG_MAPS, &held).await.created();
    api.delete(&format!("{CONFIG_MAPS}/held")).await.ok();
    let before = api.server.revision();
    for (object, code, message) in [
        (
            json!({"metadata": {"name": "a"}}),
            409,
            "configmaps \"a\" already exists",
        ),
        (
            held,
            409,
            "object is being deleted: configmaps \"held\" already exists",
        ),
        (
            json!({"metadata": {}}),
            422,
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required",
        ),
        (
            json!({"metadata": {"name": "b", "resourceVersion": "5"}}),
            500,
            "resourceVersion should not be set on objects to be created",
        ),
        (
            json!({"metadata": {"name": "b", "namespace": "other"}}),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            json!({"metadata": {"name": "b"}, "data": {"k": 5}}),
            400,
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go \
             struct field ConfigMap.data of type string",
        ),
        (
            json!({"metadata": {"name": "b", "finalizers": ["f"]}}),
            422,
            "ConfigMap \"b\" is invalid: metadata.finalizers[0]: Invalid value: \"f\": name is neither a standard \
             finalizer name nor is it fully qualified",
        ),
    ] {
        assert_eq!(api.post(CONFIG_MAPS, &object).await.refused(code), message);
    }
    assert_eq!(api.server.revision(), before);
}

#[tokio::test]
async fn unknown_fields_are_warned_of_or_refused_or_ignored() {
    let api = Api::new();
    let sent = |name: &str| json!({"metadata": {"name": name}, "datas": {"a": "b"}});
    let warned = api.post(CONFIG_MAPS, &sent("warned")).await;
    assert_eq!(
        warned.headers["warning"],
        "299 - \"unknown field \\\"datas\\\"\""
    );
    assert!(warned.created().get("datas").is_none());
    let path = format!("{CONFIG_MAPS}?fieldValidation=Ignore");
    let ignored = api.post(&path, &sent("ignored")).await;
    assert!(!ignored.headers.contains_key("warning"));
    ignored.created();
    let path = format!("{CONFIG_MAPS}?fieldValidation=Strict");
    assert_eq!(
        api.post(&path, &sent("strict")).await.refused(400),
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"datas\""
    );
}

#[tokio::test]
async fn an_object_may_be_written_in_yaml() {
    let api = Api::new();
    let yaml = [("content-type", "application/yaml")];
    let sent = "metadata:\n  name: a\n  labels: {x: \"1\"}\ndata:\n  k: |\n    two\n    lines\n";
    let created = api.send("POST", CONFIG_MAPS, &yaml, sent).await.created();
    assert_eq!(created["metadata"]["labels"]["x"], "1");
    assert_eq!(created["data"]["k"], "two\nlines\n");
    let broken = api
        .send("POST", CONFIG_MAPS, &yaml, "a: [")
        .await
        .refused(400);
    assert!(
        broken.starts_with(
            "the object provided is unrecognized (must be of type ConfigMap): yaml: line 1: "
        ),
        "{broken}"
    );
    let twice = "metadata: {name: b}\ndata: {a: b}\ndata: {a: c}\n";
    let warned = api.send("POST", CONFIG_MAPS, &yaml, twice).await;
    assert_eq!(
        warnings(&warned),
        ["299 - \"line 3: key \\\"data\\\" already set in map\""]
    );
    let strict = format!("{CONFIG_MAPS}?fieldValidation=Strict");
    assert_eq!(
        api.send("POST", &strict, &yaml, twice).await.refused(400),
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  \
         line 3: key \"data\" already set in map"
    );
    // Ten levels of ten aliases each would be ten thousand million strings.
    let level = |level: usize| {
        let aliases = vec![format!("*l{}", level - 1); 10].join(", ");
        format!("l{level}: &l{level} [{aliases}]\n")
    };
    let bomb = format!("l0: &l0 x\n{}", (1..=10).map(level).collect::<String>());
    api.send("POST", CONFIG_MAPS, &yaml, bomb)
        .await
        .refused(400);
}

#[tokio::test]
async fn the_same_seed_and_requests_give_the_same_objects() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let api = Api::new();
        let sent = json!({"metadata": {"generateName": "x-"}});
        api.post(CONFIG_MAPS, &sent).await.created();
        // What is only read draws nothing from what makes uids.
        api.get(CONFIG_MAPS).await.ok();
        runs.push(api.post(CONFIG_MAPS, &sent).await.text);
    }
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn one_of_many_concurrent_creations_succeeds() {
    const CLIENTS: usize = 4;
    const NAMES: usize = 50;
    let api = Api::new();
    let create_all = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut created = Vec::new();
            for name in 0..NAMES {
                let sent = json!({"metadata": {"name": format!("c{name}")}});
                let answer = api.post(CONFIG_MAPS, &sent).await;
                match answer.code.as_u16() {
                    201 => created.push(answer.json()),
                    409 => assert_eq!(answer.json()["reason"], "AlreadyExists"),
                    other => panic!("{other}: {}", answer.text),
                }
            }
            created
        })
    };
    let before = api.server.revision();
    let mut created: Vec<Value> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(create_all)).collect();
        let created = clients
            .into_iter()
            .map(|client| client.join().expect("no client fails"));
        created.flatten().collect()
    });
    assert_eq!(created.len(), NAMES, "each name is created once");
    created.sort_by_key(version);
    for (object, expected) in created.iter().zip(before + 1..) {
        assert_eq!(version(object), expected, "no version is taken twice");
    }
    let stored = api.server.objects("", "v1", "configmaps");
    for object in &created {
        let name = object["metadata"]["name"].as_str().unwrap();
        let stored = stored.iter().find(|stored| stored.name() == name);
        let stored = stored.expect("what was answered is stored");
        assert_eq!(stored.revision(), version(object));
        assert_eq!(stored.to_value()["metadata"], object["metadata"]);
    }
}
