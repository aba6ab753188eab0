//! The program with versions of Kubernetes: `serve`, `run`, `assets` and `envtest`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use fakeserver::KubernetesVersion;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::program::{PATIENCE, get, program, signal};

/// The variable that names the version.
const VARIABLE: &str = "FAKESERVER_KUBERNETES_VERSION";
/// Prints what a run of `envtest` is given.
const PRINT: &str = r#"echo "$ENVTEST_K8S_VERSION $FAKESERVER_KUBERNETES_VERSION $("$KUBEBUILDER_ASSETS/kube-apiserver" --version) $("$TEST_ASSET_KUBE_APISERVER" --version)""#;

/// Runs the program with a cache of its own, and no version but that of the words.
async fn run(cache: &TempDir, words: &[&str]) -> Output {
    let mut command = program();
    command
        .args(words)
        .env("XDG_CACHE_HOME", cache.path())
        .env_remove(VARIABLE);
    timeout(PATIENCE, command.output()).await.unwrap().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

/// Waits for the line of the output that begins so, and returns the rest of it.
async fn line_after(child: &mut Child, start: &str) -> String {
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let found = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some(rest) = line.trim().strip_prefix(start) {
                return rest.to_owned();
            }
        }
        panic!("no line begins with {start}");
    };
    timeout(PATIENCE, found).await.unwrap()
}

/// Asserts that the server at `url` is of this release.
async fn is_release(url: &str, release: &str) {
    let answer = get(url, "/version").await;
    let expected = format!("\"gitVersion\":\"v{release}\"");
    assert!(answer.replace(' ', "").contains(&expected), "{answer}");
}

#[tokio::test]
async fn serve_and_run_serve_the_version_of_the_flag_or_of_the_variable() {
    // Prints the address, and runs until its input ends.
    let script = r#"grep server: "$KUBECONFIG"; read -r line"#;
    for (flag, variable, release) in [
        (Some("1.34"), None, "1.34.9"),
        (None, Some("1.33.x"), "1.33.13"),
        (
            Some("latest"),
            Some("1.33"),
            KubernetesVersion::LATEST.release(),
        ),
        (None, None, KubernetesVersion::DEFAULT.release()),
    ] {
        for (words, start) in [
            ("serve --listen 127.0.0.1:0", "listening on "),
            ("run", "server: "),
        ] {
            let mut command = program();
            command.args(words.split(' ')).env_remove(VARIABLE);
            command.args(flag.map(|flag| format!("--kubernetes-version={flag}")));
            command.envs(variable.map(|value| (VARIABLE, value)));
            if words == "run" {
                command.args(["--", "sh", "-c", script]);
            }
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let url = line_after(&mut child, start).await;
            is_release(&url, release).await;
            drop(child.stdin.take());
            if words != "run" {
                signal(&child, "-TERM").await;
            }
            timeout(PATIENCE, child.wait()).await.unwrap().unwrap();
        }
    }
}

#[tokio::test]
async fn assets_have_the_version_that_was_asked_for_last() {
    let cache = tempfile::tempdir().unwrap();
    let mut folders: Vec<PathBuf> = Vec::new();
    for (version, release) in [
        ("1.31", "1.31.14"),
        ("1.36", "1.36.2"),
        ("latest", KubernetesVersion::LATEST.release()),
    ] {
        let own = cache.path().join("own");
        for folder in [None, Some(own.to_str().unwrap())] {
            let words = ["assets", "--kubernetes-version", version]
                .into_iter()
                .chain(folder);
            let made = run(&cache, &words.collect::<Vec<_>>()).await;
            assert!(made.status.success(), "{made:?}");
            let path = Path::new(text(&made.stdout).trim_end());
            let mut server = Command::new(path.join("kube-apiserver"));
            let output = server.arg("--version").env_remove(VARIABLE).output();
            let output = timeout(PATIENCE, output).await.unwrap().unwrap();
            assert_eq!(text(&output.stdout), format!("Kubernetes v{release}\n"));
            if folder.is_none() {
                folders.push(path.to_owned());
            }
        }
    }
    folders.dedup();
    assert_eq!(folders.len(), 3, "each version has a folder of its own");
}

#[tokio::test]
async fn a_command_runs_once_for_each_version_and_a_table_has_the_results() {
    let cache = tempfile::tempdir().unwrap();
    let versions = [
        "--kubernetes-version",
        "1.35",
        "--kubernetes-version=1.33..1.35",
    ];
    let script = format!(
        r#"{PRINT}; case "$ENVTEST_K8S_VERSION" in 1.33) exit 7 ;; 1.34) kill -9 $$ ;; esac"#
    );
    let command = ["--", "sh", "-c", &script];
    let words = ["envtest"].into_iter().chain(versions).chain(command);
    let ended = run(&cache, &words.collect::<Vec<_>>()).await;
    let lines = |versions: [(&str, &str); 3]| -> String {
        versions
            .map(|(name, release)| {
                format!("{name} {release} Kubernetes v{release} Kubernetes v{release}\n")
            })
            .concat()
    };
    assert_eq!(
        text(&ended.stdout),
        lines([("1.35", "1.35.6"), ("1.33", "1.33.13"), ("1.34", "1.34.9")])
    );
    assert_eq!(ended.status.code(), Some(7), "that of the first failure");
    let errors = text(&ended.stderr);
    let place = |text: &str| {
        errors
            .find(text)
            .unwrap_or_else(|| panic!("no {text} in {errors}"))
    };
    let places = [
        place("=== Kubernetes 1.35.6 (1 of 3): sh -c "),
        place("=== Kubernetes 1.33.13 (2 of 3): sh -c "),
        place("=== Kubernetes 1.34.9 (3 of 3): sh -c "),
        place("VERSION   RESULT                  TIME\n"),
        place("\n1.35.6    passed                  "),
        place("\n1.33.13   failed with status 7    "),
        place("\n1.34.9    ended by signal 9       "),
    ];
    assert!(places.is_sorted(), "{errors}");
}

#[tokio::test]
async fn one_version_has_no_table() {
    let cache = tempfile::tempdir().unwrap();
    let ended = run(
        &cache,
        &[
            "envtest",
            "--kubernetes-version",
            "1.31",
            "--",
            "sh",
            "-c",
            PRINT,
        ],
    )
    .await;
    assert_eq!(
        text(&ended.stdout),
        "1.31 1.31.14 Kubernetes v1.31.14 Kubernetes v1.31.14\n"
    );
    assert!(!text(&ended.stderr).contains("==="), "{ended:?}");
}

#[tokio::test]
async fn a_signal_ends_all_versions() {
    let cache = tempfile::tempdir().unwrap();
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let mut command = program();
        // It ends well by any of them.
        let script = r#"trap 'kill $!; exit 0' INT TERM; tail -f /dev/null & echo "began $ENVTEST_K8S_VERSION"; wait"#;
        command.args([
            "envtest",
            "--kubernetes-version",
            "1.34..1.36",
            "--",
            "sh",
            "-c",
            script,
        ]);
        command
            .env("XDG_CACHE_HOME", cache.path())
            .env_remove(VARIABLE);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        assert_eq!(line_after(&mut child, "began ").await, "1.34");
        signal(&child, name).await;
        let ended = timeout(PATIENCE, child.wait_with_output())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(text(&ended.stdout), "");
        let errors = text(&ended.stderr);
        assert!(errors.contains("\n1.34.9    passed "), "{errors}");
        assert!(
            errors.ends_with("\n1.35.6    not run\n1.36.2    not run\n"),
            "{errors}"
        );
        assert_eq!(ended.status.code(), Some(code));
    }
}

#[tokio::test]
async fn a_version_that_there_is_not_is_an_error_that_lists_those_that_there_are() {
    let cache = tempfile::tempdir().unwrap();
    for command in ["serve", "run", "assets", "envtest"] {
        let words = [command, "--kubernetes-version", "1.30"].into_iter();
        let rest = matches!(command, "run" | "envtest").then_some(["--", "true"]);
        let words: Vec<&str> = words.chain(rest.into_iter().flatten()).collect();
        let ended = run(&cache, &words).await;
        assert_eq!(ended.status.code(), Some(2), "{command}: {ended:?}");
        let errors = text(&ended.stderr);
        for version in KubernetesVersion::all() {
            assert!(errors.contains(version.release()), "{command}: {errors}");
        }
    }
    let ended = run(
        &cache,
        &[
            "envtest",
            "--kubernetes-version",
            "1.36..1.34",
            "--",
            "true",
        ],
    )
    .await;
    assert_eq!(ended.status.code(), Some(2));
    assert!(text(&ended.stderr).contains("`1.34..1.36`"), "{ended:?}");
    assert!(
        fs::read_dir(cache.path()).unwrap().next().is_none(),
        "nothing is made"
    );
}
