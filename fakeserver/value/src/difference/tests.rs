//! Differences as Go's `difflib` shows them.

use fakeserver_versions::KubernetesVersion;
use serde_json::json;

use super::{difference, printed, unified};

fn numbered(lines: &[u32]) -> String {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn equal_texts_have_no_hunks() {
    assert_eq!(unified("a\nb", "a\nb"), "");
}

#[test]
fn changes_stand_between_three_lines_each_and_join_if_near() {
    let old: Vec<u32> = (1..=20).collect();
    let mut new = old.clone();
    new[4] = 105;
    assert_eq!(
        unified(&numbered(&old), &numbered(&new)),
        "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+105\n 6\n 7\n 8\n"
    );
    new[11] = 112;
    assert_eq!(
        unified(&numbered(&old), &numbered(&new)),
        "@@ -2,14 +2,14 @@\n 2\n 3\n 4\n-5\n+105\n 6\n 7\n 8\n 9\n 10\n 11\n-12\n+112\n 13\n 14\n 15\n"
    );
    new[11] = 12;
    new[18] = 119;
    assert_eq!(
        unified(&numbered(&old), &numbered(&new)),
        "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+105\n 6\n 7\n 8\n@@ -16,5 +16,5 @@\n 16\n 17\n 18\n-19\n+119\n 20\n"
    );
}

#[test]
fn lines_come_and_go_at_the_ends() {
    assert_eq!(unified("a\nb", "b"), "@@ -1,2 +1 @@\n-a\n b\n");
    assert_eq!(unified("b", "a\nb\nc"), "@@ -1 +1,3 @@\n+a\n b\n+c\n");
}

#[test]
fn internal_names_are_go_s() {
    let security = "io.k8s.api.core.v1.SecurityContext";
    assert_eq!(
        printed(
            KubernetesVersion::DEFAULT,
            security,
            &json!({"privileged": true, "seccompProfile": {"type": "<&>"}})
        ),
        "{\"Capabilities\":null,\"Privileged\":true,\"SELinuxOptions\":null,\"WindowsOptions\":null,\
         \"RunAsUser\":null,\"RunAsGroup\":null,\"RunAsNonRoot\":null,\"ReadOnlyRootFilesystem\":null,\
         \"AllowPrivilegeEscalation\":null,\"ProcMount\":null,\"SeccompProfile\":{\"Type\":\"\\u003c\\u0026\\u003e\",\
         \"LocalhostProfile\":null},\"AppArmorProfile\":null}"
    );
    let spec = "io.k8s.api.core.v1.PodSpec";
    let diff = difference(
        KubernetesVersion::DEFAULT,
        spec,
        &json!({}),
        &json!({"hostPID": true}),
    );
    assert!(
        diff.contains("  \"HostNetwork\": false,\n-  \"HostPID\": false,\n+  \"HostPID\": true,\n"),
        "{diff}"
    );
}
