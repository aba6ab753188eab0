//! Kubelets: their events, probes, hooks, restarts by rules, images that have no name.

use std::time::Duration;

use fakeserver::{Controllers, Stage, Workloads};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{Api, DEPLOYMENTS, PODS, deployment, pod};

const EVENTS: &str = "/api/v1/namespaces/default/events";

fn api(stages: impl IntoIterator<Item = Stage>) -> Api {
    let workloads = Workloads::default().with_stages(stages);
    Api::with(Controllers::default().with_workloads(workloads))
}

async fn get(api: &Api, name: &str) -> Value {
    api.get(&format!("{PODS}/{name}")).await.ok()
}

async fn seconds(count: u64) {
    sleep(Duration::from_secs(count)).await;
}

/// The events of kubelets about a pod: their counts, reasons and messages, the oldest first.
async fn events_of(api: &Api, name: &str) -> Vec<String> {
    let events = api.kubelet_events(name).await;
    events
        .iter()
        .map(|event| {
            let text = |field: &str| event[field].as_str().unwrap().to_owned();
            format!("{} {} {}", event["count"], text("reason"), text("message"))
        })
        .collect()
}

/// The state of a container, by the pointer to its status: its kind, and the reason if it has one.
fn state(pod: &Value, pointer: &str) -> String {
    let state = &pod.pointer(pointer).unwrap()["state"];
    let (kind, rest) = state.as_object().unwrap().iter().next().unwrap();
    format!("{kind} {}", rest["reason"].as_str().unwrap_or_default())
}

fn is_ready(pod: &Value) -> [bool; 2] {
    let status = &pod["status"]["containerStatuses"][0];
    [status["started"] == true, status["ready"] == true]
}

#[tokio::test(start_paused = true)]
async fn a_starting_pod_has_events_of_its_image_and_containers() {
    let api = api([]);
    let mut two = pod("p", "");
    two["spec"]["initContainers"] = json!([{"name": "before", "image": "i"}]);
    two["spec"]["containers"][0]["image"] = json!("i:1");
    api.post(PODS, &two).await.created();
    api.settle().await;
    let all = events_of(&api, "p").await;
    let pulled = all.iter().find(|it| it.contains("Pulled")).unwrap();
    let (start, end) = (
        "1 Pulled Successfully pulled image \"i\" in 1s (1s including waiting). Image size: ",
        " bytes.",
    );
    assert!(
        pulled.starts_with(start) && pulled.ends_with(end),
        "{pulled}"
    );
    let words: Vec<&str> = all
        .iter()
        .filter(|it| !it.contains("Pulled"))
        .map(|it| &it[2..])
        .collect();
    let created = ["Created Container created", "Started Container started"];
    let expected = [
        &["Pulling Pulling image \"i\""],
        &created[..],
        &["Pulling Pulling image \"i:1\""],
        &created[..],
    ];
    assert_eq!(words, expected.concat());
    let list = api
        .get(&format!("{EVENTS}?fieldSelector=reason=Started"))
        .await
        .ok();
    let events = list["items"].as_array().unwrap();
    let paths: Vec<&Value> = events
        .iter()
        .map(|it| &it["involvedObject"]["fieldPath"])
        .collect();
    assert_eq!(paths, ["spec.initContainers{before}", "spec.containers{c}"]);
    assert_eq!(
        events[0]["source"],
        json!({"component": "kubelet", "host": "node-0"})
    );
    // The node has the image, whose tag says that it does not change.
    let mut next = pod("q", "");
    next["spec"]["containers"][0]["image"] = json!("i:1");
    api.post(PODS, &next).await.created();
    api.settle().await;
    let present = "1 Pulled Container image \"i:1\" already present on machine and can be accessed by the pod";
    assert_eq!(events_of(&api, "q").await[0], present);
}

#[tokio::test(start_paused = true)]
async fn repeated_events_are_counted_and_finally_dropped() {
    let crash = Stage::of_pods("crash")
        .with_image("i:1")
        .with_exit(Duration::from_secs(1), 1);
    let pull = Stage::of_pods("pull")
        .with_image("gone")
        .with_pull_error("manifest unknown");
    let api = api([crash, pull]);
    let mut crashing = pod("crashing", "");
    crashing["spec"]["containers"][0]["image"] = json!("i:1");
    api.post(PODS, &crashing).await.created();
    let mut lacking = pod("lacking", "");
    lacking["spec"]["containers"][0]["image"] = json!("gone");
    api.post(PODS, &lacking).await.created();
    // Starts at 1, 2, 13 and 34 s.
    seconds(36).await;
    let crashed = get(&api, "crashing").await;
    let uid = crashed["metadata"]["uid"].as_str().unwrap();
    let counted = events_of(&api, "crashing").await;
    let back_off =
        format!("3 BackOff Back-off restarting failed container c in pod crashing_default({uid})");
    for wanted in [
        "1 Pulling Pulling image \"i:1\"",
        "3 Pulled Container image \"i:1\" already present on machine and can be accessed by the pod",
        "4 Created Container created",
        "4 Started Container started",
        &back_off,
    ] {
        assert!(
            counted.iter().any(|it| it == wanted),
            "{wanted}: {counted:#?}"
        );
    }
    assert_eq!(counted.len(), 6);
    let waiting = &crashed["status"]["containerStatuses"][0]["state"]["waiting"];
    let message = format!("back-off 40s restarting failed container=c pod=crashing_default({uid})");
    assert_eq!(waiting["message"], message);
    let failed = events_of(&api, "lacking").await;
    for wanted in [
        "3 Pulling Pulling image \"gone\"",
        "3 Failed Failed to pull image \"gone\": manifest unknown",
        "3 Failed Error: ErrImagePull",
        "3 BackOff Back-off pulling image \"gone\"",
        "3 Failed Error: ImagePullBackOff",
    ] {
        assert!(
            failed.iter().any(|it| it == wanted),
            "{wanted}: {failed:#?}"
        );
    }
    assert_eq!(failed.len(), 5);
    // Events about one object are limited: one more every five minutes.
    seconds(4 * 60).await;
    let sum = async |name: &str| {
        let all = events_of(&api, name).await;
        let counts = all
            .iter()
            .map(|it| it.split(' ').next().unwrap().parse::<usize>().unwrap());
        counts.sum::<usize>()
    };
    assert!(
        sum("crashing").await <= 26,
        "{:#?}",
        events_of(&api, "crashing").await
    );
}

#[tokio::test(start_paused = true)]
async fn containers_wait_for_those_before_them_as_kubectl_shows_it() {
    let api = api([]);
    let mut pod = pod("p", "");
    pod["spec"]["initContainers"] =
        json!([{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]);
    api.post(PODS, &pod).await.created();
    let statuses = [
        "/status/initContainerStatuses/0",
        "/status/initContainerStatuses/1",
        "/status/containerStatuses/0",
    ];
    let mut seen = Vec::new();
    for _ in 0..4 {
        sleep(Duration::from_millis(900)).await;
        let pod = get(&api, "p").await;
        seen.push(statuses.map(|pointer| state(&pod, pointer)));
    }
    let [waiting, done] = ["waiting PodInitializing", "terminated Completed"];
    assert_eq!(
        seen,
        [
            [waiting, waiting, waiting],
            [done, waiting, waiting],
            [done, done, waiting],
            [done, done, "running "],
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_was_made_on_a_node_is_scheduled() {
    let api = api([]);
    for (name, node) in [("set", "node-0"), ("free", "")] {
        api.post(PODS, &pod(name, node)).await.created();
    }
    api.settle().await;
    for name in ["set", "free"] {
        let pod = get(&api, name).await;
        let mut conditions = pod["status"]["conditions"].as_array().unwrap().iter();
        let scheduled = conditions.find(|it| it["type"] == "PodScheduled").unwrap();
        assert_eq!(scheduled["status"], "True");
        assert_eq!(scheduled["observedGeneration"], 1, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_past_its_deadline_has_an_event() {
    let api = api([]);
    let mut limited = pod("p", "");
    limited["spec"]["activeDeadlineSeconds"] = json!(5);
    api.post(PODS, &limited).await.created();
    seconds(10).await;
    assert_eq!(get(&api, "p").await["status"]["reason"], "DeadlineExceeded");
    let events = events_of(&api, "p").await;
    let last: Vec<&str> = events[events.len() - 2..].iter().map(|it| &**it).collect();
    let deadline =
        "1 DeadlineExceeded Pod was active on the node longer than the specified deadline";
    assert_eq!(last, [deadline, "1 Killing Stopping container c"]);
}

#[tokio::test(start_paused = true)]
async fn probes_take_the_time_that_their_fields_say() {
    let api = api([]);
    let action = |more: Value| {
        let mut probe = json!({"exec": {"command": ["true"]}});
        for (field, value) in more.as_object().unwrap() {
            probe[field] = value.clone();
        }
        probe
    };
    let mut probed = pod("p", "");
    probed["spec"]["initContainers"] = json!([{
        "name": "proxy",
        "image": "i",
        "restartPolicy": "Always",
        "startupProbe": action(json!({"initialDelaySeconds": 3})),
    }]);
    let container = &mut probed["spec"]["containers"][0];
    container["startupProbe"] = action(json!({"initialDelaySeconds": 2}));
    container["readinessProbe"] =
        action(json!({"initialDelaySeconds": 5, "periodSeconds": 4, "successThreshold": 2}));
    api.post(PODS, &probed).await.created();
    // The sidecar starts at 1 s and has started up at 4 s; the container starts at 5 s, has started up at 7 s, and is ready at 14 s.
    let mut seen = Vec::new();
    sleep(Duration::from_millis(4_500)).await;
    for _ in 0..10 {
        let pod = get(&api, "p").await;
        assert_eq!(pod["status"]["initContainerStatuses"][0]["started"], true);
        seen.push((state(&pod, "/status/containerStatuses/0"), is_ready(&pod)));
        seconds(1).await;
    }
    let times = |wanted: &(String, [bool; 2])| seen.iter().filter(|it| *it == wanted).count();
    let running = |started, ready| ("running ".to_owned(), [started, ready]);
    assert_eq!(seen[0].0, "waiting PodInitializing");
    assert_eq!(times(&running(false, false)), 2, "{seen:?}");
    assert_eq!(times(&running(true, false)), 7, "{seen:?}");
    let pod = get(&api, "p").await;
    assert_eq!(is_ready(&pod), [true, true]);
}

#[tokio::test(start_paused = true)]
async fn a_container_that_a_stage_keeps_unready_fails_its_probe_again_and_again() {
    let never = Stage::of_pods("never")
        .with_container("c")
        .with_readiness(None);
    let api = api([never]);
    let mut probed = pod("p", "");
    probed["spec"]["containers"][0]["readinessProbe"] =
        json!({"exec": {"command": ["true"]}, "initialDelaySeconds": 1, "periodSeconds": 2});
    api.post(PODS, &probed).await.created();
    // It starts at 1 s, and is asked at 2, 4, 6 s.
    sleep(Duration::from_millis(6_500)).await;
    assert_eq!(is_ready(&get(&api, "p").await), [true, false]);
    let last = events_of(&api, "p").await.pop().unwrap();
    assert_eq!(last, "3 Unhealthy Readiness probe failed: a stage says so");
}

#[tokio::test(start_paused = true)]
async fn a_container_whose_probe_fails_is_killed_and_starts_again() {
    let alive = Stage::of_pods("liveness")
        .with_label("a", "b")
        .with_times(1)
        .with_failing_liveness(Duration::from_secs(3));
    let slow = Stage::of_pods("startup")
        .with_container("slow")
        .with_failing_startup();
    let api = api([alive, slow]);
    let probe = json!({"exec": {"command": ["true"]}, "periodSeconds": 2, "failureThreshold": 2});
    let mut dying = pod("dying", "");
    dying["metadata"]["labels"] = json!({"a": "b"});
    dying["spec"]["containers"][0]["livenessProbe"] = probe.clone();
    api.post(PODS, &dying).await.created();
    let mut starting = pod("starting", "");
    starting["spec"]["restartPolicy"] = json!("Never");
    starting["spec"]["containers"] = json!([{"name": "slow", "image": "i", "startupProbe": probe}]);
    api.post(PODS, &starting).await.created();
    // Both start at 1 s. One fails at 4 and 6 s, the other at 1 and 3 s.
    sleep(Duration::from_millis(2_500)).await;
    assert_eq!(is_ready(&get(&api, "starting").await), [false, false]);
    assert_eq!(is_ready(&get(&api, "dying").await), [true, true]);
    seconds(5).await;
    let again = get(&api, "dying").await;
    let status = &again["status"]["containerStatuses"][0];
    assert_eq!(status["restartCount"], 1);
    assert_eq!(status["lastState"]["terminated"]["exitCode"], 137);
    assert_eq!(is_ready(&again), [true, true]);
    assert_eq!(get(&api, "starting").await["status"]["phase"], "Failed");
    let events = events_of(&api, "dying").await;
    for wanted in [
        "2 Unhealthy Liveness probe failed: a stage says so",
        "1 Killing Container c failed liveness probe, will be restarted",
    ] {
        assert!(
            events.iter().any(|it| it == wanted),
            "{wanted}: {events:#?}"
        );
    }
    let events = events_of(&api, "starting").await;
    let wanted = "2 Unhealthy Startup probe failed: a stage says so";
    assert!(events.iter().any(|it| it == wanted), "{events:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_hook_before_the_end_delays_it_as_long_as_the_grace_period_allows() {
    let api = api([]);
    for (name, hook, grace, ends) in [
        ("sleeps", json!({"sleep": {"seconds": 4}}), 30, 5),
        (
            "runs",
            json!({"exec": {"command": ["sh", "-c", "echo bye; sleep 6"]}}),
            30,
            7,
        ),
        (
            "asks",
            json!({"exec": {"command": ["nginx", "-s", "quit"]}}),
            30,
            1,
        ),
        (
            "hangs",
            json!({"exec": {"command": ["sleep", "infinity"]}}),
            3,
            3,
        ),
    ] {
        let mut hooked = pod(name, "");
        hooked["spec"]["terminationGracePeriodSeconds"] = json!(grace);
        hooked["spec"]["containers"][0]["lifecycle"] = json!({"preStop": hook});
        api.post(PODS, &hooked).await.created();
        api.settle().await;
        api.delete(&format!("{PODS}/{name}")).await.ok();
        sleep(Duration::from_millis(ends * 1_000 - 200)).await;
        let path = format!("{PODS}/{name}");
        assert_eq!(
            state(&get(&api, name).await, "/status/containerStatuses/0"),
            "running ",
            "{name}"
        );
        seconds(1).await;
        assert_eq!(api.get(&path).await.code, 404, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn rules_of_a_container_say_after_which_codes_it_starts_again() {
    let exits = [("again", 42), ("over", 1)].map(|(name, code)| {
        Stage::of_pods(name)
            .with_container(name)
            .with_exit(Duration::from_secs(1), code)
    });
    let api = api(exits);
    let restarts = json!([{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]);
    for name in ["again", "over"] {
        let mut ruled = pod(name, "");
        ruled["spec"]["containers"] = json!([{
            "name": name, "image": "i", "restartPolicy": "Never", "restartPolicyRules": restarts,
        }]);
        api.post(PODS, &ruled).await.created();
    }
    seconds(5).await;
    let again = get(&api, "again").await;
    assert_eq!(again["status"]["phase"], "Running");
    assert_eq!(again["status"]["containerStatuses"][0]["restartCount"], 1);
    assert_eq!(
        state(&again, "/status/containerStatuses/0"),
        "waiting CrashLoopBackOff"
    );
    assert_eq!(get(&api, "over").await["status"]["phase"], "Failed");
}

#[tokio::test(start_paused = true)]
async fn an_invalid_image_name_has_an_event_and_a_wait() {
    let api = api([]);
    let mut invalid = pod("p", "");
    invalid["spec"]["containers"][0]["image"] = json!("nginx:::");
    api.post(PODS, &invalid).await.created();
    api.settle().await;
    let why = "Failed to apply default image tag \"nginx:::\": couldn't parse image name \"nginx:::\": invalid reference format";
    let stuck = get(&api, "p").await;
    assert_eq!(
        state(&stuck, "/status/containerStatuses/0"),
        "waiting InvalidImageName"
    );
    assert_eq!(
        stuck["status"]["containerStatuses"][0]["state"]["waiting"]["message"],
        why
    );
    assert_eq!(
        events_of(&api, "p").await,
        [
            format!("1 InspectFailed {why}"),
            "1 Failed Error: InvalidImageName".to_owned()
        ]
    );
    let image = json!({"spec": {"containers": [{"name": "c", "image": "nginx"}]}});
    api.strategic(&format!("{PODS}/p"), &image).await.ok();
    api.settle().await;
    let pod = get(&api, "p").await;
    assert_eq!(state(&pod, "/status/containerStatuses/0"), "running ");
    assert_eq!(pod["status"]["containerStatuses"][0]["image"], "nginx");
}

#[tokio::test(start_paused = true)]
async fn an_ephemeral_container_ends_with_its_command_and_is_never_ready() {
    let api = api([]);
    api.post(PODS, &pod("p", "")).await.created();
    api.settle().await;
    let add = json!({"spec": {"ephemeralContainers": [
        {"name": "brief", "image": "i", "command": ["sleep", "5"]},
        {"name": "shell", "image": "i", "command": ["sh"], "stdin": true, "tty": true},
    ]}});
    api.strategic(&format!("{PODS}/p/ephemeralcontainers"), &add)
        .await
        .ok();
    seconds(3).await;
    let of = |pod: &Value| {
        let all = pod["status"]["ephemeralContainerStatuses"]
            .as_array()
            .unwrap();
        assert!(
            all.iter()
                .all(|it| it["ready"] == false && it.get("started").is_none()),
            "{all:?}"
        );
        ["0", "1"].map(|at| state(pod, &format!("/status/ephemeralContainerStatuses/{at}")))
    };
    assert_eq!(of(&get(&api, "p").await), ["running ", "running "]);
    seconds(5).await;
    let pod = get(&api, "p").await;
    assert_eq!(of(&pod), ["terminated Completed", "running "]);
    assert_eq!(is_ready(&pod), [true, true], "the pod goes on");
}

#[tokio::test(start_paused = true)]
async fn an_annotation_that_is_invalid_or_without_effect_has_an_event() {
    let api = api([]);
    for (name, code, policy, why) in [
        (
            "wrong",
            "abc",
            "Never",
            "is \"abc\", and no code from 0 to 255",
        ),
        (
            "much",
            "256",
            "Never",
            "is \"256\", and no code from 0 to 255",
        ),
        (
            "always",
            "3",
            "Always",
            "does nothing to containers that always restart",
        ),
    ] {
        let mut annotated = pod(name, "");
        annotated["spec"]["restartPolicy"] = json!(policy);
        annotated["metadata"]["annotations"] = json!({"fakeserver/exit-code": code});
        api.post(PODS, &annotated).await.created();
        api.settle().await;
        let events = events_of(&api, name).await;
        let events = events.iter().filter(|it| it.contains("InvalidAnnotation"));
        let events: Vec<&String> = events.collect();
        assert_eq!(events.len(), 1, "{events:?}");
        assert!(events[0].contains(why), "{events:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_of_a_controller_is_as_if_a_client_had_created_it() {
    let api = api([]);
    let mut set = deployment("d");
    set["spec"]["template"]["spec"]["nodeSelector"] = json!({"disk": "ssd"});
    api.post(DEPLOYMENTS, &set).await.created();
    api.post(PODS, &pod("p", "")).await.created();
    api.settle().await;
    let events = api.get(EVENTS).await.ok()["items"].take();
    let events = events.as_array().unwrap();
    let reasons: Vec<&Value> = events.iter().map(|event| &event["reason"]).collect();
    for reason in [
        "ScalingReplicaSet",
        "FailedScheduling",
        "Scheduled",
        "Started",
    ] {
        assert!(reasons.contains(&&json!(reason)), "{reasons:?}");
    }
    for (number, event) in events.iter().enumerate() {
        let manager = event["metadata"]["managedFields"][0]["manager"]
            .as_str()
            .unwrap();
        let mut copy = event.clone();
        copy["metadata"] = json!({"name": format!("copy-{number}")});
        let headers = [
            ("content-type", "application/json"),
            ("user-agent", manager),
        ];
        let answer = api.send("POST", EVENTS, &headers, copy.to_string()).await;
        let mut created = answer.created();
        for field in ["apiVersion", "kind"] {
            created.as_object_mut().unwrap().remove(field);
        }
        for field in ["name", "uid", "resourceVersion", "creationTimestamp"] {
            created["metadata"][field] = event["metadata"][field].clone();
        }
        let time = &event["metadata"]["managedFields"][0]["time"];
        created["metadata"]["managedFields"][0]["time"] = time.clone();
        assert_eq!(created, *event);
    }
}

/// Makes a pod of one container that asks for a processor, with a policy for the resize of processors.
async fn resizable(api: &Api, name: &str, policy: &str) {
    let mut pod = pod(name, "");
    pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    pod["spec"]["containers"][0]["resizePolicy"] =
        json!([{"resourceName": "cpu", "restartPolicy": policy}]);
    api.post(PODS, &pod).await.created();
    api.settle().await;
}

async fn resize(api: &Api, name: &str, cpu: &str) -> Value {
    let pod = get(api, name).await;
    let container = &pod["spec"]["containers"][0]["name"];
    let wanted = json!([{"name": container, "resources": {"requests": {"cpu": cpu}}}]);
    let patch = json!({"spec": {"containers": wanted}});
    api.strategic(&format!("{PODS}/{name}/resize"), &patch)
        .await
        .ok();
    api.settle().await;
    get(api, name).await
}

fn condition<'a>(pod: &'a Value, kind: &str) -> Option<&'a Value> {
    let mut all = pod["status"]["conditions"].as_array().unwrap().iter();
    all.find(|condition| condition["type"] == kind)
}

#[tokio::test(start_paused = true)]
async fn a_resize_waits_for_room() {
    let api = api([]);
    for name in ["p", "other"] {
        resizable(&api, name, "NotRequired").await;
    }
    let offered = api.get("/api/v1/nodes/node-0").await.ok()["status"]["allocatable"]["cpu"]
        .as_str()
        .unwrap()
        .parse::<u32>()
        .unwrap();
    let given = |pod: &Value| {
        let status = &pod["status"]["containerStatuses"][0];
        status["resources"]["requests"]["cpu"].clone()
    };
    let impossible = resize(&api, "p", &(offered + 1).to_string()).await;
    assert_eq!(given(&impossible), "1");
    let pending = condition(&impossible, "PodResizePending").unwrap();
    assert_eq!(pending["reason"], "Infeasible");
    let later = resize(&api, "p", &offered.to_string()).await;
    assert_eq!(
        condition(&later, "PodResizePending").unwrap()["reason"],
        "Deferred"
    );
    api.delete(&format!("{PODS}/other")).await.ok();
    seconds(60).await;
    let resized = get(&api, "p").await;
    assert_eq!(given(&resized), offered.to_string());
    assert!(condition(&resized, "PodResizePending").is_none());
    assert_eq!(resized["status"]["containerStatuses"][0]["restartCount"], 0);
    let events = events_of(&api, "p").await;
    let reasons = [
        "ResizeInfeasible",
        "ResizeDeferred",
        "ResizeStarted",
        "ResizeCompleted",
    ];
    let of_resize = events.iter().filter(|it| it.contains(" Resize"));
    let of_resize: Vec<&str> = of_resize.map(|it| it.split(' ').nth(1).unwrap()).collect();
    assert_eq!(of_resize, reasons);
}

#[tokio::test(start_paused = true)]
async fn a_container_restarts_for_a_resize_by_its_policy() {
    let api = api([]);
    resizable(&api, "p", "RestartContainer").await;
    let resized = resize(&api, "p", "2").await;
    let status = &resized["status"]["containerStatuses"][0];
    assert_eq!(status["restartCount"], 1);
    assert_eq!(status["lastState"]["terminated"]["exitCode"], 137);
    assert_eq!(status["resources"]["requests"]["cpu"], "2");
    let events = events_of(&api, "p").await;
    assert!(
        events
            .iter()
            .any(|it| it.ends_with(" resize requires restart")),
        "{events:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_pod_gets_an_address_that_no_other_one_has() {
    let api = api([]);
    let mut known = pod("known", "");
    known["spec"]["nodeName"] = json!("elsewhere");
    api.post(PODS, &known).await.created();
    let status = json!({"status": {"phase": "Running", "podIP": "10.128.0.1"}});
    api.merge(&format!("{PODS}/known/status"), &status)
        .await
        .ok();
    api.post(PODS, &pod("p", "")).await.created();
    api.settle().await;
    assert_eq!(get(&api, "p").await["status"]["podIP"], "10.128.0.2");
}

#[tokio::test(start_paused = true)]
async fn a_pod_without_room_on_its_node_is_rejected() {
    let api = api([]);
    let with_port = |name: &str| {
        let mut pod = pod(name, "node-0");
        pod["spec"]["containers"][0]["ports"] = json!([{"containerPort": 80, "hostPort": 80}]);
        pod
    };
    api.post(PODS, &with_port("first")).await.created();
    api.settle().await;
    api.post(PODS, &with_port("second")).await.created();
    api.settle().await;
    let why =
        "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
    let status = get(&api, "second").await["status"].clone();
    let stated = ["phase", "reason", "message"].map(|field| status[field].clone());
    let message = format!("Pod was rejected: {why}");
    assert_eq!(stated, ["Failed", "NodePorts", &message]);
    assert_eq!(
        events_of(&api, "second").await,
        [format!("1 NodePorts {why}")]
    );
    // Its node has the port again.
    api.delete(&format!("{PODS}/first")).await.ok();
    seconds(40).await;
    api.post(PODS, &with_port("third")).await.created();
    api.settle().await;
    assert_eq!(get(&api, "third").await["status"]["phase"], "Running");
}

#[tokio::test(start_paused = true)]
async fn a_container_starts_again_with_its_new_image() {
    let api = api([]);
    api.post(PODS, &pod("p", "")).await.created();
    api.settle().await;
    let container = get(&api, "p").await["spec"]["containers"][0]["name"].clone();
    let patch = json!({"spec": {"containers": [{"name": container, "image": "other:2"}]}});
    api.strategic(&format!("{PODS}/p"), &patch).await.ok();
    api.settle().await;
    let pod = get(&api, "p").await;
    let status = &pod["status"]["containerStatuses"][0];
    assert_eq!(status["restartCount"], 1);
    assert_eq!(status["image"], "other:2");
    assert_eq!(is_ready(&pod), [true, true]);
    let events = events_of(&api, "p").await;
    let killing = "1 Killing Container c definition changed, will be restarted";
    assert!(events.iter().any(|it| it == killing), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn a_container_that_is_to_end_ends_as_its_command_says() {
    let api = api([]);
    for (name, init, command) in [
        ("exits", json!(["true"]), json!(["sh", "-c", "exit 3"])),
        ("sleeps", json!(["true"]), json!(["sleep", "1000000"])),
        ("fails", json!(["false"]), json!(["true"])),
    ] {
        let mut pod = pod(name, "");
        pod["spec"]["restartPolicy"] = json!("Never");
        pod["spec"]["containers"][0]["command"] = command;
        pod["spec"]["initContainers"] = json!([{"name": "i", "image": "i", "command": init}]);
        api.post(PODS, &pod).await.created();
    }
    seconds(60).await;
    let exits = get(&api, "exits").await;
    assert_eq!(exits["status"]["phase"], "Failed");
    let ended = &exits["status"]["containerStatuses"][0]["state"]["terminated"];
    assert_eq!(ended["exitCode"], 3);
    assert_eq!(get(&api, "sleeps").await["status"]["phase"], "Running");
    let fails = get(&api, "fails").await;
    assert_eq!(fails["status"]["phase"], "Failed");
    assert_eq!(
        state(&fails, "/status/containerStatuses/0"),
        "waiting PodInitializing"
    );
}
