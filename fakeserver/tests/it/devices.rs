//! Claims of devices: made for pods, given devices of slices, and given back.

use std::time::Duration;

use fakeserver::{Controllers, Workloads};
use serde_json::{Value, json};

use crate::support::{Api, PODS, pod};

const GROUP: &str = "/apis/resource.k8s.io/v1";
const CLAIMS: &str = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
const TEMPLATES: &str = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates";
const EVENTS: &str = "/api/v1/namespaces/default/events";

/// A cluster whose node has so many devices of the class `gpu`.
async fn cluster(devices: usize) -> Api {
    let api = Api::with(Controllers::default().with_workloads(Workloads::default()));
    let class = json!({"metadata": {"name": "gpu"}, "spec": {
        "selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}],
    }});
    api.post(&format!("{GROUP}/deviceclasses"), &class)
        .await
        .created();
    let devices: Vec<Value> = (0..devices)
        .map(|number| json!({"name": format!("gpu-{number}")}))
        .collect();
    let slice = json!({"metadata": {"name": "s"}, "spec": {
        "driver": "gpu.example.com", "nodeName": "node-0", "devices": devices,
        "pool": {"name": "node-0", "generation": 1, "resourceSliceCount": 1},
    }});
    api.post(&format!("{GROUP}/resourceslices"), &slice)
        .await
        .created();
    api.settle().await;
    api
}

fn spec() -> Value {
    json!({"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}})
}

async fn make_template(api: &Api) {
    let template = json!({"metadata": {"name": "t"}, "spec": {"metadata": {"labels": {"a": "b"}}, "spec": spec()}});
    api.post(TEMPLATES, &template).await.created();
}

/// A pod that refers to a claim, or to the template.
fn user(name: &str, claim: Option<&str>) -> Value {
    let mut user = pod(name, "");
    user["spec"]["resourceClaims"] = match claim {
        Some(claim) => json!([{"name": "gpu", "resourceClaimName": claim}]),
        None => json!([{"name": "gpu", "resourceClaimTemplateName": "t"}]),
    };
    user["spec"]["containers"][0]["resources"] = json!({"claims": [{"name": "gpu"}]});
    user
}

async fn claims(api: &Api) -> Vec<Value> {
    let list = api.get(CLAIMS).await.ok();
    list["items"].as_array().unwrap().clone()
}

async fn get(api: &Api, name: &str) -> Value {
    api.get(&format!("{PODS}/{name}")).await.ok()
}

async fn messages(api: &Api, reason: &str) -> Vec<String> {
    let list = api.get(EVENTS).await.ok();
    let events = list["items"].as_array().unwrap().iter();
    let events_of_reason = events.filter(|event| event["reason"] == reason);
    events_of_reason
        .map(|event| event["message"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_made_for_a_pod_and_goes_with_it() {
    let api = cluster(1).await;
    make_template(&api).await;
    api.post(PODS, &user("web", None)).await.created();
    api.settle().await;
    let web = get(&api, "web").await;
    assert_eq!(web["status"]["phase"], "Running");
    let [claim] = claims(&api).await.try_into().unwrap();
    let metadata = &claim["metadata"];
    let name = metadata["name"].as_str().unwrap();
    assert!(name.starts_with("web-gpu-") && name.len() == 13, "{name}");
    assert_eq!(
        web["status"]["resourceClaimStatuses"],
        json!([{"name": "gpu", "resourceClaimName": name}])
    );
    assert_eq!(metadata["labels"], json!({"a": "b"}));
    assert_eq!(
        metadata["annotations"],
        json!({"resource.kubernetes.io/pod-claim-name": "gpu"})
    );
    let owner = &metadata["ownerReferences"][0];
    assert_eq!(
        json!([owner["kind"], owner["name"], owner["controller"]]),
        json!(["Pod", "web", true])
    );
    assert_eq!(
        metadata["finalizers"],
        json!(["resource.kubernetes.io/delete-protection"])
    );
    let status = &claim["status"];
    let uid = &web["metadata"]["uid"];
    assert_eq!(
        status["reservedFor"],
        json!([{"resource": "pods", "name": "web", "uid": uid}])
    );
    let result =
        json!({"request": "r", "driver": "gpu.example.com", "pool": "node-0", "device": "gpu-0"});
    assert_eq!(status["allocation"]["devices"]["results"], json!([result]));

    api.post(PODS, &user("late", None)).await.created();
    api.settle().await;
    let late = get(&api, "late").await;
    assert_eq!(late["status"]["phase"], "Pending");
    let why = "0/1 nodes are available: 1 cannot allocate all claims. still not schedulable, preemption: 0/1 nodes are \
               available: 1 Preemption is not helpful for scheduling.";
    assert_eq!(messages(&api, "FailedScheduling").await, [why]);
    api.delete(&format!("{PODS}/web")).await.ok();
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(get(&api, "late").await["status"]["phase"], "Running");
    let [claim] = claims(&api).await.try_into().unwrap();
    assert_eq!(claim["metadata"]["ownerReferences"][0]["name"], "late");
    api.delete(&format!("{PODS}/late")).await.ok();
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(claims(&api).await, [Value::Null; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_claim_of_several_pods_is_given_back_by_the_last() {
    let api = cluster(1).await;
    let shared = json!({"metadata": {"name": "shared"}, "spec": spec()});
    api.post(PODS, &user("one", Some("shared"))).await.created();
    api.settle().await;
    let one = get(&api, "one").await;
    assert!(one["spec"]["nodeName"].is_null(), "it waits for its claim");
    assert_eq!(messages(&api, "FailedScheduling").await, [""; 0]);
    api.post(CLAIMS, &shared).await.created();
    api.post(PODS, &user("two", Some("shared"))).await.created();
    api.settle().await;
    let [claim] = claims(&api).await.try_into().unwrap();
    let reserved = claim["status"]["reservedFor"].as_array().unwrap().iter();
    let names: Vec<&str> = reserved.map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["one", "two"]);
    api.delete(&format!("{PODS}/one")).await.ok();
    tokio::time::sleep(Duration::from_mins(1)).await;
    let [claim] = claims(&api).await.try_into().unwrap();
    assert_eq!(claim["status"]["reservedFor"][0]["name"], "two");
    assert!(claim["status"]["allocation"].is_object());
    api.delete(&format!("{PODS}/two")).await.ok();
    tokio::time::sleep(Duration::from_mins(1)).await;
    let [claim] = claims(&api).await.try_into().unwrap();
    assert!(claim["status"]["allocation"].is_null(), "{claim}");
    assert!(claim["metadata"]["finalizers"].is_null());
    api.delete(&format!("{CLAIMS}/shared")).await.ok();
    assert_eq!(claims(&api).await, [Value::Null; 0]);
}

#[tokio::test(start_paused = true)]
async fn the_claim_of_a_pod_that_has_ended_is_deleted() {
    let api = cluster(1).await;
    make_template(&api).await;
    let mut job = user("job", None);
    job["spec"]["restartPolicy"] = json!("Never");
    api.post(PODS, &job).await.created();
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(get(&api, "job").await["status"]["phase"], "Succeeded");
    assert_eq!(claims(&api).await, [Value::Null; 0]);
}

#[tokio::test(start_paused = true)]
async fn missing_devices_have_an_event_and_a_wait() {
    let api = cluster(1).await;
    api.post(PODS, &user("web", None)).await.created();
    api.settle().await;
    let why = "PodResourceClaim gpu: resource claim template \"t\": resourceclaimtemplate.resource.k8s.io \"t\" not found";
    assert_eq!(messages(&api, "FailedResourceClaimCreation").await, [why]);
    make_template(&api).await;
    api.settle().await;
    assert_eq!(get(&api, "web").await["status"]["phase"], "Running");
    let mut classless = spec();
    classless["devices"]["requests"][0]["exactly"]["deviceClassName"] = json!("none");
    let claim = json!({"metadata": {"name": "c"}, "spec": classless});
    api.post(CLAIMS, &claim).await.created();
    api.post(PODS, &user("other", Some("c"))).await.created();
    api.settle().await;
    let messages_of_pods = messages(&api, "FailedScheduling").await;
    assert!(
        messages_of_pods[0]
            .starts_with("0/1 nodes are available: request r: device class none does not exist."),
        "{messages_of_pods:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_reserved_for_a_pod_that_has_its_node_already() {
    let api = cluster(1).await;
    let shared = json!({"metadata": {"name": "shared"}, "spec": spec()});
    api.post(CLAIMS, &shared).await.created();
    api.post(PODS, &user("one", Some("shared"))).await.created();
    api.settle().await;
    let mut placed = user("two", Some("shared"));
    placed["spec"]["nodeName"] = json!("node-0");
    api.post(PODS, &placed).await.created();
    api.settle().await;
    let [claim] = claims(&api).await.try_into().unwrap();
    assert_eq!(claim["status"]["reservedFor"].as_array().unwrap().len(), 2);
}
