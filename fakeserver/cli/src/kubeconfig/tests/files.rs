//! Files: modes, links, locks, and the ownership of entries.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::{super::KubeconfigFile, *};

const MINE: &str = "# mine\nkind: Config\nclusters: null\nusers:\n- name: a # b\n  user: {}\n";

struct World {
    folder: TempDir,
    file: PathBuf,
}

// === impl World ===

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        Self { folder, file }
    }

    fn with(text: &str) -> Self {
        let world = Self::new();
        fs::write(&world.file, text).unwrap();
        world
    }

    fn target(&self) -> KubeconfigFile {
        KubeconfigFile::new(&self.file, "--context")
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.file).unwrap()
    }

    /// Returns the error of adding the entries of a server, which must not change anything.
    async fn refusal(&self, server: &Kubeconfig) -> String {
        let before = fs::read(&self.file).ok();
        let checked = self.target().check(server).await.unwrap_err();
        let added = self.target().add(server).await.map(drop).unwrap_err();
        assert_eq!(checked.to_string(), added.to_string());
        assert_eq!(fs::read(&self.file).ok(), before);
        crate::with_sources(&checked)
    }

    /// The names of all files.
    fn names(&self) -> Vec<String> {
        let files = fs::read_dir(self.folder.path()).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names = names.collect::<Vec<_>>();
        names.sort();
        names
    }
}

fn mode(file: &Path) -> u32 {
    fs::metadata(file).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn a_new_file_is_its_owners_alone_and_goes_with_the_server() {
    let world = World::new();
    let server = server("ours");
    world.target().check(&server).await.unwrap();
    assert_eq!(world.names(), [""; 0]);
    let added = world.target().add(&server).await.unwrap();
    assert_eq!(mode(&world.file), 0o600);
    assert_eq!(world.names(), ["config"], "nothing is left beside it");
    assert_eq!(value(&world.text())["current-context"], "ours");
    let file = world.file.display();
    assert_eq!(
        added.command(),
        format!("kubectl --kubeconfig {file} --context ours get nodes")
    );
    added.remove().await.unwrap();
    assert_eq!(world.names(), [""; 0]);
}

#[tokio::test]
async fn a_file_that_was_there_keeps_its_mode_and_its_bytes() {
    for text in [MINE, "", "{}"] {
        let world = World::with(text);
        fs::set_permissions(&world.file, fs::Permissions::from_mode(0o640)).unwrap();
        let owner = fs::metadata(&world.file).unwrap();
        let server = server("ours");
        world.target().check(&server).await.unwrap();
        assert_eq!(world.text(), text);
        let added = world.target().add(&server).await.unwrap();
        assert_eq!(mode(&world.file), 0o640);
        assert_ne!(world.text(), text);
        added.remove().await.unwrap();
        assert_eq!(world.text(), text);
        assert_eq!(mode(&world.file), 0o640);
        let left = fs::metadata(&world.file).unwrap();
        assert_eq!((left.uid(), left.gid()), (owner.uid(), owner.gid()));
        assert_eq!(world.names(), ["config"]);
    }
}

#[tokio::test]
async fn entries_that_are_to_be_kept_stay_and_are_replaced_by_the_next() {
    let world = World::new();
    let server = server("ours");
    let added = world.target().with_keep(true).add(&server).await.unwrap();
    let text = world.text();
    added.remove().await.unwrap();
    assert_eq!(world.text(), text);
}

#[tokio::test]
async fn concurrent_changes_stay() {
    let world = World::with(MINE);
    let added = world.target().add(&server("ours")).await.unwrap();
    let more = world.text().replace("# mine", "# mine and yours");
    fs::write(&world.file, more).unwrap();
    added.remove().await.unwrap();
    assert!(world.text().starts_with("# mine and yours\nkind: Config\n"));
    assert_eq!(normal(&world.text()), normal(MINE));

    let added = world.target().add(&server("ours")).await.unwrap();
    fs::write(&world.file, "garbage: [").unwrap();
    let error = added.remove().await.unwrap_err().to_string();
    assert!(error.contains("it is not YAML"), "{error}");
    assert_eq!(world.text(), "garbage: [");

    fs::write(&world.file, MINE).unwrap();
    let added = world.target().add(&server("ours")).await.unwrap();
    fs::remove_file(&world.file).unwrap();
    added.remove().await.unwrap();
    assert_eq!(world.names(), [""; 0]);
}

#[tokio::test]
async fn links_are_followed() {
    let world = World::new();
    let (target, link) = (
        world.folder.path().join("target"),
        world.folder.path().join("link"),
    );
    symlink("target", &link).unwrap();
    symlink("link", &world.file).unwrap();
    // Without a target at first.
    let added = world.target().add(&server("ours")).await.unwrap();
    assert_eq!(world.names(), ["config", "link", "target"]);
    assert!(fs::symlink_metadata(&target).unwrap().is_file());
    added.remove().await.unwrap();
    assert_eq!(world.names(), ["config", "link"]);

    fs::write(&target, MINE).unwrap();
    let added = world.target().add(&server("ours")).await.unwrap();
    assert_ne!(fs::read_to_string(&target).unwrap(), MINE);
    assert!(fs::symlink_metadata(&world.file).unwrap().is_symlink());
    added.remove().await.unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), MINE);
    assert_eq!(world.names(), ["config", "link", "target"]);
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_waited_for_and_named() {
    let world = World::with(MINE);
    let lock = world.folder.path().join("config.lock");
    fs::write(&lock, "").unwrap();
    let server = server("ours");
    let begun = tokio::time::Instant::now();
    let error = world.target().check(&server).await.unwrap_err().to_string();
    assert!(error.contains(&*lock.to_string_lossy()), "{error}");
    let waited = begun.elapsed();
    assert!(
        waited.as_millis() >= 5_000 && waited.as_millis() < 5_100,
        "{waited:?}"
    );
    assert!(lock.exists(), "it is not ours");

    let target = world.target();
    let (added, ()) = tokio::join!(target.add(&server), async {
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        fs::remove_file(&lock).unwrap();
    });
    fs::write(&lock, "").unwrap();
    let added_text = world.text();
    let error = added.unwrap().remove().await.unwrap_err().to_string();
    assert!(error.contains("config.lock"), "{error}");
    assert_eq!(world.text(), added_text);
}

#[tokio::test(start_paused = true)]
async fn both_names_of_a_linked_file_are_locked() {
    let world = World::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("real");
    fs::write(&target, MINE).unwrap();
    symlink(&target, &world.file).unwrap();
    for lock in [
        world.folder.path().join("config.lock"),
        elsewhere.path().join("real.lock"),
    ] {
        fs::write(&lock, "").unwrap();
        let error = world.target().check(&server("ours")).await.unwrap_err();
        assert!(
            error.to_string().contains(&*lock.to_string_lossy()),
            "{error}"
        );
        fs::remove_file(&lock).unwrap();
    }
    world.target().check(&server("ours")).await.unwrap();
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn entries_of_others_and_of_running_servers_are_not_replaced() {
    let server = server("ours");
    for (section, own) in [
        ("clusters", "ours"),
        ("contexts", "jane"),
        ("users", "ours"),
    ] {
        let world = World::with(&format!("kind: Config\n{section}:\n- name: {own}\n"));
        let error = world.refusal(&server).await;
        let kind = section.trim_end_matches('s');
        assert!(
            error.contains(&format!("has a {kind} \"{own}\" that no server")),
            "{error}"
        );
        assert!(error.contains("--context"), "{error}");
    }
    // Clusters have the server's name only.
    let world = World::with("kind: Config\nclusters:\n- name: jane\n");
    world.target().check(&server).await.unwrap();

    let world = World::new();
    let _added = world.target().add(&server).await.unwrap();
    let error = world.refusal(&server).await;
    let expected = format!(
        "of a running server, process {}; --context",
        std::process::id()
    );
    assert!(error.contains(&expected), "{error}");
    let mut other = super::server("other");
    let error = world.refusal(&other).await;
    assert!(
        error.contains("\"jane\"") && error.contains("rename the user"),
        "{error}"
    );
    other.users.clear();
    let other = world.target().add(&other).await.unwrap();
    assert_eq!(value(&world.text())["current-context"], "ours");
    other.remove().await.unwrap();

    let mut server = server;
    server.users[0].0 = "ours".to_owned();
    let error = World::new().refusal(&server).await;
    assert!(error.contains("second user \"ours\""), "{error}");
}

#[tokio::test]
async fn entries_of_killed_servers_are_replaced() {
    let server = server("ours");
    let mut other = super::server("other");
    other.users[0].0 = "joe".to_owned();
    for (text, created) in [(MINE, false), ("", true)] {
        let world = World::with(text);
        let left = if created {
            edit::create(&server, &dead("ours"))
        } else {
            edit::add(text, &server, &dead("ours"), false).unwrap()
        };
        let left = edit::add(&left, &other, &dead("other"), false).unwrap();
        fs::write(&world.file, &left).unwrap();
        let mut next = super::server("ours");
        next.users.clear();
        world.target().check(&next).await.unwrap();
        assert_eq!(world.text(), left);
        let added = world.target().add(&next).await.unwrap();
        let now = value(&world.text());
        assert_eq!(now["current-context"], "ours");
        let names = now["contexts"].as_array().unwrap().iter();
        let names = names.map(|context| &context["name"]).collect::<Vec<_>>();
        assert_eq!(names, ["other", "joe", "ours"], "jane's server was killed");
        added.remove().await.unwrap();
        assert!(
            world.text().contains("other"),
            "it may have been told to keep them"
        );

        let added = world.target().add(&other).await.unwrap();
        added.remove().await.unwrap();
        if created {
            assert_eq!(world.names(), [""; 0], "a file of ours that is empty goes");
        } else {
            assert_eq!(normal(&world.text()), normal(MINE));
        }
    }
}

#[tokio::test]
async fn unwritable_files_are_rejected_first() {
    let server = server("ours");
    for (text, why) in [
        ("kind: Pod\n", "its kind is Pod"),
        ("a: [", "it is not YAML"),
        ("kind: Config\nusers: &u []\nx: *u\n", "cannot be changed"),
    ] {
        let error = World::with(text).refusal(&server).await;
        assert!(error.contains(why), "{error}");
    }
    let world = World::new();
    fs::write(&world.file, b"kind: \xff").unwrap();
    assert!(world.refusal(&server).await.contains("it is not UTF-8"));
    let world = World::new();
    fs::create_dir(&world.file).unwrap();
    assert!(
        world
            .refusal(&server)
            .await
            .contains("it is not a regular file")
    );
    assert_eq!(world.names(), ["config"]);
    let mut world = World::new();
    world.file = world.folder.path().join("no/such");
    assert!(world.refusal(&server).await.contains("No such file"));
    let world = World::new();
    symlink("config", &world.file).unwrap();
    assert!(world.refusal(&server).await.contains("symbolic links"));
    // Not even root can create a file in `/sys`.
    let read_only = KubeconfigFile::new("/sys/config", "--context");
    let error = read_only.check(&server).await.unwrap_err().to_string();
    assert_eq!(error, "cannot write the kubeconfig /sys/config");
    let error = KubeconfigFile::new("/dev/null", "--context")
        .check(&server)
        .await;
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("it is not a regular file")
    );
}
