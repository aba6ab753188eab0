//! The files of a container: those that its volumes hold, as far as objects tell them, and those that kubelets write.

use fakeserver_value::read::{items, text};
use serde_json::Value;

use super::{
    downward::{field, resource},
    files::Files,
    references::Reference,
    sources::{Entries, PodSources},
};

/// The time for which a token is asked if its volume says none, in seconds.
const TOKEN_SECONDS: i64 = 3_600;

/// The folders that every image has.
const FOLDERS: [&str; 12] = [
    "/bin", "/dev", "/etc", "/home", "/proc", "/root", "/run", "/sbin", "/sys", "/tmp", "/usr",
    "/var",
];

/// Returns the files that a container sees.
pub(super) fn files(
    pod: &Value,
    container: &Value,
    host_name: &str,
    sources: &dyn PodSources,
) -> Files {
    let mut files = Files::default();
    for folder in FOLDERS {
        files.mount(folder);
    }
    files.put("/etc/hostname", format!("{host_name}\n"));
    let status = &pod["status"];
    let addresses: Vec<&str> = match items(&status["podIPs"]) {
        [] => vec![text(&status["podIP"])],
        all => all.iter().map(|address| text(&address["ip"])).collect(),
    };
    let own = addresses
        .iter()
        .map(|address| format!("{address}\t{host_name}\n"));
    let own: String = own.collect();
    files.put("/etc/hosts", format!("127.0.0.1\tlocalhost\n{own}"));
    let mut mounts: Vec<&Value> = items(&container["volumeMounts"]).iter().collect();
    // A mount below another one is made after it.
    mounts.sort_by_key(|mount| text(&mount["mountPath"]));
    for mount in mounts {
        let name = &mount["name"];
        let mut volumes = items(&pod["spec"]["volumes"]).iter();
        let Some(volume) = volumes.find(|volume| volume["name"] == *name) else {
            continue;
        };
        let contents = contents(volume, pod, container, sources);
        let path = text(&mount["mountPath"]);
        match text(&mount["subPath"]) {
            "" => {
                files.mount(path);
                for (name, content) in contents {
                    files.put(&format!("{path}/{name}"), content);
                }
            }
            part => put_part(&mut files, path, part, contents),
        }
    }
    files
}

/// Puts the file or folder `part` of a volume at `path`.
fn put_part(files: &mut Files, path: &str, part: &str, mut contents: Entries) {
    if let Some(content) = contents.remove(part) {
        files.put(path, content);
        return;
    }
    files.mount(path);
    for (name, content) in contents {
        if let Some(name) = name.strip_prefix(part).filter(|rest| rest.starts_with('/')) {
            files.put(&format!("{path}{name}"), content);
        }
    }
}

/// Returns the files of a volume, by their paths in it. Volumes of other kinds are empty.
fn contents(volume: &Value, pod: &Value, container: &Value, sources: &dyn PodSources) -> Entries {
    if let Some(reference) = Reference::of_volume(volume) {
        return chosen(&reference, sources);
    }
    if !volume["downwardAPI"].is_null() {
        return downward_files(&volume["downwardAPI"]["items"], pod, container);
    }
    let mut contents = Entries::new();
    for source in items(&volume["projected"]["sources"]) {
        contents.extend(projected(source, pod, container, sources));
    }
    contents
}

/// Returns the files of one source of a projected volume.
fn projected(source: &Value, pod: &Value, container: &Value, sources: &dyn PodSources) -> Entries {
    let token = &source["serviceAccountToken"];
    if !token.is_null() {
        let seconds = token["expirationSeconds"].as_i64();
        let token_text = sources.token(text(&token["audience"]), seconds.unwrap_or(TOKEN_SECONDS));
        let file =
            token_text.map(|content| (text(&token["path"]).to_owned(), content.into_bytes()));
        return file.into_iter().collect();
    }
    match Reference::of_volume(source) {
        Some(reference) => chosen(&reference, sources),
        None => downward_files(&source["downwardAPI"]["items"], pod, container),
    }
}

/// Returns the entries that a reference chooses, by their paths; none if they are not there.
fn chosen(reference: &Reference<'_>, sources: &dyn PodSources) -> Entries {
    let entries = reference.entries(sources).unwrap_or_default();
    reference.part.chosen(entries)
}

/// Returns the files of the downward API.
fn downward_files(entries: &Value, pod: &Value, container: &Value) -> Entries {
    let files = items(entries).iter().filter_map(|item| {
        let selector = &item["resourceFieldRef"];
        let content = if selector.is_null() {
            field(pod, text(&item["fieldRef"]["fieldPath"]))
        } else {
            resource(pod, container, selector)
        };
        Some((text(&item["path"]).to_owned(), content?.into_bytes()))
    });
    files.collect()
}
