//! The trace of a server.

use std::{env, path::PathBuf};

use clap::Args;
use fakeserver_server::{FakeServerBuilder, TraceLog};

use super::output::{OutputArgs, create};

#[derive(Debug, Args)]
pub(super) struct TraceOptions {
    /// Write a trace of the server while it runs: requests by client, changes of objects, and faults, which
    /// `conformance trace FILE` shows. It is compressed by a name that ends in `.gz`.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Write the values of secrets to the trace, too.
    #[arg(long, requires = "trace")]
    trace_secrets: bool,

    #[command(flatten)]
    output: OutputArgs,
}

// === impl TraceOptions ===

impl TraceOptions {
    pub(super) fn configure(
        &self,
        builder: FakeServerBuilder,
    ) -> Result<FakeServerBuilder, String> {
        let Some(path) = &self.trace else {
            return Ok(builder);
        };
        let wrong = |error: &dyn std::fmt::Display| format!("--trace: {error}");
        self.output
            .check([&**path])
            .map_err(|error| wrong(&error))?;
        let file = create(path).map_err(|error| format!("--trace {}: {error}", path.display()))?;
        let mut log = TraceLog::to_writer(file, "a server");
        if self.trace_secrets {
            log = log.with_secrets();
        }
        Ok(builder.with_trace(log.with_command(command())))
    }
}

/// Returns the command of this process, as a shell reads it where that needs no thought.
fn command() -> String {
    let words = env::args_os().map(|word| {
        let word = word.to_string_lossy().into_owned();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(&byte);
        if !word.is_empty() && word.bytes().all(is_plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use clap::Parser;
    use fakeserver_server::FakeServer;
    use flate2::read::GzDecoder;

    use super::*;

    #[derive(Parser)]
    struct Options {
        #[command(flatten)]
        trace: TraceOptions,
    }

    fn build(arguments: &[&str]) -> Result<FakeServer, String> {
        let arguments = ["fakeserver"].iter().chain(arguments);
        let options = Options::parse_from(arguments);
        let builder = options.trace.configure(FakeServer::builder())?;
        Ok(builder.build())
    }

    #[test]
    fn the_values_of_secrets_are_left_out_unless_they_are_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.jsonl");
        let name = path.to_str().unwrap();
        let traced = |arguments: &[&str]| {
            let server = build(arguments).unwrap();
            let applied = "kubectl.kubernetes.io/last-applied-configuration";
            let secret = |value: &str| {
                serde_json::json!({
                    "apiVersion": "v1", "kind": "Secret",
                    "metadata": {"name": "s", "namespace": "default", "annotations": {applied: value}},
                    "data": {"password": value},
                })
            };
            server.apply(&secret("c2VjcmV0")).unwrap();
            server.apply(&secret("c2VjcmV1")).unwrap();
            drop(server);
            std::fs::read_to_string(&path).unwrap()
        };
        let hidden = traced(&["--trace", name]);
        assert!(hidden.contains("\"password\":\"(left out)\""), "{hidden}");
        assert!(!hidden.contains("c2VjcmV"), "{hidden}");
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &std::fs::metadata(&path).unwrap().permissions(),
        );
        assert_eq!(mode & 0o777, 0o600);
        let shown = traced(&["--trace", name, "--trace-secrets", "--force"]);
        assert!(
            shown.contains("c2VjcmV0") && shown.contains("c2VjcmV1"),
            "{shown}"
        );
    }

    #[test]
    fn a_file_that_is_there_is_replaced_on_request_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.jsonl");
        let name = path.to_str().unwrap();
        std::fs::write(&path, "mine").unwrap();
        let refused = build(&["--trace", name]).unwrap_err();
        assert!(refused.contains("--force"), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        drop(build(&["--trace", name, "--force"]).unwrap());
        let trace = std::fs::read_to_string(&path).unwrap();
        assert!(
            trace.starts_with("{\"format\":\"conformance-trace\""),
            "{trace}"
        );
        assert!(trace.ends_with("{\"end\":0}\n"), "{trace}");
    }

    #[test]
    fn a_name_that_ends_in_gz_compresses() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.jsonl.gz");
        drop(build(&["--trace", path.to_str().unwrap()]).unwrap());
        let mut trace = String::new();
        let file = std::fs::File::open(&path).unwrap();
        GzDecoder::new(file).read_to_string(&mut trace).unwrap();
        assert!(trace.ends_with("{\"end\":0}\n"), "{trace}");
    }
}
