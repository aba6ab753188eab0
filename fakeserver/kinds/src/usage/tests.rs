use fakeserver_value::resource::GroupResource;
use serde_json::json;

use super::*;
use crate::{
    core,
    resource::{device_class, resource_claim},
};

/// Objects beside the one that is counted.
#[derive(Default)]
struct OtherObjects(Vec<(&'static str, Value)>);

impl UsageContext for OtherObjects {
    fn now(&self) -> Timestamp {
        "2030-01-01T00:00:00Z".parse().unwrap()
    }

    fn list(&self, kind: &'static Kind, _: Option<&str>) -> Vec<Value> {
        let all = self.0.iter().filter(|(plural, _)| *plural == kind.plural());
        all.map(|(_, object)| object.clone()).collect()
    }
}

fn usage(kind: &'static Kind, object: &Value) -> String {
    let evaluator = Evaluator::of(kind.storage()).unwrap();
    evaluator
        .usage(object, &OtherObjects::default())
        .to_string()
}

fn quota(spec: &Value, status: &Value) -> Quota {
    Quota::in_force(&json!({"metadata": {"name": "q"}, "spec": spec, "status": status}))
}

#[test]
fn a_pod_takes_the_greater_of_its_containers_and_its_init_containers_at_a_time() {
    let container = |cpu: &str| json!({"name": cpu, "resources": {"requests": {"cpu": cpu}}});
    let mut sidecar = container("200m");
    sidecar["restartPolicy"] = json!("Always");
    let mut pod = json!({"spec": {
        "containers": [container("1"), container("500m")],
        "initContainers": [container("3"), sidecar, container("1")],
    }});
    assert_eq!(declared(&pod, Side::Requests).to_string(), "cpu=3");
    pod["spec"]["initContainers"][0] = container("10m");
    assert_eq!(declared(&pod, Side::Requests).to_string(), "cpu=1700m");
    pod["spec"]["resources"] = json!({"requests": {"cpu": "9", "hugepages-2Mi": "4Mi"}});
    assert_eq!(declared(&pod, Side::Requests).to_string(), "cpu=9");
}

#[test]
fn a_pod_counts_its_requests_and_limits_until_it_ends() {
    let mut pod = json!({
        "spec": {
            "overhead": {"cpu": "50m", "memory": "1Mi"},
            "containers": [{"name": "c", "resources": {
                "requests": {"cpu": "100m", "hugepages-2Mi": "4Mi", "example.com/gpu": "2"},
                "limits": {"memory": "1Gi", "example.com/gpu": "2"},
            }}],
        },
        "status": {"containerStatuses": [
            {"name": "c", "resources": {"requests": {"cpu": "300m"}}, "allocatedResources": {"cpu": "200m"}},
        ]},
    });
    let counted = "count/pods=1,cpu=350m,hugepages-2Mi=4Mi,limits.memory=1025Mi,memory=1Mi,pods=1,\
                   requests.cpu=350m,requests.example.com/gpu=2,requests.hugepages-2Mi=4Mi,requests.memory=1Mi";
    assert_eq!(usage(&core::pod::KIND, &pod), counted);
    pod["status"]["phase"] = json!("Succeeded");
    assert_eq!(usage(&core::pod::KIND, &pod), "count/pods=1");
    pod["status"]["phase"] = json!("Running");
    pod["metadata"] =
        json!({"deletionTimestamp": "2029-12-31T23:59:00Z", "deletionGracePeriodSeconds": 60});
    assert_eq!(
        usage(&core::pod::KIND, &pod),
        counted,
        "it may end in this moment"
    );
    pod["metadata"]["deletionGracePeriodSeconds"] = json!(59);
    assert_eq!(usage(&core::pod::KIND, &pod), "count/pods=1");
}

#[test]
fn services_count_the_ports_that_nodes_give_them() {
    let service = |spec: Value| usage(&core::service::KIND, &json!({"spec": spec}));
    let ports = json!([{"port": 1}, {"port": 2, "nodePort": 30_000}]);
    let count = |node_ports: u8, balancers: u8| {
        format!(
            "count/services=1,services=1,services.loadbalancers={balancers},services.nodeports={node_ports}"
        )
    };
    assert_eq!(service(json!({"ports": ports})), count(0, 0));
    assert_eq!(
        service(json!({"type": "NodePort", "ports": ports})),
        count(2, 0)
    );
    let mut balanced = json!({"type": "LoadBalancer", "ports": ports});
    assert_eq!(service(balanced.clone()), count(2, 1));
    balanced["allocateLoadBalancerNodePorts"] = json!(false);
    assert_eq!(service(balanced), count(1, 1));
}

#[test]
fn claims_count_for_their_class_in_whole_bytes() {
    let mut claim = json!({"spec": {
        "storageClassName": "gold",
        "resources": {"requests": {"storage": "1500m"}},
    }});
    let count = |size: &str| {
        format!(
            "count/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,\
             gold.storageclass.storage.k8s.io/requests.storage={size},persistentvolumeclaims=1,requests.storage={size}"
        )
    };
    assert_eq!(
        usage(&core::persistent_volume_claim::KIND, &claim),
        count("2")
    );
    claim["status"]["allocatedResources"] = json!({"storage": "1Gi"});
    assert_eq!(
        usage(&core::persistent_volume_claim::KIND, &claim),
        count("1Gi")
    );
}

#[test]
fn claims_to_devices_count_for_their_class_and_for_the_resource_that_it_stands_for() {
    let class =
        json!({"metadata": {"name": "big"}, "spec": {"extendedResourceName": "example.com/gpu"}});
    let others = OtherObjects(vec![(device_class::KIND.plural(), class)]);
    let exactly = |count: u8| json!({"deviceClassName": "big", "allocationMode": "ExactCount", "count": count});
    let claim = json!({"spec": {"devices": {"requests": [
        {"exactly": exactly(2)},
        {"firstAvailable": [exactly(1), exactly(3), {"deviceClassName": "small", "allocationMode": "All"}]},
    ]}}});
    let evaluator = Evaluator::of(resource_claim::KIND.storage()).unwrap();
    assert_eq!(
        evaluator.usage(&claim, &others).to_string(),
        "big.deviceclass.resource.k8s.io/devices=5,count/resourceclaims.resource.k8s.io=1,\
         requests.deviceclass.resource.kubernetes.io/big=5,requests.deviceclass.resource.kubernetes.io/small=32,\
         requests.example.com/gpu=5,small.deviceclass.resource.k8s.io/devices=32"
    );
    assert!(evaluator.counts("requests.example.com/gpu", &others));
    assert!(!evaluator.counts("requests.example.com/gpu", &OtherObjects::default()));
}

#[test]
fn scopes_select_pods() {
    let pods = Evaluator::of(core::pod::KIND.storage()).unwrap();
    let plain = json!({"spec": {"containers": []}, "status": {"qosClass": "BestEffort"}});
    let mut other = json!({
        "spec": {
            "activeDeadlineSeconds": 5,
            "priorityClassName": "high",
            "affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                {"podAffinityTerm": {"namespaceSelector": {}}},
            ]}},
        },
        "status": {"qosClass": "Burstable"},
    });
    let is_in = |spec: Value, pod: &Value| quota(&spec, &json!({})).has_in_scope(&pods, pod);
    for (scope, has_plain) in [
        ("Terminating", false),
        ("NotTerminating", true),
        ("BestEffort", true),
        ("NotBestEffort", false),
        ("PriorityClass", false),
        ("CrossNamespacePodAffinity", false),
    ] {
        let spec = json!({"scopes": [scope]});
        assert_eq!(is_in(spec.clone(), &plain), has_plain, "{scope}");
        assert_eq!(is_in(spec, &other), !has_plain, "{scope}");
    }
    assert!(!is_in(json!({"scopes": ["VolumeAttributesClass"]}), &other));
    let priority = |operator: &str, values: &[&str]| {
        json!({"scopeSelector": {"matchExpressions": [
            {"scopeName": "PriorityClass", "operator": operator, "values": values},
        ]}})
    };
    assert!(is_in(priority("In", &["low", "high"]), &other));
    assert!(!is_in(priority("NotIn", &["high"]), &other));
    assert!(is_in(priority("NotIn", &["high"]), &plain));
    assert!(is_in(priority("DoesNotExist", &[]), &plain));
    other["spec"]["priorityClassName"] = json!("");
    assert!(!is_in(priority("Exists", &[]), &other));
}

#[test]
fn a_name_in_a_quota_has_an_evaluator() {
    let none = OtherObjects::default();
    let counting = |name: &str| -> Vec<String> {
        let evaluators = Evaluator::counting(name, &none);
        evaluators
            .iter()
            .map(|found| found.resource().to_string())
            .collect()
    };
    assert_eq!(counting("secrets"), ["secrets"]);
    assert_eq!(
        counting("count/widgets.example.com"),
        ["widgets.example.com"]
    );
    assert_eq!(counting("limits.cpu"), ["pods"]);
    assert_eq!(counting("requests.storage"), ["persistentvolumeclaims"]);
    assert_eq!(counting("requests.example.com/gpu"), ["pods"]);
    assert_eq!(counting("count/events"), [""; 0]);
    assert_eq!(counting("nonsense"), [""; 0]);
    let widgets = Evaluator::of(&GroupResource::new("example.com", "widgets")).unwrap();
    assert!(widgets.counts("count/widgets.example.com", &none));
    assert!(!widgets.counts("widgets", &none));
}

#[test]
fn an_update_is_charged_its_increase() {
    let claims = Evaluator::of(core::persistent_volume_claim::KIND.storage()).unwrap();
    let claim = |size: &str| json!({"spec": {"resources": {"requests": {"storage": size}}}});
    let status = json!({
        "hard": {"requests.storage": "3Gi", "persistentvolumeclaims": "1"},
        "used": {"requests.storage": "1Gi", "persistentvolumeclaims": "1"},
    });
    let quotas = [quota(&json!({}), &status)];
    let charged = |old: Option<&Value>, size: &str, is_limited: bool| {
        let change = Change {
            evaluator: &claims,
            new: &claim(size),
            old,
            is_limited,
        };
        let charged = charge(&quotas, change, &OtherObjects::default())?;
        Ok(charged[0].as_ref().map(Amounts::to_string))
    };
    let old = claim("1Gi");
    let used = |text: &str| {
        Ok(Some(format!(
            "persistentvolumeclaims=1,requests.storage={text}"
        )))
    };
    assert_eq!(charged(Some(&old), "3Gi", true), used("3Gi"));
    assert_eq!(charged(Some(&old), "1Gi", true), Ok(None));
    assert_eq!(
        charged(Some(&old), "512Mi", true),
        Ok(None),
        "the controller gives back"
    );
    assert_eq!(charged(Some(&old), "5Gi", false), used("5Gi"));
    let exceeded = "exceeded quota: q, requested: persistentvolumeclaims=1,requests.storage=4Gi, \
                    used: persistentvolumeclaims=1,requests.storage=1Gi, \
                    limited: persistentvolumeclaims=1,requests.storage=3Gi";
    assert_eq!(charged(None, "4Gi", true), Err(exceeded.to_owned()));
}

#[test]
fn a_quota_reports_missing_requests_and_unknown_usage() {
    let pods = Evaluator::of(core::pod::KIND.storage()).unwrap();
    let pod = json!({"spec": {
        "containers": [{"name": "b"}, {"name": "a", "resources": {"requests": {"cpu": "1"}}}],
        "initContainers": [{"name": "i"}],
    }});
    let refused = |status: Value| {
        let change = Change {
            evaluator: &pods,
            new: &pod,
            old: None,
            is_limited: true,
        };
        charge(
            &[quota(&json!({}), &status)],
            change,
            &OtherObjects::default(),
        )
        .unwrap_err()
    };
    assert_eq!(
        refused(
            json!({"hard": {"cpu": "1", "limits.memory": "1", "requests.ephemeral-storage": "1"}})
        ),
        "failed quota: q: must specify cpu for: b,i; limits.memory for: a,b,i"
    );
    assert_eq!(
        refused(
            json!({"hard": {"pods": "1", "count/pods": "1", "secrets": "1"}, "used": {"pods": "0"}})
        ),
        "status unknown for quota: q, resources: count/pods,pods"
    );
}
