//! Command lines and files that the program refuses: what it says, and that it leaves everything as it was.

use std::{
    collections::BTreeMap,
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
};

use tokio::time::timeout;

use crate::program::{PATIENCE, program};

/// A command line, its exit status, and what the error says: what is wrong, and what to do.
type Refusal = (&'static str, i32, &'static [&'static str]);

/// The files and folders below a folder by their names; files with what is in them.
type Files = BTreeMap<PathBuf, Option<String>>;

const ADDRESSES: &[Refusal] = &[
    (
        "serve --listen here",
        1,
        &["--listen here", "try `127.0.0.1:8001`"],
    ),
    (
        "serve --listen 127.0.0.1:99999",
        1,
        &["99999", "port 0 for a free one"],
    ),
    (
        "serve --listen nowhere.invalid:1",
        1,
        &["nowhere.invalid", "try `127.0.0.1:8001`"],
    ),
    (
        "serve --listen 192.0.2.1:0",
        1,
        &["192.0.2.1:0", "`0.0.0.0:8001` for all it has"],
    ),
    (
        "serve --listen TAKEN",
        1,
        &[
            "cannot listen on",
            "`--listen 127.0.0.1:0` takes a free port",
        ],
    ),
];

const FILES: &[Refusal] = &[
    (
        "serve --kubeconfig notes",
        1,
        &["the kubeconfig notes", "it is not a kubeconfig"],
    ),
    (
        "serve --kubeconfig rubbish",
        1,
        &["the kubeconfig rubbish", "it is not UTF-8"],
    ),
    (
        "serve --kubeconfig folder",
        1,
        &["the kubeconfig folder", "it is not a regular file"],
    ),
    (
        "serve --kubeconfig mine",
        1,
        &["the kubeconfig mine", "--context gives ours another name"],
    ),
    (
        "serve --kubeconfig /proc/no/file",
        1,
        &["the kubeconfig /proc/no/file"],
    ),
    (
        "serve --data notes",
        1,
        &[
            "notes, line 1",
            "no snapshot",
            "another `--data` starts with an empty store",
        ],
    ),
    (
        "serve --data cut.data",
        1,
        &[
            "cut.data, line",
            "another `--data` starts with an empty store",
        ],
    ),
    (
        "serve --data changed.data",
        1,
        &[
            "changed.data, line",
            "another `--data` starts with an empty store",
        ],
    ),
    (
        "serve --data newer.data",
        1,
        &[
            "newer.data, line 1",
            "newer than",
            "another `--data` starts with an empty store",
        ],
    ),
    (
        "serve --data taken.data",
        1,
        &["taken.data is in use", "a file of its own"],
    ),
    (
        "serve --data folder",
        1,
        &["the snapshot folder", "directory"],
    ),
    (
        "serve --data /proc/no/file",
        1,
        &["the snapshot /proc/no/file"],
    ),
    (
        "serve --load nothing.yaml",
        1,
        &["nothing.yaml", "No such file"],
    ),
    (
        "serve --load broken.yaml",
        1,
        &[
            "broken.yaml",
            "yaml: line 1: did not find expected node content",
        ],
    ),
    (
        "serve --load half.yaml",
        1,
        &["half.yaml, document 2", "apiVersion: Required value"],
    ),
    (
        "serve --load rubbish",
        1,
        &["rubbish", "yaml: invalid leading UTF-8 octet"],
    ),
    (
        "serve --load folder",
        1,
        &["folder", ".yaml, .yml or .json"],
    ),
    (
        "serve --faults unknown.json",
        1,
        &[
            "unknown.json: [1].fault",
            "`/_control/faults/catalogue` list them",
        ],
    ),
    (
        "serve --faults cut.json",
        1,
        &["--faults cut.json", "line 1 column 1"],
    ),
    (
        "serve --faults nothing.json",
        1,
        &["--faults nothing.json", "No such file"],
    ),
    (
        "serve --token-auth-file notes",
        1,
        &["the tokens in notes", "line 1", "3 columns"],
    ),
    ("man notes", 1, &["notes", "name a folder"]),
    (
        "man pages",
        1,
        &["pages/fakeserver.1", "--force replaces it"],
    ),
    ("assets notes", 1, &["notes", "name a folder"]),
    (
        "assets bin",
        1,
        &[
            "bin/etcd",
            "`--force` replaces it, and another folder keeps it",
        ],
    ),
];

const OPTIONS: &[Refusal] = &[
    (
        "serve --controllers kubelet",
        2,
        &[
            "kubelet",
            "try `default`, `workloads` or `none`",
            "`certificates`, `quota`",
        ],
    ),
    (
        "serve --feature-gates Magic=true",
        1,
        &["--feature-gates", "Magic"],
    ),
    (
        "serve --enable-admission-plugins Magic",
        1,
        &["enable-admission-plugins", "Magic"],
    ),
    (
        "serve --compact-age soon",
        2,
        &["--compact-age", "try `5m`"],
    ),
    (
        "serve --compact-bytes much",
        2,
        &["--compact-bytes", "try `134217728` or `off`"],
    ),
    ("serve --pods 10", 2, &["--nodes <COUNT>"]),
    ("serve --nodes 0", 2, &["--nodes", "1..=32000"]),
    (
        "serve --nodes 3 --controllers workloads",
        1,
        &["--nodes 3", "leave out `workloads`"],
    ),
    (
        "serve --controllers none,workloads",
        2,
        &["--controllers", "`none`"],
    ),
    (
        "serve --nodes 1 --churn-mix rollouts=many",
        2,
        &["rollouts=many", "try `rollouts=4,jobs=0`"],
    ),
    (
        "serve --webhook-service hooks",
        2,
        &["hooks", "try `default/hooks=https://127.0.0.1:9443`"],
    ),
    ("serve --client-certificate jane", 2, &["--tls"]),
    (
        "serve --token alone",
        2,
        &["a token and its user", "try `secret=jane,developers`"],
    ),
    ("serve --keep", 2, &["--kubeconfig <FILE>"]),
    (
        "serve --kubeconfig folder/kubeconfig --own-folder",
        1,
        &[
            "--own-folder",
            "folder",
            "name a folder that does not exist",
        ],
    ),
    (
        "serve --kubeconfig nowhere/own/kubeconfig --own-folder",
        1,
        &["--own-folder", "nowhere/own", "No such file or directory"],
    ),
    (
        "faults server_eror",
        1,
        &["did you mean \"server_error\"?", "`fakeserver faults`"],
    ),
    (
        "serve --audit-log notes",
        1,
        &["--audit-log notes", "no audit log", "name another file"],
    ),
    ("serve --audit-policy notes", 2, &["--audit-log <FILE>"]),
    (
        "serve --audit-log audit.log --audit-policy notes",
        1,
        &["--audit-policy notes", "expected"],
    ),
    ("serve --log ==", 1, &["--log \"==\"", "try `info`"]),
    ("run", 2, &["<COMMAND>", "Usage"]),
    (
        "run -- ./nothing",
        1,
        &["cannot run ./nothing", "No such file"],
    ),
    (
        "run -- ./notes",
        1,
        &["cannot run ./notes", "Permission denied"],
    ),
    ("run --data notes -- touch ran", 1, &["notes, line 1"]),
    (
        "run --faults unknown.json -- touch ran",
        1,
        &["unknown.json: [1].fault"],
    ),
    (
        "envtest --faults nothing.json -- touch ran",
        1,
        &["--faults nothing.json"],
    ),
    ("completions tcsh", 2, &["bash, elvish, fish"]),
    ("serv", 2, &["'serve'"]),
];

/// Runs the program in `folder`, and returns its exit status and what it says.
async fn refused(folder: &Path, command_line: &str) -> (Option<i32>, String) {
    let mut command = program();
    // The default port may be somebody's.
    if command_line.starts_with("serve ") && !command_line.contains("--listen") {
        command.args(["serve", "--listen", "127.0.0.1:0"]);
    }
    let words = command_line.split(' ');
    let skipped = usize::from(command.as_std().get_args().len() > 0);
    let command = command.args(words.skip(skipped)).current_dir(folder);
    let ended = timeout(
        PATIENCE,
        command.env("XDG_CACHE_HOME", folder.join("cache")).output(),
    );
    let ended = ended.await.expect(command_line).unwrap();
    assert_eq!(ended.stdout, b"", "{command_line}");
    (
        ended.status.code(),
        String::from_utf8(ended.stderr).unwrap(),
    )
}

/// Returns what is in a folder, but for the user's cache.
fn files(folder: &Path) -> Files {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("cache") {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        }
        let content = fs::read(&path).ok();
        found.insert(
            path,
            content.map(|content| content.escape_ascii().to_string()),
        );
    }
    found
}

/// Returns the locks beside the states of servers in `files`, which servers leave.
fn locks(files: &Files) -> Files {
    let states = files
        .keys()
        .filter(|file| file.extension().is_some_and(|ending| ending == "data"));
    states
        .map(|file| (file.with_extension("data.lock"), Some(String::new())))
        .collect()
}

/// Fills a folder with what people might name by mistake.
async fn mistakes(folder: &Path) {
    let write = |name: &str, content: &[u8]| fs::write(folder.join(name), content).unwrap();
    let kept = program()
        .args([
            "run",
            "--no-bootstrap",
            "--data",
            "taken.data",
            "--",
            "true",
        ])
        .current_dir(folder)
        .status();
    assert!(timeout(PATIENCE, kept).await.unwrap().unwrap().success());
    let good = fs::read_to_string(folder.join("taken.data")).unwrap();
    write("cut.data", &good.as_bytes()[..good.len() - 20]);
    write(
        "changed.data",
        good.replacen("\"seed\":0", "\"seed\":1", 1).as_bytes(),
    );
    write(
        "newer.data",
        good.replacen("\"version\":1", "\"version\":99", 1)
            .as_bytes(),
    );
    write("notes", b"eggs, milk\n");
    write("rubbish", &[0xff, 0xfe, 0, 1]);
    write(
        "mine",
        b"kind: Config\nclusters:\n- name: fakeserver\n  cluster: {server: 'https://mine'}\n",
    );
    write("broken.yaml", b"a: [\n");
    write(
        "half.yaml",
        b"{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n---\nkind: Pod\n",
    );
    write(
        "unknown.json",
        br#"[{"fault": "hang"}, {"fault": "flood"}]"#,
    );
    write("cut.json", b"{");
    for name in ["folder", "bin", "pages"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    write("bin/etcd", b"a real one");
    write("pages/fakeserver.1", b"a page of somebody's");
}

#[tokio::test]
async fn errors_name_a_remedy_and_nothing_is_changed() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path();
    mistakes(folder).await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    let lock = fs::File::open(folder.join("taken.data.lock")).unwrap();
    lock.try_lock().unwrap();
    for (command_line, status, expected) in [ADDRESSES, FILES, OPTIONS].concat() {
        let mut before = files(folder);
        let (code, stderr) = refused(folder, &command_line.replace("TAKEN", &taken)).await;
        assert_eq!(code, Some(status), "{command_line}: {stderr}");
        assert!(stderr.starts_with("error: "), "{command_line}: {stderr}");
        for part in expected {
            assert!(
                stderr.contains(part),
                "{command_line}: {part:?} is not in: {stderr}"
            );
        }
        before.extend(locks(&before));
        let after = files(folder);
        let changed = after
            .iter()
            .find(|(name, file)| before.get(*name) != Some(file));
        assert_eq!(changed, None, "{command_line}");
    }
}
