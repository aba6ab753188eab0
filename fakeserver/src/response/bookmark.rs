//! What a bookmark's object holds beside its version: the fields that the API writes even when they are empty.

/// `,"spec":{...}` as the zero value of `kind` has it, or nothing.
pub(super) fn zero_value(api_version: &str, kind: &str) -> &'static str {
    const NODE: &str = concat!(
        r#","spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"","#,
        r#""systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"","#,
        r#""kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}"#,
    );
    const EVENT: &str = concat!(
        r#","eventTime":null,"regarding":{},"deprecatedSource":{},"deprecatedFirstTimestamp":null,"#,
        r#""deprecatedLastTimestamp":null"#,
    );
    const CORE_EVENT: &str = concat!(
        r#","involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"#,
        r#""eventTime":null,"reportingComponent":"","reportingInstance":"""#,
    );
    match (api_version, kind) {
        ("v1", "Pod") => r#","spec":{"containers":null},"status":{}"#,
        ("v1", "Namespace" | "PersistentVolume" | "ResourceQuota" | "ReplicationController") => {
            r#","spec":{},"status":{}"#
        }
        ("v1", "PersistentVolumeClaim") => r#","spec":{"resources":{}},"status":{}"#,
        ("v1", "Service") => r#","spec":{},"status":{"loadBalancer":{}}"#,
        ("v1", "Node") => NODE,
        ("v1", "Event") => CORE_EVENT,
        ("events.k8s.io/v1", "Event") => EVENT,
        ("autoscaling/v1", "HorizontalPodAutoscaler") => {
            r#","spec":{"scaleTargetRef":{"kind":"","name":""},"maxReplicas":0},"status":{"currentReplicas":0,"desiredReplicas":0}"#
        }
        ("autoscaling/v2", "HorizontalPodAutoscaler") => {
            r#","spec":{"scaleTargetRef":{"kind":"","name":""},"maxReplicas":0},"status":{"desiredReplicas":0,"currentMetrics":null}"#
        }
        ("apps/v1", "Deployment") => {
            r#","spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}"#
        }
        ("apps/v1", "ReplicaSet") => {
            r#","spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},"status":{"replicas":0}"#
        }
        ("coordination.k8s.io/v1", "Lease") => r#","spec":{}"#,
        ("discovery.k8s.io/v1", "EndpointSlice") => {
            r#","addressType":"","endpoints":null,"ports":null"#
        }
        _ => "",
    }
}
