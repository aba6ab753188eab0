//! Pod templates of the size and the shape that people deploy.

use serde_json::{Value, json};

use crate::simulated::hole::Placeholder;

/// The kind of program that runs in a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulated) enum Profile {
    /// An HTTP service behind a proxy.
    Web,
    /// A service that reads a database, with a metrics exporter.
    Backend,
    /// Something that takes work from a queue, with a shipper of logs.
    Worker,
    /// An agent on every node.
    Agent,
    /// Something that runs to its end.
    Batch,
}

// === impl Profile ===

impl Profile {
    /// In the order of their numbers; those of deployments first.
    pub(in crate::simulated) const ALL: [Self; 5] = [
        Self::Web,
        Self::Backend,
        Self::Worker,
        Self::Agent,
        Self::Batch,
    ];

    /// Returns whether its pods are those of deployments.
    pub(in crate::simulated) fn is_service(self) -> bool {
        !matches!(self, Self::Agent | Self::Batch)
    }

    /// The name of the second container, and its image.
    fn sidecar(self) -> (&'static str, &'static str) {
        match self {
            Self::Web => ("envoy", "registry.example.com/platform/envoy"),
            Self::Backend => ("exporter", "registry.example.com/platform/exporter"),
            Self::Worker => ("log-shipper", "registry.example.com/platform/fluent-bit"),
            Self::Agent => ("metrics", "registry.example.com/platform/kube-rbac-proxy"),
            Self::Batch => ("uploader", "registry.example.com/platform/uploader"),
        }
    }

    fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Web => &[("LISTEN_ADDRESS", "0.0.0.0:8080"), ("LOG_LEVEL", "info")],
            Self::Backend => &[
                ("DATABASE_POOL_SIZE", "32"),
                ("CACHE_ADDRESS", "redis-master.cache.svc.cluster.local:6379"),
            ],
            Self::Worker => &[
                (
                    "QUEUE_URL",
                    "amqp://rabbitmq.messaging.svc.cluster.local:5672",
                ),
                ("WORKER_CONCURRENCY", "16"),
            ],
            Self::Agent => &[("HOST_ROOT", "/host")],
            Self::Batch => &[("BATCH_SIZE", "5000")],
        }
    }
}

/// The template of pods of a profile.
pub(super) fn template(profile: Profile) -> Value {
    let app = Placeholder::App.text();
    let restarts = if profile == Profile::Batch {
        "Never"
    } else {
        "Always"
    };
    let mut template = json!({
        "metadata": {
            "labels": {
                "app.kubernetes.io/name": app,
                "app.kubernetes.io/version": Placeholder::Version.text(),
            },
            "annotations": {"checksum/config": Placeholder::Digest.text()},
        },
        "spec": {
            "restartPolicy": restarts,
            "terminationGracePeriodSeconds": 30,
            "serviceAccountName": "default",
            "securityContext": {"runAsNonRoot": true, "fsGroup": 2000},
            "containers": [main_container(profile), sidecar(profile)],
            "volumes": [
                {"name": "config", "configMap": {"name": format!("{app}-config"), "defaultMode": 420}},
            ],
        },
    });
    if profile == Profile::Agent {
        template["spec"]["hostNetwork"] = json!(true);
        template["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
        template["spec"]["priorityClassName"] = json!("system-node-critical");
    }
    template
}

/// The image of the program itself.
pub(super) fn image() -> String {
    format!(
        "registry.example.com/apps/{}:{}",
        Placeholder::App.text(),
        Placeholder::Version.text()
    )
}

/// Returns the image of the sidecar.
pub(super) fn sidecar_image(profile: Profile) -> String {
    format!("{}:v1.31.2", profile.sidecar().1)
}

pub(super) fn sidecar_name(profile: Profile) -> &'static str {
    profile.sidecar().0
}

fn main_container(profile: Profile) -> Value {
    let app = Placeholder::App.text();
    let mut env: Vec<Value> = profile
        .settings()
        .iter()
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    env.push(json!({
        "name": "POD_NAME",
        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}},
    }));
    env.push(json!({
        "name": "PASSWORD",
        "valueFrom": {"secretKeyRef": {"name": format!("{app}-credentials"), "key": "password"}},
    }));
    let mut container = json!({
        "name": "app",
        "image": image(),
        "imagePullPolicy": "IfNotPresent",
        "args": ["--config=/etc/app/config.yaml"],
        "env": env,
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "resources": {
            "requests": {"cpu": "250m", "memory": "512Mi"},
            "limits": {"cpu": "1", "memory": "1Gi"},
        },
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/app", "readOnly": true},
        ],
    });
    if profile != Profile::Batch {
        container["readinessProbe"] = probe("/ready", 5, 10);
        container["livenessProbe"] = probe("/healthz", 30, 20);
    }
    container
}

fn sidecar(profile: Profile) -> Value {
    json!({
        "name": profile.sidecar().0,
        "image": sidecar_image(profile),
        "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
    })
}

fn probe(path: &str, delay: u32, period: u32) -> Value {
    json!({
        "httpGet": {"path": path, "port": 8080, "scheme": "HTTP"},
        "initialDelaySeconds": delay,
        "periodSeconds": period,
        "timeoutSeconds": 1,
        "successThreshold": 1,
        "failureThreshold": 3,
    })
}
