//! Entries of servers in the text of a kubeconfig: found, added, removed.

use serde_json::{Value, json};

use super::{
    config::{CURRENT_CONTEXT, Config, SECTIONS, lines, name_of},
    error::EditError,
    mark::{EXTENSION, Mark},
    server::Kubeconfig,
};

/// An entry of a kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundEntry {
    pub(super) section: &'static str,
    pub(super) name: String,
    pub(super) mark: Option<Mark>,
    index: usize,
}

/// Returns all entries of a kubeconfig.
pub(super) fn find(text: &str) -> Result<Vec<FoundEntry>, EditError> {
    let config = Config::parse(text)?;
    Ok(config.as_ref().map(entries).unwrap_or_default())
}

/// Adds the entries of a server. Its context becomes the current one if there is none or if `use_context` is true.
pub(super) fn add(
    text: &str,
    server: &Kubeconfig,
    mark: &Mark,
    use_context: bool,
) -> Result<String, EditError> {
    let Some(mut config) = Config::parse(text)? else {
        return begin(text, &new(server, mark, false));
    };
    if config.values().next().is_none() {
        config.append_key("apiVersion", &"v1".into())?;
        config.append_key("kind", &"Config".into())?;
    }
    let current = config.current_context();
    let becomes_current = use_context || current.as_deref().unwrap_or_default().is_empty();
    let mut mark = mark.clone();
    mark.previous = current.filter(|_| becomes_current);
    let absent = SECTIONS
        .iter()
        .filter(|section| config.get(section).is_none());
    mark.lists = absent.map(ToString::to_string).collect();
    let entries = server.entries(&mark);
    config.append("clusters", &entries.clusters)?;
    config.append("contexts", &entries.contexts)?;
    if becomes_current {
        config.set_current_context(&server.context)?;
    }
    config.append("users", &entries.users)?;
    Ok(config.into_text())
}

/// Returns a kubeconfig with nothing but the entries of a server, and a mark that the file is ours.
pub(super) fn create(server: &Kubeconfig, mark: &Mark) -> String {
    lines(&new(server, mark, true), 0)
}

/// Removes the marked entries that `is_ours` chooses. The current context is restored.
pub(super) fn remove(
    text: &str,
    is_ours: impl Fn(&FoundEntry, &Mark) -> bool,
) -> Result<String, EditError> {
    let Some(mut config) = Config::parse(text)? else {
        return Ok(text.to_owned());
    };
    let found = entries(&config);
    let (ours, others): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|entry| entry.mark.as_ref().is_some_and(|mark| is_ours(entry, mark)));
    // The last ones first, so that an index says the same until it is used.
    for entry in ours.iter().rev() {
        config.remove(entry.section, entry.index)?;
    }
    for list in ours
        .iter()
        .filter_map(|entry| entry.mark.as_ref())
        .flat_map(|mark| &mark.lists)
    {
        if SECTIONS.contains(&list.as_str()) && config.get(list).is_some_and(is_blank) {
            config.remove_key(list)?;
        }
    }
    let context = |entries: &[FoundEntry], name: &str| {
        let mut entries = entries.iter();
        let found = entries.find(|entry| entry.section == "contexts" && entry.name == name);
        found.cloned()
    };
    let current = config.current_context().unwrap_or_default();
    if let Some(FoundEntry { mark, .. }) = context(&ours, &current)
        && context(&others, &current).is_none()
    {
        match mark.and_then(|mark| mark.previous) {
            None => config.remove_key(CURRENT_CONTEXT)?,
            Some(name) if context(&others, &name).is_some() => config.set_current_context(&name)?,
            Some(_) => config.set_current_context("")?,
        }
    }
    // A file that others have added to, and no server of ours, is theirs.
    let is_theirs = others.iter().all(|entry| entry.mark.is_none()) && !is_empty(&config);
    if let Some(item) = created_item(&config).filter(|_| is_theirs) {
        config.remove("extensions", item)?;
    }
    Ok(config.into_text())
}

/// Tells whether nothing is in a kubeconfig, and the file was created by us.
pub(super) fn is_created_and_empty(text: &str) -> bool {
    let config = Config::parse(text).ok().flatten();
    config.is_some_and(|config| is_empty(&config) && created_item(&config).is_some())
}

/// Tells whether nothing is in a kubeconfig, not even a comment, beside the mark that the file is ours.
fn is_empty(config: &Config) -> bool {
    // Anything that looks like a comment may be one.
    let has_comment = config.text().contains('#');
    let mut values = config.values();
    let has_value = values.any(|(key, value)| match key.as_str() {
        "apiVersion" | "kind" => false,
        "extensions" if created_item(config).is_some() => config.items(key).len() > 1,
        _ => !is_blank(value),
    });
    !has_comment && !has_value
}

/// Tells whether nothing is in a value: a null, an empty text or an empty collection.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns which of the root's extensions is the mark that the file is ours.
fn created_item(config: &Config) -> Option<usize> {
    let mut extensions = config.items("extensions").iter();
    extensions.position(|extension| *extension == created())
}

fn entries(config: &Config) -> Vec<FoundEntry> {
    let mut found = Vec::new();
    for section in SECTIONS {
        for (index, item) in config.items(section).iter().enumerate() {
            found.push(FoundEntry {
                section,
                name: name_of(&item["name"]),
                mark: Mark::read(&item[section.trim_end_matches('s')]["extensions"]),
                index,
            });
        }
    }
    found
}

/// Returns a whole kubeconfig.
fn new(server: &Kubeconfig, mark: &Mark, is_created: bool) -> Value {
    let entries = server.entries(mark);
    let mut config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": server.context,
        "clusters": entries.clusters,
        "contexts": entries.contexts,
        "users": entries.users,
    });
    if is_created {
        config["extensions"] = json!([created()]);
    }
    config
}

/// Returns the mark of a file that we created.
fn created() -> Value {
    json!({"name": EXTENSION, "extension": {"created": true}})
}

/// Puts a kubeconfig behind a text without one: nothing, or comments.
fn begin(text: &str, config: &Value) -> Result<String, EditError> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let is_open = !text.is_empty() && !text.ends_with('\n');
    let end = if is_open { newline } else { "" };
    let config = lines(config, 0).replace('\n', newline);
    let whole = format!("{text}{end}{config}");
    Config::parse(&whole)?.ok_or(EditError::Shape)?;
    Ok(whole)
}
