//! `fakeserver setup-envtest`, as Makefiles call it.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::Path,
    process::Output,
};

use fakeserver::KubernetesVersion;
use tempfile::TempDir;
use tokio::{process::Command, time::timeout};

use crate::program::{PATIENCE, program};

/// A folder of binaries, and a `PATH` with a kubectl.
struct Project(TempDir);

// === impl Project ===

impl Project {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        project.write_program("path/kubectl", "exit 0");
        project
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    /// Writes a script that can be run.
    fn write_program(&self, name: &str, script: &str) {
        let file = self.folder().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Returns a command in the project, with none of the variables that it reads.
    fn command(&self, mut command: Command) -> Command {
        let path = self.folder().join("path");
        command.current_dir(self.folder());
        command.env("PATH", format!("{}:/usr/bin:/bin", path.display()));
        for name in [
            "ENVTEST_INSTALLED_ONLY",
            "ENVTEST_USE_ENV",
            "ENVTEST_K8S_VERSION",
            "KUBEBUILDER_ASSETS",
        ] {
            command.env_remove(name);
        }
        command.env_remove("FAKESERVER_KUBERNETES_VERSION");
        command.env("XDG_DATA_HOME", self.folder().join("data"));
        command
    }

    /// Runs `setup-envtest` with these words, and returns its status, its output and its errors.
    async fn run(&self, words: &str) -> (i32, String, String) {
        let mut command = self.command(program());
        command.arg("setup-envtest").args(words.split_whitespace());
        ended(command).await
    }

    /// Runs it, and returns its output. It has to succeed.
    async fn done(&self, words: &str) -> String {
        let (status, output, errors) = self.run(words).await;
        assert_eq!(status, 0, "{words}: {errors}");
        output
    }
}

/// Runs a command to its end, and returns its status, its output and its errors.
async fn ended(mut command: Command) -> (i32, String, String) {
    let ended: Output = timeout(PATIENCE, command.output()).await.unwrap().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        ended.status.code().unwrap(),
        text(ended.stdout),
        text(ended.stderr),
    )
}

/// Returns what the API server of a folder of assets calls itself.
async fn version_in(folder: &str) -> String {
    let mut command = Command::new(format!("{folder}/kube-apiserver"));
    command
        .arg("--version")
        .env_remove("FAKESERVER_KUBERNETES_VERSION");
    ended(command).await.1.trim_end().to_owned()
}

/// Returns the name of a release's folder on this platform.
fn folder_name(release: &str) -> String {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let os = if cfg!(target_os = "macos") {
        "darwin"
    } else {
        "linux"
    };
    format!("{release}-{os}-{arch}")
}

#[tokio::test]
async fn the_path_of_a_version_is_all_that_is_printed() {
    let project = Project::new();
    let path = project.done("use 1.34.x --bin-dir bin -p path").await;
    let folder = fs::canonicalize(project.folder()).unwrap();
    let expected = folder.join("bin/k8s").join(folder_name("1.34.9"));
    assert_eq!(Path::new(&path), expected);
    assert_eq!(version_in(&path).await, "Kubernetes v1.34.9");
    assert!(expected.join("etcd").is_file() && expected.join("kubectl").is_file());

    // Another use has the same files.
    let file = fs::metadata(expected.join("etcd")).unwrap();
    for words in [
        "-p path --bin-dir bin use ~1.34.3",
        "use --bin-dir=bin 1.34! --print=path -v info --index https://example.com --verify=false",
    ] {
        assert_eq!(project.done(words).await, path);
    }
    assert_eq!(
        fs::metadata(expected.join("etcd")).unwrap().ino(),
        file.ino()
    );
}

#[tokio::test]
async fn without_a_version_the_newest_is_used_in_a_folder_of_ones_own() {
    let project = Project::new();
    let path = project.done("use -p path").await;
    let newest = KubernetesVersion::LATEST;
    let data = project.folder().join("data/fakeserver-envtest/k8s");
    let folder = fs::canonicalize(data)
        .unwrap()
        .join(folder_name(newest.release()));
    assert_eq!(Path::new(&path), folder);
    assert_eq!(
        version_in(&path).await,
        format!("Kubernetes {}", newest.git_version())
    );
}

#[tokio::test]
async fn the_line_for_a_shell_survives_any_path() {
    let project = Project::new();
    let folder = project.folder().join("it's a \"$HOME\" folder");
    let mut command = project.command(program());
    command
        .args(["setup-envtest", "use", "1.35", "-p", "env", "--bin-dir"])
        .arg(&folder);
    let (status, line, errors) = ended(command).await;
    assert_eq!(status, 0, "{errors}");
    assert!(
        line.starts_with("export KUBEBUILDER_ASSETS='") && line.ends_with("'\n"),
        "{line}"
    );
    let mut shell = project.command(Command::new("sh"));
    shell.args([
        "-c",
        &format!("{line}\"$KUBEBUILDER_ASSETS\"/kube-apiserver --version"),
    ]);
    assert_eq!(ended(shell).await.1, "Kubernetes v1.35.6\n");
}

#[tokio::test]
async fn a_version_is_described_listed_and_removed() {
    let project = Project::new();
    let overview = project.done("use 1.33 --bin-dir bin").await;
    let platform = folder_name("")
        .trim_start_matches('-')
        .replacen('-', "/", 1);
    let folder = fs::canonicalize(project.folder()).unwrap();
    let path = folder.join("bin/k8s").join(folder_name("1.33.13"));
    assert_eq!(
        overview,
        format!(
            "Version: 1.33.13\nOS/Arch: {platform}\nPath: {}\n",
            path.display()
        )
    );
    project.done("use 1.36 --bin-dir bin").await;
    assert_eq!(
        project.done("list -i --bin-dir bin").await,
        format!("(installed)  v1.36.2   {platform}\n(installed)  v1.33.13  {platform}\n")
    );
    assert_eq!(
        project
            .done("list --bin-dir bin <=1.33 --os * --arch *")
            .await,
        format!(
            "(installed)  v1.33.13  {platform}\n(available)  v1.33.13  {platform}\n(available)  v1.32.13  {platform}\n\
             (available)  v1.31.14  {platform}\n"
        )
    );
    assert_eq!(project.done("list --bin-dir bin --os plan9").await, "");
    assert_eq!(
        project.done("cleanup <1.36 --bin-dir bin").await,
        format!("removed 1.33.13 ({platform})\n")
    );
    assert!(!path.exists());
    assert_eq!(
        project.done("list -i --bin-dir bin").await,
        format!("(installed)  v1.36.2  {platform}\n")
    );
    assert_eq!(project.done("cleanup 1.33 --bin-dir bin").await, "");
    assert!(
        project
            .done("version")
            .await
            .starts_with("setup-envtest version: ")
    );
}

#[tokio::test]
async fn only_what_is_installed_is_used_on_request() {
    let project = Project::new();
    let (status, output, errors) = project.run("use -i 1.34.x -p path").await;
    assert_eq!((status, output.as_str()), (2, ""));
    assert!(
        errors.contains("no version 1.34.x for ") && errors.contains("list -i"),
        "{errors}"
    );
    let old = project.done("use 1.33 -p path").await;
    let new = project.done("use 1.35 -p path").await;
    assert_eq!(project.done("use -i -p path").await, new);
    assert_eq!(project.done("use latest-on-disk -p path").await, new);
    assert_eq!(
        project.done("use --installed-only <1.35 -p path").await,
        old
    );
    let mut command = project.command(program());
    command
        .args(["setup-envtest", "use", "1.36"])
        .env("ENVTEST_INSTALLED_ONLY", "true");
    assert_eq!(ended(command).await.0, 2);
    assert_eq!(project.run("use -i=false 1.36").await.0, 0);
}

#[tokio::test]
async fn a_folder_of_the_environment_is_used_on_request() {
    let project = Project::new();
    for name in ["kube-apiserver", "etcd", "kubectl"] {
        project.write_program(&format!("others/{name}"), "exit 0");
    }
    let others = project.folder().join("others");
    let with = |words: &str, assets: &Path| {
        let mut command = project.command(program());
        command
            .arg("setup-envtest")
            .args(words.split(' '))
            .env("KUBEBUILDER_ASSETS", assets);
        ended(command)
    };
    let (_, path, _) = with("use --use-env -p path", &others).await;
    assert_eq!(Path::new(&path), others);
    let (_, overview, _) = with("use --use-env", &others).await;
    assert_eq!(
        overview,
        format!("Version: *\nOS/Arch: */*\nPath: {}\n", others.display())
    );
    let (_, path, _) = with("use 1.34 -p path", &others).await;
    assert!(path.ends_with(&folder_name("1.34.9")), "{path}");
    let (_, overview, _) = with("use --use-env", Path::new(&path)).await;
    assert!(overview.starts_with("Version: 1.34.9\n"), "{overview}");
    let (_, path, _) = with("use 1.35 --use-env -p path", Path::new("/nowhere")).await;
    assert!(path.ends_with(&folder_name("1.35.6")), "{path}");
}

#[tokio::test]
async fn a_patch_that_there_is_not_gives_that_of_its_minor_version_with_a_note() {
    let project = Project::new();
    let (status, path, errors) = project.run("use 1.31.0 -p path").await;
    assert_eq!(status, 0);
    assert!(path.ends_with(&folder_name("1.31.14")), "{path}");
    assert!(
        errors.contains("note: 1.31.0: ") && errors.contains("1.31.14"),
        "{errors}"
    );
}

#[tokio::test]
async fn what_cannot_be_is_refused_with_status_2() {
    let project = Project::new();
    for (words, expected) in [
        ("use 1.30", "no version 1.30; there are 1.31.14, "),
        ("use 1.30.4", "no version 1.30.4; there are "),
        ("use ~1.34.10", "no version ~1.34.10; there are "),
        ("use master", "is no version; write `latest`"),
        ("use 1.34 --os windows", "no version for windows/"),
        ("use 1.34 --os *", "needs one platform"),
        ("use 1.34 -i --force", "choose one"),
        ("use 1.34 -p json", "invalid value"),
        ("fetch 1.34", "invalid value"),
        ("", "required arguments"),
        ("sideload 1.34.9", "loads no programs of others"),
        ("use 1.34 --bin-dir path/kubectl", "path/kubectl"),
    ] {
        let (status, output, errors) = project.run(words).await;
        assert_eq!((status, output.as_str()), (2, ""), "{words}: {errors}");
        assert!(
            errors.starts_with("error: ") && errors.contains(expected),
            "{words}: {errors}"
        );
    }
}

#[tokio::test]
async fn programs_that_others_have_put_there_are_kept() {
    let project = Project::new();
    let name = format!("bin/k8s/{}", folder_name("1.34.9"));
    let file = project.folder().join(&name).join("etcd");
    project.write_program(&format!("{name}/etcd"), "echo real");
    let real = fs::read(&file).unwrap();
    let (status, output, errors) = project.run("use 1.34 --bin-dir bin -p path").await;
    assert_eq!((status, output.as_str()), (2, ""));
    assert!(
        errors.contains("fakeserver has not made this file"),
        "{errors}"
    );
    assert_eq!(project.done("list -i --bin-dir bin").await, "");
    assert_eq!(project.done("cleanup --bin-dir bin").await, "");
    assert_eq!(fs::read(&file).unwrap(), real);
    let path = project.done("use 1.34 --bin-dir bin -p path --force").await;
    assert_eq!(version_in(&path).await, "Kubernetes v1.34.9");
}

#[tokio::test]
async fn many_uses_at_once_share_the_folder() {
    let project = Project::new();
    let uses = (0..8).map(|_| project.done("use 1.34 --bin-dir bin -p path"));
    let paths = futures::future::join_all(uses).await;
    assert!(paths.iter().all(|path| path == &paths[0]), "{paths:?}");
    assert_eq!(version_in(&paths[0]).await, "Kubernetes v1.34.9");
}

#[tokio::test]
async fn a_makefile_of_kubebuilder_changes_one_name() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/envtest.md")).unwrap();
    let (_, block) = page.split_once("```make\n").unwrap();
    let (makefile, _) = block.split_once("```\n").unwrap();
    let project = Project::new();
    fs::write(project.folder().join("Makefile"), makefile).unwrap();
    project.write_program(
        "path/go",
        r#""$KUBEBUILDER_ASSETS"/kube-apiserver --version"#,
    );
    let fakeserver = env!("CARGO_BIN_EXE_fakeserver");
    symlink(fakeserver, project.folder().join("path/fakeserver")).unwrap();
    let make = |words: &str| {
        let mut command = project.command(Command::new("make"));
        command.arg("--silent").args(words.split(' '));
        ended(command)
    };
    assert_eq!(
        make("test").await,
        (0, "Kubernetes v1.34.9\n".to_owned(), String::new())
    );
    let (_, output, _) = make("test ENVTEST_K8S_VERSION=1.36").await;
    assert_eq!(output, "Kubernetes v1.36.2\n");

    // The tool itself by another program.
    fs::create_dir(project.folder().join("bin-of-tools")).unwrap();
    let tool = project.folder().join("bin-of-tools/setup-envtest");
    symlink(fakeserver, &tool).unwrap();
    let (_, output, errors) = make(&format!(
        "test ENVTEST={} ENVTEST_K8S_VERSION=~1.35.1",
        tool.display()
    ))
    .await;
    assert_eq!(output, "Kubernetes v1.35.6\n", "{errors}");

    // Each version runs the same target.
    let mut command = project.command(program());
    command.args([
        "envtest",
        "--kubernetes-version",
        "1.33",
        "--kubernetes-version",
        "1.35..1.36",
        "--",
        "make",
        "--silent",
        "test",
    ]);
    command.env("XDG_CACHE_HOME", project.folder().join("cache"));
    let (status, output, errors) = ended(command).await;
    assert_eq!(status, 0, "{errors}");
    assert_eq!(
        output,
        "Kubernetes v1.33.13\nKubernetes v1.35.6\nKubernetes v1.36.2\n"
    );
}
