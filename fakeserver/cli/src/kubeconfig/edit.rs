//! Entries of servers in the text of a kubeconfig: found, added, removed.

use serde_json::{Value, json};

use super::{
    config::{CURRENT_CONTEXT, Config, SECTIONS, lines},
    error::EditError,
    mark::{EXTENSION, Mark},
    server::Kubeconfig,
    tree::Node,
};

/// An entry of a kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) section: &'static str,
    pub(super) name: String,
    pub(super) mark: Option<Mark>,
    index: usize,
}

/// Returns all entries of a kubeconfig.
pub(super) fn find(text: &str) -> Result<Vec<Found>, EditError> {
    let config = Config::parse(text)?;
    Ok(config.as_ref().map(entries).unwrap_or_default())
}

/// Adds the entries of a server. They become the current context if there is none or if `use_context` says so.
pub(super) fn add(
    text: &str,
    server: &Kubeconfig,
    mark: &Mark,
    use_context: bool,
) -> Result<String, EditError> {
    let Some(mut config) = Config::parse(text)? else {
        return begin(text, &new(server, mark, false));
    };
    if config.root().is_empty() {
        config.append_key("apiVersion", &"v1".into())?;
        config.append_key("kind", &"Config".into())?;
    }
    let current = config.current_context().map(ToOwned::to_owned);
    let becomes_current = use_context || current.as_deref().unwrap_or_default().is_empty();
    let mut mark = mark.clone();
    mark.previous = current.filter(|_| becomes_current);
    let absent = SECTIONS
        .iter()
        .filter(|section| config.root().get(section).is_none());
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
pub(super) fn create(server: &Kubeconfig, mark: &Mark) -> Result<String, EditError> {
    lines(&new(server, mark, true), 0)
}

/// Removes the marked entries that `is_ours` chooses. The current context becomes what it was before they came.
pub(super) fn remove(
    text: &str,
    is_ours: impl Fn(&Found, &Mark) -> bool,
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
        if SECTIONS.contains(&list.as_str()) && config.root().get(list).is_some_and(Node::is_empty)
        {
            config.remove_key(list)?;
        }
    }
    let context = |entries: &[Found], name: &str| {
        let mut entries = entries.iter();
        let found = entries.find(|entry| entry.section == "contexts" && entry.name == name);
        found.cloned()
    };
    let current = config.current_context().unwrap_or_default().to_owned();
    if let Some(Found { mark, .. }) = context(&ours, &current)
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
    let mut pairs = config.root().pairs().iter();
    let has_value = pairs.any(|(key, value)| match key.text() {
        Some("apiVersion" | "kind") => false,
        Some("extensions") if created_item(config).is_some() => value.items().len() > 1,
        _ => !value.is_empty(),
    });
    !has_comment && !has_value
}

/// Returns which of the root's extensions is the mark that the file is ours.
fn created_item(config: &Config) -> Option<usize> {
    let mut extensions = config.root().get("extensions")?.items().iter();
    extensions.position(|extension| extension.to_value() == created())
}

fn entries(config: &Config) -> Vec<Found> {
    let mut found = Vec::new();
    for section in SECTIONS {
        let items = config.root().get(section).into_iter();
        for (index, item) in items.flat_map(Node::items).enumerate() {
            let body = item.get(section.trim_end_matches('s'));
            let extensions = body.and_then(|body| body.get("extensions"));
            found.push(Found {
                section,
                name: item
                    .get("name")
                    .and_then(|name| name.text())
                    .unwrap_or_default()
                    .to_owned(),
                mark: extensions.and_then(|extensions| Mark::read(&extensions.to_value())),
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
    let config = lines(config, 0)?.replace('\n', newline);
    let whole = format!("{text}{end}{config}");
    Config::parse(&whole)?.ok_or(EditError::Shape)?;
    Ok(whole)
}
