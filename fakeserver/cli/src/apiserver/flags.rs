//! The command line of kube-apiserver, in the grammar of its flags.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    str::FromStr,
};

use fakeserver_versions::{KubernetesVersion, PerVersion};

/// The flags of the kube-apiserver of a version, in their order: name, `bool` or `value`, and the meaning here of those
/// that do not have their own.
static KNOWN: PerVersion<Cow<'static, str>> = PerVersion::new();

/// The flags of a command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// By name without dashes. A flag may be repeated.
    values: BTreeMap<String, Vec<String>>,
    /// Words for the user, one of each flag that is not known or means something else here.
    pub(super) notes: Vec<String>,
}

/// The flags that mean what they mean there, but without effect beside the etcd of this program, as the data of all versions say.
const OF_ETCD: [&str; 5] = [
    "etcd-cafile",
    "etcd-certfile",
    "etcd-compaction-interval",
    "etcd-keyfile",
    "etcd-prefix",
];

/// A flag that kube-apiserver has.
struct KnownFlag {
    name: &'static str,
    is_bool: bool,
    /// The meaning here, if it is another one.
    meaning: Option<&'static str>,
}

// === impl Flags ===

impl Flags {
    /// Reads `--name=value`, `--name value`, `--name` of booleans, and `-v`. Underscores are dashes.
    ///
    /// # Errors
    ///
    /// An argument is no flag, or a flag lacks its value.
    pub(super) fn parse(
        kubernetes: KubernetesVersion,
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<Self, String> {
        let mut flags = Self::default();
        let mut noted = BTreeSet::new();
        let mut arguments = arguments.into_iter().peekable();
        while let Some(argument) = arguments.next() {
            let Some(flag) = flag_of(&argument) else {
                return Err(format!(
                    "kube-apiserver takes flags only, not {argument:?}; flags are --name=value"
                ));
            };
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (flag, None),
            };
            let name = name.replace('_', "-");
            let flag_entry = KnownFlag::find(kubernetes, &name);
            let value = match (value, &flag_entry) {
                (Some(value), _) => value,
                (None, Some(flag_entry)) if flag_entry.is_bool => "true".to_owned(),
                (None, Some(_)) => arguments
                    .next()
                    .ok_or_else(|| format!("flag needs an argument: --{name}"))?,
                // What follows is its value, if it is no flag.
                (None, None) => arguments
                    .next_if(|next| !next.starts_with('-'))
                    .unwrap_or_default(),
            };
            let meaning = match flag_entry {
                None => Some("no flag of kube-apiserver that is known here"),
                Some(flag_entry) => flag_entry.meaning,
            };
            if let Some(meaning) = meaning
                && noted.insert(name.clone())
            {
                flags
                    .notes
                    .push(format!("--{name} has no effect: {meaning}"));
            }
            flags.values.entry(name).or_default().push(value);
        }
        Ok(flags)
    }

    /// Returns the value of a flag. The last one counts.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let values = self.values.get(name)?;
        let last = values.last().map(String::as_str);
        last.filter(|value| !value.is_empty())
    }

    /// Returns all values of a flag, of which each may be a list.
    pub(super) fn list<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let values = self.values.get(name).into_iter().flatten();
        let values = values.flat_map(|value| value.split(','));
        values.map(str::trim).filter(|value| !value.is_empty())
    }

    /// Returns the value of a flag as a `T`.
    ///
    /// # Errors
    ///
    /// The value does not parse.
    pub(super) fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, String> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let parsed = value.parse();
        parsed.map(Some).map_err(|error| {
            format!("invalid argument {value:?} for \"--{name}\" flag: {error}; see --help")
        })
    }

    /// Returns whether a boolean flag is set, in Go's forms.
    ///
    /// # Errors
    ///
    /// The value is no boolean.
    pub(super) fn is_set(&self, name: &str, default: bool) -> Result<bool, String> {
        match self.get(name) {
            None => Ok(default),
            Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
            Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
            Some(value) => Err(format!(
                "invalid argument {value:?} for \"--{name}\" flag: it is true or false"
            )),
        }
    }
}

/// Returns the text after the dashes.
fn flag_of(argument: &str) -> Option<&str> {
    if argument == "-h" {
        return Some("help");
    }
    let flag = argument.strip_prefix("--").or_else(|| {
        // `-v=2` and `-v 2`.
        let short = argument.strip_prefix('-')?;
        (short == "v" || short.starts_with("v=")).then_some(short)
    });
    flag.filter(|flag| !flag.is_empty() && !flag.starts_with(['-', '=']))
}

/// Returns what `kube-apiserver --help` prints.
pub(super) fn help(kubernetes: KubernetesVersion) -> String {
    let mut text = String::from(
        "kube-apiserver of fakeserver: an API server for tests, in memory, which takes the flags of the real one.\n\n\
         Usage:\n  kube-apiserver [flags]\n\n\
         Example:\n  kube-apiserver --secure-port=6443 --cert-dir=/tmp/certificates --etcd-servers=http://127.0.0.1:2379\n\n\
         Environment:\n  \
         FAKESERVER_CONTROLLERS  controllers that work, as in `fakeserver serve --controllers`; none by default\n  \
         FAKESERVER_FAULTS       a file of faults, as in `fakeserver serve --faults`\n  \
         FAKESERVER_KUBERNETES_VERSION\n                          the version to serve, as in `fakeserver serve --kubernetes-version`\n  \
         FAKESERVER_LOG          filter of logs, as in `fakeserver --log`\n  \
         FAKESERVER_SERVICE_CLUSTER_IP_RANGE\n                          ranges of services, in place of those of envtest\n\n\
         Flags that mean what they mean there:\n",
    );
    let mut others = String::from("\nFlags that are accepted:\n");
    for flag_entry in KnownFlag::all(kubernetes) {
        let value = if flag_entry.is_bool { "" } else { "=VALUE" };
        let flag = format!("--{}{value}", flag_entry.name);
        match flag_entry.meaning {
            None => text.extend(["  ", &flag, "\n"]),
            Some(meaning) => others.extend(["  ", &format!("{flag:<56}"), " ", meaning, "\n"]),
        }
    }
    text + &others
}

// === impl KnownFlag ===

impl KnownFlag {
    fn all(kubernetes: KubernetesVersion) -> impl Iterator<Item = Self> {
        let known = KNOWN.get_or_init(kubernetes, || kubernetes.kube_apiserver_flags());
        known.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ' ');
            let name = parts.next()?;
            Some(Self {
                name,
                is_bool: parts.next()? == "bool",
                meaning: parts.next().filter(|_| !OF_ETCD.contains(&name)),
            })
        })
    }

    fn find(kubernetes: KubernetesVersion, name: &str) -> Option<Self> {
        Self::all(kubernetes).find(|flag_entry| flag_entry.name.replace('_', "-") == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Flags, String> {
        Flags::parse(
            KubernetesVersion::DEFAULT,
            line.split_whitespace().map(str::to_owned),
        )
    }

    #[test]
    fn flags_are_read_as_kube_apiserver_reads_them() {
        let flags = parsed(
            "--secure-port=6443 --bind-address 127.0.0.1 --allow-privileged --anonymous_auth=F -v=2 \
             --authorization-mode=Node,RBAC --authorization-mode=Webhook",
        )
        .unwrap();
        assert_eq!(flags.parsed("secure-port"), Ok(Some(6443_u16)));
        assert_eq!(flags.get("bind-address"), Some("127.0.0.1"));
        assert_eq!(flags.is_set("allow-privileged", false), Ok(true));
        assert_eq!(flags.is_set("anonymous-auth", true), Ok(false));
        assert_eq!(flags.get("v"), Some("2"));
        let modes: Vec<_> = flags.list("authorization-mode").collect();
        assert_eq!(modes, ["Node", "RBAC", "Webhook"]);
        assert_eq!(
            flags.notes,
            ["--v has no effect: FAKESERVER_LOG sets the detail of logs here"]
        );
    }

    #[test]
    fn flags_without_effect_are_noted_once() {
        let flags =
            parsed("--nothing=1 --nothing x --audit-log-compress --etcd-servers-overrides /p --etcd-prefix /q")
                .unwrap();
        assert_eq!(
            flags.notes,
            [
                "--nothing has no effect: no flag of kube-apiserver that is known here",
                "--audit-log-compress has no effect: audit logs are not rotated here",
                "--etcd-servers-overrides has no effect: there is one store here",
            ]
        );
    }

    #[test]
    fn errors_of_command_lines() {
        for (line, expected) in [
            ("serve", "takes flags only, not \"serve\""),
            ("--", "takes flags only, not \"--\""),
            ("-x", "takes flags only, not \"-x\""),
            ("--=1", "takes flags only"),
            ("--secure-port", "flag needs an argument: --secure-port"),
        ] {
            let error = parsed(line).unwrap_err();
            assert!(error.contains(expected), "{line}: {error}");
        }
        let flags = parsed("--secure-port=x --allow-privileged=maybe").unwrap();
        let error = flags.parsed::<u16>("secure-port").unwrap_err();
        assert!(
            error.starts_with("invalid argument \"x\" for \"--secure-port\" flag"),
            "{error}"
        );
        flags.is_set("allow-privileged", false).unwrap_err();
    }

    #[test]
    fn known_flags_are_sorted_and_helped_with() {
        let names: Vec<&str> = KnownFlag::all(KubernetesVersion::DEFAULT)
            .map(|flag_entry| flag_entry.name)
            .collect();
        assert!(names.is_sorted());
        assert!(names.len() > 150, "{} flags", names.len());
        let help = help(KubernetesVersion::DEFAULT);
        assert!(!help.contains("--insecure-port"), "envtest looks for it");
    }
}
