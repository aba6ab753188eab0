//! The program adds itself to a kubeconfig, and leaves everything else in it alone.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

use super::program::{PATIENCE, program, signal};

const MINE: &str = "\
# the only way to production
apiVersion: v1
kind: Config
clusters:
- cluster: {server: https://prod, unknown: [1]} # keep
  name: prod
contexts:
- context:
    cluster: prod
    user: me
  name: prod
current-context: prod
users:
- name: me
  user:
    token: irreplaceable
";

/// A kubeconfig in a folder of its own.
struct World {
    folder: TempDir,
    file: PathBuf,
}

// === impl World ===

impl World {
    fn with(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        fs::write(&file, text).unwrap();
        Self { folder, file }
    }

    fn command(&self, options: &[&str]) -> Command {
        let mut command = program();
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--kubeconfig"])
            .arg(&self.file)
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts a server and returns it with its URL and the command line that it prints.
    async fn serve(&self, options: &[&str]) -> (Child, String, String) {
        let mut child = self.command(options).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut line = async || {
            let line = timeout(PATIENCE, lines.next_line()).await.unwrap();
            line.unwrap().expect("it serves")
        };
        let first = line().await;
        let url = first.strip_prefix("listening on ").unwrap().to_owned();
        let command = line().await;
        (child, url, command)
    }

    /// Starts a server that must refuse to serve, and returns its error.
    async fn refusal(&self, options: &[&str]) -> String {
        let run = self.command(options).output();
        let Output {
            status,
            stdout,
            stderr,
        } = timeout(PATIENCE, run).await.unwrap().unwrap();
        assert!(!status.success());
        assert_eq!(stdout, b"", "it does not listen");
        String::from_utf8(stderr).unwrap()
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.file).unwrap()
    }

    fn value(&self) -> Value {
        fakeserver::value::yaml::from_str(&self.text()).unwrap()
    }

    fn contexts(&self) -> Vec<String> {
        let config = self.value();
        let contexts = config["contexts"].as_array().unwrap().iter();
        let names = contexts.map(|context| context["name"].as_str().unwrap().to_owned());
        names.collect()
    }
}

async fn end(mut child: Child, name: &str) {
    signal(&child, name).await;
    timeout(PATIENCE, child.wait()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_kubeconfig_is_the_same_after_a_server_as_before() {
    for name in ["-INT", "-TERM"] {
        let world = World::with(MINE);
        let (child, url, command) = world.serve(&["--token", "secret=jane"]).await;
        let file = world.file.display();
        assert_eq!(
            command,
            format!("kubectl --kubeconfig {file} --context fakeserver get nodes")
        );
        assert_eq!(world.contexts(), ["prod", "fakeserver", "jane"]);
        let config = world.value();
        assert_eq!(config["clusters"][1]["cluster"]["server"], url);
        assert_eq!(config["current-context"], "prod");
        assert!(world.text().starts_with("# the only way to production\n"));
        end(child, name).await;
        assert_eq!(world.text(), MINE);
        assert_eq!(fs::read_dir(&world.folder).unwrap().count(), 1);
    }
}

#[tokio::test]
async fn entries_of_a_killed_server_are_replaced_by_the_next() {
    let world = World::with(MINE);
    let (child, _, _) = world
        .serve(&["--use-context", "--token", "secret=jane"])
        .await;
    assert_eq!(world.value()["current-context"], "fakeserver");
    end(child, "-KILL").await;
    assert_eq!(world.contexts(), ["prod", "fakeserver", "jane"]);
    let (child, url, _) = world.serve(&[]).await;
    assert_eq!(world.contexts(), ["prod", "fakeserver"]);
    let config = world.value();
    assert_eq!(config["clusters"][1]["cluster"]["server"], url);
    assert_eq!(config["current-context"], "prod");
    end(child, "-INT").await;
    assert_eq!(world.text(), MINE);

    // A file that a killed server has created goes with the next.
    fs::remove_file(&world.file).unwrap();
    let (child, _, _) = world.serve(&[]).await;
    end(child, "-KILL").await;
    assert_eq!(world.contexts(), ["fakeserver"]);
    let (child, _, _) = world.serve(&[]).await;
    end(child, "-INT").await;
    assert!(!world.file.exists());
}

#[tokio::test]
async fn servers_share_a_file_under_names_of_their_own() {
    let world = World::with(MINE);
    let names = ["a", "b", "c", "d"];
    let options = names.map(|name| ["--context", name]);
    let started = futures::future::join_all(options.iter().map(|options| world.serve(options)));
    let servers = started.await;
    let mut contexts = world.contexts();
    contexts.sort();
    assert_eq!(contexts, ["a", "b", "c", "d", "prod"]);
    let error = world.refusal(&["--context", "c"]).await;
    assert!(
        error.contains("of a running server") && error.contains("--context"),
        "{error}"
    );
    let ends = servers.into_iter().map(|(child, _, _)| end(child, "-TERM"));
    futures::future::join_all(ends).await;
    assert_eq!(world.text(), MINE);
}

#[tokio::test]
async fn entries_stay_if_they_are_to_be_kept() {
    let world = World::with(MINE);
    fs::remove_file(&world.file).unwrap();
    let (child, _, _) = world.serve(&["--keep", "--context", "mine"]).await;
    end(child, "-INT").await;
    assert_eq!(world.contexts(), ["mine"]);
    assert_eq!(world.value()["current-context"], "mine");
}

#[tokio::test]
async fn a_kubeconfig_that_cannot_be_changed_is_refused_before_it_listens() {
    let taken = MINE.replace("name: prod", "name: fakeserver");
    for (text, why) in [
        (taken.as_str(), "; --context gives ours another name"),
        ("a: [", "it is not YAML"),
        (
            "kind: Deployment\n",
            "it is not a kubeconfig: its kind is Deployment",
        ),
        (
            "secrets: [1, 2]\n",
            "it is not a kubeconfig: it has no kind",
        ),
    ] {
        let world = World::with(text);
        let error = world.refusal(&[]).await;
        assert!(error.contains(why), "{error}");
        assert_eq!(world.text(), text);
    }
    let mut world = World::with(MINE);
    let error = world.refusal(&["--token", "secret=fakeserver"]).await;
    assert!(error.contains("second user \"fakeserver\""), "{error}");
    world.file = Path::new("/dev/null").to_owned();
    let error = world.refusal(&[]).await;
    assert!(error.contains("it is not a regular file"), "{error}");
}
