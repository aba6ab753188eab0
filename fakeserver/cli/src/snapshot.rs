//! `fakeserver snapshot`: the objects of an etcd's snapshot as manifests.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use fakeserver_etcd::{Database, DatabaseObject, Layout, ObjectPath, RecordContent, StateError};
use fakeserver_server::server::with_sources;
use fakeserver_value::yaml;
use serde_json::{Map, Value};

use super::{data::progress_bar, kubernetes_version::KubernetesOptions};

/// The folder of objects without a namespace. No namespace has this name.
const CLUSTER: &str = "_cluster";
/// The annotation in which kubectl keeps the object that it has applied, values of secrets included.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0, or 1 if the file cannot be read or the manifests cannot be written.\n\n\
        Examples:\n  \
        fakeserver snapshot --from-etcd-snapshot backup.db -o manifests\n  \
        fakeserver snapshot --from-etcd-snapshot backup.db -o - | fakeserver check -\n  \
        fakeserver snapshot --from-etcd-snapshot member/snap/db --etcd-prefix /kubernetes.io -o manifests"
)]
pub(super) struct Options {
    /// The snapshot of an etcd, as `etcdctl snapshot save` writes it, or the file `member/snap/db` of a member that has stopped.
    #[arg(long, value_name = "FILE")]
    from_etcd_snapshot: PathBuf,

    /// Prefix of the cluster's keys
    #[arg(long, value_name = "PREFIX", default_value = Layout::DEFAULT_PREFIX)]
    etcd_prefix: String,

    /// A new or empty folder, which gets a file for each resource of each namespace; or `-` for standard output.
    #[arg(long, short, value_name = "DIRECTORY")]
    output: PathBuf,

    /// Print the values of secrets, too. Without it they are empty texts.
    #[arg(long)]
    with_secrets: bool,

    #[command(flatten)]
    kubernetes: KubernetesOptions,
}

/// A place for manifests, in the order of their keys.
enum Output {
    Standard(io::Stdout),
    /// A folder, and the file in it that was begun last.
    Folder(PathBuf, Option<(PathBuf, fs::File)>),
}

/// Prints all objects of the file.
pub(super) fn snapshot(options: &Options) -> Result<ExitCode, String> {
    let file = &options.from_etcd_snapshot;
    let in_file = |error: &StateError| format!("{}: {}", file.display(), with_sources(error));
    let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let layout = Layout::new(&options.etcd_prefix);
    let database = Database::read(&bytes).map_err(|error| in_file(&error.into()))?;
    let checked = database.check_prefix(&layout);
    checked.map_err(|error| in_file(&error))?;
    let mut output = Output::open(&options.output)?;

    let bar = progress_bar();
    bar.set_length(database.records.len() as u64);
    for record in bar.wrap_iter(database.records.iter()) {
        let content = record.content(&layout, options.kubernetes.kubernetes_version);
        match content.map_err(|error| in_file(&error.into()))? {
            RecordContent::Object(object) => {
                let path = object.path.clone();
                let manifest = manifest(*object, options.with_secrets);
                output.write(&path, &format!("---\n{}", yaml::to_string(&manifest)))?;
            }
            RecordContent::Unknown(kind) => eprintln!(
                "warning: {} is left out: no version of Kubernetes that is known here has {kind}",
                record.key.escape_ascii()
            ),
            RecordContent::None => {}
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns an object as kubectl shows it: without the record of managers, and without its version, which is of that cluster.
fn manifest(object: DatabaseObject, with_secrets: bool) -> Value {
    let is_secret = (
        object.path.resource.group(),
        object.path.resource.resource(),
    ) == ("", "secrets");
    let mut manifest = object.value.object;
    if let Some(Value::Object(metadata)) = manifest.get_mut("metadata") {
        metadata.remove("managedFields");
        metadata.remove("resourceVersion");
        if is_secret && !with_secrets {
            hide(metadata.get_mut("annotations"), LAST_APPLIED);
        }
    }
    if is_secret && !with_secrets {
        let values = manifest.get_mut("data").and_then(Value::as_object_mut);
        for value in values.into_iter().flat_map(Map::values_mut) {
            *value = "".into();
        }
    }
    manifest["apiVersion"] = object.value.meta.api_version.into();
    manifest["kind"] = object.value.meta.kind.into();
    manifest
}

fn hide(fields: Option<&mut Value>, name: &str) {
    if let Some(fields) = fields.and_then(Value::as_object_mut) {
        fields.remove(name);
    }
}

// === impl Output ===

impl Output {
    fn open(path: &Path) -> Result<Self, String> {
        if path == Path::new("-") {
            return Ok(Self::Standard(io::stdout()));
        }
        let why = |error: io::Error| format!("--output {}: {error}", path.display());
        fs::create_dir_all(path).map_err(why)?;
        if fs::read_dir(path).map_err(why)?.next().is_some() {
            return Err(format!(
                "--output {}: the folder is not empty; name a new one",
                path.display()
            ));
        }
        Ok(Self::Folder(path.to_owned(), None))
    }

    fn write(&mut self, object: &ObjectPath, text: &str) -> Result<(), String> {
        match self {
            Self::Standard(stdout) => match stdout.write_all(text.as_bytes()) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    Err(format!("cannot write to stdout: {error}"))
                }
                _ => Ok(()),
            },
            Self::Folder(folder, last) => {
                let path = folder.join(file_of(object)?);
                let why = |error: io::Error| format!("--output {}: {error}", path.display());
                if last.as_ref().is_none_or(|(last, _)| *last != path) {
                    fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(why)?;
                    let file = fs::File::options().append(true).create(true).open(&path);
                    *last = Some((path.clone(), file.map_err(why)?));
                }
                let written = last
                    .as_mut()
                    .map(|(_, file)| file.write_all(text.as_bytes()));
                written.transpose().map_err(why).map(drop)
            }
        }
    }
}

/// Returns the path of the file in which an object is, below the folder.
fn file_of(object: &ObjectPath) -> Result<PathBuf, String> {
    let folder = object.namespace.as_deref().unwrap_or(CLUSTER);
    // A damaged file may have any names.
    if folder.starts_with('.') || folder.contains(['\\', '\0']) {
        return Err(format!(
            "the namespace {folder:?} cannot be the name of a folder"
        ));
    }
    Ok(Path::new(folder).join(format!("{}.yaml", object.resource)))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use fakeserver_value::resource::GroupResource;
    use fakeserver_versions::KubernetesVersion;
    use lzma_rust2::XzReader;

    use super::*;

    fn path(namespace: Option<&str>) -> ObjectPath {
        ObjectPath {
            resource: GroupResource::new("apps", "deployments"),
            namespace: namespace.map(str::to_owned),
            name: "a".to_owned(),
        }
    }

    #[test]
    fn files_are_named_by_namespace_and_resource() {
        let file = |namespace| file_of(&path(namespace)).map(|file| file.display().to_string());
        assert_eq!(file(Some("shop")).unwrap(), "shop/deployments.apps.yaml");
        assert_eq!(file(None).unwrap(), "_cluster/deployments.apps.yaml");
        assert!(file(Some("..")).unwrap_err().contains("\"..\""));
    }

    #[test]
    fn a_folder_with_files_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = Output::open(folder.path()).unwrap();
        output.write(&path(None), "---\na: 1\n").unwrap();
        output.write(&path(Some("b")), "---\na: 2\n").unwrap();
        output.write(&path(None), "---\na: 3\n").unwrap();
        let file = folder.path().join("_cluster/deployments.apps.yaml");
        assert_eq!(fs::read_to_string(file).unwrap(), "---\na: 1\n---\na: 3\n");
        let error = Output::open(folder.path()).err().unwrap();
        assert!(error.contains("not empty"), "{error}");
    }

    /// Writes the manifests of the database that kube-apiserver 1.36 wrote, and returns a file of them.
    fn written(folder: &Path, with_secrets: bool, file: &str) -> String {
        let packed = format!(
            "{}/../etcd/tests/golden/db-1.36.xz",
            env!("CARGO_MANIFEST_DIR")
        );
        let packed = fs::read(packed).unwrap();
        let mut database = Vec::new();
        let mut reader = XzReader::new(&*packed, true);
        reader.read_to_end(&mut database).unwrap();
        fs::write(folder.join("db"), database).unwrap();
        let output = folder.join(with_secrets.to_string());
        let done = snapshot(&Options {
            from_etcd_snapshot: folder.join("db"),
            etcd_prefix: Layout::DEFAULT_PREFIX.to_owned(),
            output: output.clone(),
            with_secrets,
            kubernetes: KubernetesOptions {
                kubernetes_version: KubernetesVersion::DEFAULT,
            },
        });
        done.unwrap();
        fs::read_to_string(output.join(file)).unwrap()
    }

    #[test]
    fn manifests_have_the_values_of_secrets_only_if_asked() {
        let folder = tempfile::tempdir().unwrap();
        let secret = "corpus/secrets.yaml";
        let [without, with] = [false, true].map(|with| written(folder.path(), with, secret));
        let value = |text: &str| {
            let object = yaml::parse(text.as_bytes()).unwrap();
            assert_eq!(
                (&object["kind"], &object["apiVersion"]),
                (&"Secret".into(), &"v1".into())
            );
            assert_eq!(object["metadata"].get("managedFields"), None);
            let data = object["data"].as_object().unwrap().values();
            data.map(|value| value.as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert!(!value(&with).is_empty() && value(&with).iter().all(|value| !value.is_empty()));
        assert!(value(&without).iter().all(String::is_empty));
        assert_eq!(value(&without).len(), value(&with).len());
        let custom = folder
            .path()
            .join("true/corpus/plains.corpus.example.com.yaml");
        let custom = fs::read_to_string(custom).unwrap();
        assert!(
            custom.starts_with("---\napiVersion: corpus.example.com/v1\nkind: Plain\n"),
            "{custom}"
        );
    }
}
