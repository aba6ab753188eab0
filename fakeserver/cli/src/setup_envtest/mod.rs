//! `fakeserver setup-envtest`: the words and outputs of controller-runtime's tool of this name, for folders with this program.
//!
//! Every version is in the program: what `setup-envtest` calls available can be made at once, and nothing is downloaded.

mod platform;
mod store;

use std::{env, fmt::Write as _, path::PathBuf, process::ExitCode, str::FromStr};

use clap::{ArgAction, Args, ValueEnum};
use fakeserver_versions::{KubernetesVersion, VersionSelector, VersionSelectorError};

use self::{
    platform::Platform,
    store::{Item, Store},
};
use super::{assets, say};

/// The name of the command, and of the program that it stands in for.
pub(super) const NAME: &str = "setup-envtest";
/// The exit status of a request that cannot be met, as of a wrong command line.
const REFUSED: u8 = 2;
/// The variable that names the folder of assets.
const ASSETS_VARIABLE: &str = "KUBEBUILDER_ASSETS";

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    fakeserver setup-envtest use 1.34.x -p path\n  \
    source <(fakeserver setup-envtest use 1.34 -p env)\n  \
    KUBEBUILDER_ASSETS=\"$(fakeserver setup-envtest use 1.34 --bin-dir ./bin -p path)\" go test ./...\n  \
    fakeserver setup-envtest list\n  \
    fakeserver setup-envtest cleanup '<1.34'\n\
    Exit status:\n  \
    0  done\n  \
    2  there is no such version or platform, or a file is in the way")]
pub(super) struct Options {
    /// The action.
    #[arg(value_enum)]
    action: Action,

    /// The versions: `1.34`, `1.34.x`, `1.34.9`, `~1.34.3` (that or a later patch), `<1.36`, `<=1.36`, `latest`, `latest-1`, or
    /// `latest-on-disk`, the newest that is installed; each may end with `!`. `use` takes the newest of them.
    #[arg(value_name = "VERSION", default_value = "latest")]
    versions: VersionChoice,

    /// The output of `use`: the folder alone, a line that a shell can read, or a description.
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    print: PrintFormat,

    /// Regard installed versions only: `use` makes none [default: true if `ENVTEST_INSTALLED_ONLY` is set].
    #[arg(short, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    installed_only: Option<bool>,

    /// Print the folder that `KUBEBUILDER_ASSETS` names, if it has the programs [default: true if `ENVTEST_USE_ENV` is set].
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    use_env: Option<bool>,

    /// The folder of the installed versions, in `k8s/VERSION-OS-ARCH` [default: `fakeserver-envtest` in the user's folder of data]
    #[arg(long, value_name = "DIR")]
    bin_dir: Option<PathBuf>,

    /// The operating system, as Go names it: this one, or `*` for `list` and `cleanup`.
    #[arg(long, default_value_t = Platform::of_program().os)]
    os: String,

    /// The architecture, as Go names it: this one, or `*` for `list` and `cleanup`.
    #[arg(long, default_value_t = Platform::of_program().arch)]
    arch: String,

    /// Make the folder anew, and replace files of these names that fakeserver has not made.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", action = ArgAction::Set)]
    force: bool,

    /// Accepted, and of no effect: there is no download to verify.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set)]
    verify: bool,

    /// Accepted, and of no effect: there is no index of downloads.
    #[arg(long, value_name = "URL")]
    index: Option<String>,

    /// The log on standard error.
    #[arg(short = 'v', long = "v", value_name = "LEVEL", value_enum)]
    pub(super) level: Option<LogLevel>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Action {
    /// Make a folder with the newest of the versions, unless it is there, and print what `--print` says.
    Use,
    /// List the versions that are installed, and those that can be.
    List,
    /// Remove installed versions: of their folders what fakeserver has made.
    Cleanup,
    /// Refused: fakeserver loads no programs of others.
    Sideload,
    /// Print the version of the program.
    Version,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum PrintFormat {
    /// Version, platform and folder.
    #[default]
    Overview,
    /// The folder, and nothing else.
    Path,
    /// The line that exports `KUBEBUILDER_ASSETS`.
    Env,
}

/// A level of `setup-envtest`'s log.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum LogLevel {
    /// Skipped versions, too.
    Debug,
    /// Chosen versions.
    Info,
    /// Nothing.
    #[value(aliases = ["error", "dpanic", "panic", "fatal"])]
    Warn,
}

/// The versions that a command line names.
#[derive(Clone, Debug)]
struct VersionChoice {
    /// The words.
    text: String,
    selector: VersionSelector,
    is_on_disk: bool,
}

/// A folder of assets.
struct AssetFolder {
    version: String,
    platform: String,
    path: PathBuf,
}

/// Does what the words say.
///
/// # Errors
///
/// There is no folder for the store, or standard output is closed.
pub(super) fn setup_envtest(options: &Options) -> Result<ExitCode, String> {
    let store = Store::at(options.bin_dir.as_deref())?;
    let outcome = match options.action {
        Action::Use => options.use_version(&store).map(|folder| options.print.text(&folder)),
        Action::List => options.list(&store),
        Action::Cleanup => options.clean_up(&store),
        Action::Sideload => Err("sideload: fakeserver makes every version itself, and loads no programs of others; use \
             `setup-envtest` for those"
            .to_owned()),
        Action::Version => Ok(format!("setup-envtest version: fakeserver {}\n", env!("CARGO_PKG_VERSION"))),
    };
    match outcome {
        Ok(text) => say(&text),
        Err(error) => {
            eprintln!("error: setup-envtest: {error}");
            Ok(ExitCode::from(REFUSED))
        }
    }
}

// === impl Options ===

impl Options {
    /// Returns the folder of the newest of the versions, which is made if it is not there.
    fn use_version(&self, store: &Store) -> Result<AssetFolder, String> {
        if self.use_env.unwrap_or_else(|| is_set("ENVTEST_USE_ENV"))
            && let Some(folder) = AssetFolder::of_environment()
        {
            return Ok(folder);
        }
        let platform = self.platform();
        if platform.is_pattern() {
            return Err(format!(
                "`use` needs one platform, and {platform} is several"
            ));
        }
        if self.is_installed_only() && self.force {
            return Err(
                "--installed-only makes nothing, and --force makes it anew: choose one".to_owned(),
            );
        }
        let items = if self.is_installed_only() {
            store.items()?
        } else {
            available()
        };
        let items: Vec<Item> = items
            .into_iter()
            .filter(|item| platform.matches(&item.platform))
            .collect();
        let item = self
            .newest(&items)
            .ok_or_else(|| self.missing(store, &items))?;
        let path = store.folder(item);
        tracing::info!(release = %item.release, ?path, "the newest of the versions");
        let path = match item.release.to_string().parse::<KubernetesVersion>() {
            Ok(version) => assets::fill(&path, version, self.force)?,
            // A release that an older fakeserver has made.
            Err(_) => path,
        };
        Ok(AssetFolder {
            version: item.release.to_string(),
            platform: item.platform.to_string(),
            path,
        })
    }

    /// Returns the first of these items, the newest, that is selected. One release by number stands for its minor version, of which
    /// there is one release only.
    fn newest<'a>(&self, items: &'a [Item]) -> Option<&'a Item> {
        let selected =
            |selector: &VersionSelector| items.iter().find(|item| selector.selects(item.release));
        selected(&self.versions.selector).or_else(|| {
            let item = selected(&self.versions.selector.of_minor()?)?;
            eprintln!(
                "note: {}: the release of this minor version that there is is {}",
                self.versions.text, item.release
            );
            Some(item)
        })
    }

    /// Returns why none of these items is selected.
    fn missing(&self, store: &Store, items: &[Item]) -> String {
        let (platform, text) = (self.platform(), &self.versions.text);
        if self.is_installed_only() {
            return format!(
                "no version {text} for {platform} is installed in {}; `fakeserver setup-envtest list -i` lists those that are, and \
                 `use` without `-i` makes one",
                store.root().display()
            );
        }
        if items.is_empty() {
            return format!(
                "no version for {platform}: this program makes those for {}",
                Platform::of_program()
            );
        }
        let releases: Vec<String> = items
            .iter()
            .rev()
            .map(|item| item.release.to_string())
            .collect();
        format!("no version {text}; there are {}", releases.join(", "))
    }

    /// Returns the table of the versions that are installed, and of those that can be.
    fn list(&self, store: &Store) -> Result<String, String> {
        let installed = store.items()?.into_iter().map(|item| ("(installed)", item));
        let available = if self.is_installed_only() {
            Vec::new()
        } else {
            available()
        };
        let available = available.into_iter().map(|item| ("(available)", item));
        let rows = installed
            .chain(available)
            .filter(|(_, item)| self.selects(item));
        let rows: Vec<(&str, String, Platform)> = rows
            .map(|(state, item)| (state, format!("v{}", item.release), item.platform))
            .collect();
        let width = rows
            .iter()
            .map(|(_, version, _)| version.len())
            .max()
            .unwrap_or_default();
        let mut table = String::new();
        for (state, version, platform) in rows {
            writeln!(table, "{state}  {version:width$}  {platform}")
                .expect("a string takes what is written");
        }
        Ok(table)
    }

    /// Removes installed versions, and returns their names.
    fn clean_up(&self, store: &Store) -> Result<String, String> {
        let mut removed = String::new();
        for item in store.items()?.into_iter().filter(|item| self.selects(item)) {
            let folder = store.folder(&item);
            match assets::clear(&folder) {
                Ok(true) => {}
                Ok(false) => eprintln!("note: {} has other files, and stays", folder.display()),
                Err(error) => {
                    // What was removed before is told all the same.
                    say(&removed)?;
                    return Err(format!("cleanup {}: {error}", folder.display()));
                }
            }
            writeln!(removed, "removed {} ({})", item.release, item.platform)
                .expect("a string takes what is written");
        }
        Ok(removed)
    }

    fn selects(&self, item: &Item) -> bool {
        self.versions.selector.selects(item.release) && self.platform().matches(&item.platform)
    }

    fn platform(&self) -> Platform {
        Platform {
            os: self.os.clone(),
            arch: self.arch.clone(),
        }
    }

    fn is_installed_only(&self) -> bool {
        self.versions.is_on_disk
            || self
                .installed_only
                .unwrap_or_else(|| is_set("ENVTEST_INSTALLED_ONLY"))
    }
}

// === impl PrintFormat ===

impl PrintFormat {
    fn text(self, folder: &AssetFolder) -> String {
        let path = folder.path.display();
        match self {
            Self::Overview => format!(
                "Version: {}\nOS/Arch: {}\nPath: {path}\n",
                folder.version, folder.platform
            ),
            // Without the end of a line, as `setup-envtest` prints it.
            Self::Path => path.to_string(),
            Self::Env => format!("export {ASSETS_VARIABLE}={}\n", quoted(&path.to_string())),
        }
    }
}

// === impl LogLevel ===

impl LogLevel {
    /// Returns the filter of logs that it stands for.
    pub(super) fn filter(self) -> &'static str {
        match self {
            Self::Debug => "warn,fakeserver_cli::setup_envtest=debug",
            Self::Info => "warn,fakeserver_cli::setup_envtest=info",
            Self::Warn => "warn",
        }
    }
}

// === impl VersionChoice ===

impl FromStr for VersionChoice {
    type Err = VersionSelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_on_disk = text == "latest-on-disk";
        let selector = if is_on_disk {
            VersionSelector::all()
        } else {
            text.parse()?
        };
        Ok(Self {
            text: text.to_owned(),
            selector,
            is_on_disk,
        })
    }
}

// === impl AssetFolder ===

impl AssetFolder {
    /// Returns the folder that the environment names, if it has the programs. Nothing is known of it but its name.
    fn of_environment() -> Option<Self> {
        let path = env::var_os(ASSETS_VARIABLE).map(PathBuf::from)?;
        if !assets::NAMES.iter().all(|name| path.join(name).is_file()) {
            tracing::info!(?path, "{ASSETS_VARIABLE} names no folder with the programs");
            return None;
        }
        let item = path
            .file_name()
            .and_then(|name| Item::of_folder(name.to_str()?));
        let (version, platform) = match item {
            Some(item) => (item.release.to_string(), item.platform.to_string()),
            None => ("*".to_owned(), "*/*".to_owned()),
        };
        Some(Self {
            version,
            platform,
            path,
        })
    }
}

/// Returns what the program can make, the newest first.
fn available() -> Vec<Item> {
    let item = |version: KubernetesVersion| Item {
        release: version.into(),
        platform: Platform::of_program(),
    };
    KubernetesVersion::all().rev().map(item).collect()
}

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// Returns the text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r#"'"'"'"#))
}
