//! The setting in which a container's commands run: its variables, files and folder.

use fakeserver_value::read::text;
use serde_json::Value;

use super::{command::Setting, environment, sources::PodSources, volumes};

// === impl Setting ===

impl Setting {
    /// Returns the setting of a container, as its objects are now.
    pub(crate) fn of(pod: &Value, container: &Value, sources: &dyn PodSources) -> Self {
        let host_name = match pod["spec"]["hostname"].as_str() {
            None | Some("") => &pod["metadata"]["name"],
            Some(_) => &pod["spec"]["hostname"],
        };
        let host_name = text(host_name);
        let folder = container["workingDir"].as_str();
        Self {
            variables: environment::variables(pod, container, host_name, sources),
            files: volumes::files(pod, container, host_name, sources),
            host_name: host_name.to_owned(),
            folder: folder
                .filter(|folder| !folder.is_empty())
                .unwrap_or("/")
                .to_owned(),
            started: pod["status"]["startTime"]
                .as_str()
                .and_then(|time| time.parse().ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::containers::sources::Entries;

    /// A config map, a secret, a service, and a token that names its audience.
    struct FixedSources;

    impl PodSources for FixedSources {
        fn config_map(&self, name: &str) -> Option<Entries> {
            let entry = |key: &str, value: &[u8]| (key.to_owned(), value.to_vec());
            let entries = [
                entry("a", b"1"),
                entry("b.txt", b"2\n"),
                entry("raw", &[255]),
            ];
            (name == "map").then(|| BTreeMap::from(entries))
        }

        fn secret(&self, name: &str) -> Option<Entries> {
            let entry = ("password".to_owned(), b"secret".to_vec());
            (name == "keys").then(|| BTreeMap::from([entry]))
        }

        fn services(&self) -> Vec<Value> {
            vec![json!({
                "metadata": {"name": "my-web"},
                "spec": {"clusterIP": "10.0.0.9", "ports": [
                    {"port": 80, "name": "http", "protocol": "TCP"},
                    {"port": 53, "protocol": "UDP"},
                ]},
            })]
        }

        fn token(&self, audience: &str, seconds: i64) -> Option<String> {
            Some(format!("token for {audience:?} of {seconds}"))
        }
    }

    fn pod(spec: &Value) -> Value {
        let mut pod = json!({
            "metadata": {"name": "p", "namespace": "n", "labels": {"x": "1", "w": "a \"b\""}},
            "spec": spec,
            "status": {"podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.3"}, {"ip": "fd00::1"}]},
        });
        pod["spec"]["containers"][0]["name"] = json!("c");
        pod
    }

    fn setting(spec: &Value) -> Setting {
        let pod = pod(spec);
        Setting::of(&pod, &pod["spec"]["containers"][0], &FixedSources)
    }

    #[test]
    fn variables_come_from_everywhere() {
        let setting = setting(&json!({"containers": [{
            "resources": {"limits": {"cpu": "1500m", "memory": "64Mi"}},
            "envFrom": [
                {"configMapRef": {"name": "map"}, "prefix": "M_"},
                {"secretRef": {"name": "keys"}},
                {"secretRef": {"name": "missing"}},
            ],
            "env": [
                {"name": "PLAIN", "value": "$(M_a)$$(M_a) $(NONE) $x"},
                {"name": "EMPTY"},
                {"name": "MAP", "valueFrom": {"configMapKeyRef": {"name": "map", "key": "a"}}},
                {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "password"}}},
                {"name": "LABEL", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['x']"}}},
                {"name": "IPS", "valueFrom": {"fieldRef": {"fieldPath": "status.podIPs"}}},
                {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
                {"name": "MB", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1M"}}},
                {"name": "NOT", "valueFrom": {"configMapKeyRef": {"name": "map", "key": "missing"}}},
                {"name": "MAP", "value": "last"},
            ],
        }]}));
        let variables: Vec<String> = setting
            .variables
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            variables,
            [
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "HOSTNAME=p",
                "MY_WEB_SERVICE_HOST=10.0.0.9",
                "MY_WEB_SERVICE_PORT=80",
                "MY_WEB_SERVICE_PORT_HTTP=80",
                "MY_WEB_PORT=tcp://10.0.0.9:80",
                "MY_WEB_PORT_80_TCP=tcp://10.0.0.9:80",
                "MY_WEB_PORT_80_TCP_PROTO=tcp",
                "MY_WEB_PORT_80_TCP_PORT=80",
                "MY_WEB_PORT_80_TCP_ADDR=10.0.0.9",
                "MY_WEB_PORT_53_UDP=udp://10.0.0.9:53",
                "MY_WEB_PORT_53_UDP_PROTO=udp",
                "MY_WEB_PORT_53_UDP_PORT=53",
                "MY_WEB_PORT_53_UDP_ADDR=10.0.0.9",
                "M_a=1",
                "M_b.txt=2\n",
                "password=secret",
                "PLAIN=1$(M_a) $(NONE) $x",
                "EMPTY=",
                "MAP=last",
                "KEY=secret",
                "LABEL=1",
                "IPS=10.1.2.3,fd00::1",
                "CPU=2",
                "MB=68",
                "HOME=/root",
            ]
        );
    }

    #[test]
    fn volumes_have_the_files_of_their_objects() {
        let setting = setting(&json!({
            "hostname": "h",
            "containers": [{"workingDir": "/srv", "volumeMounts": [
                {"name": "account", "mountPath": "/var/run/secrets"},
                {"name": "map", "mountPath": "/etc/map"},
                {"name": "some", "mountPath": "/etc/map/some"},
                {"name": "map", "mountPath": "/etc/one", "subPath": "b.txt"},
                {"name": "keys", "mountPath": "/keys"},
                {"name": "none", "mountPath": "/scratch"},
            ]}],
            "volumes": [
                {"name": "map", "configMap": {"name": "map"}},
                {"name": "some", "configMap": {"name": "map", "items": [{"key": "a", "path": "deep/a"}]}},
                {"name": "keys", "secret": {"secretName": "keys"}},
                {"name": "none", "emptyDir": {}},
                {"name": "account", "projected": {"sources": [
                    {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
                    {"configMap": {"name": "map", "items": [{"key": "a", "path": "ca.crt"}]}},
                    {"downwardAPI": {"items": [
                        {"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}},
                        {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
                    ]}},
                ]}},
            ],
        }));
        let read = |path: &str| {
            let content = setting.files.read(&setting.folder, path).unwrap();
            String::from_utf8(content.to_vec()).unwrap()
        };
        assert_eq!(read("/etc/hostname"), "h\n");
        assert_eq!(
            read("../etc/hosts"),
            "127.0.0.1\tlocalhost\n10.1.2.3\th\nfd00::1\th\n"
        );
        assert_eq!(read("/etc/map/b.txt"), "2\n");
        assert_eq!(read("/etc/map/some/deep/a"), "1");
        assert_eq!(read("/etc/one"), "2\n");
        assert_eq!(read("/keys/password"), "secret");
        assert_eq!(read("/var/run/secrets/token"), "token for \"\" of 3607");
        assert_eq!(read("/var/run/secrets/ca.crt"), "1");
        assert_eq!(read("/var/run/secrets/namespace"), "n");
        assert_eq!(
            read("/var/run/secrets/labels"),
            "w=\"a \\\"b\\\"\"\nx=\"1\""
        );
        assert_eq!(setting.files.names_in("/", "/scratch"), [""; 0]);
        assert_eq!(setting.folder, "/srv");
    }
}
