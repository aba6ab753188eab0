//! The ways by which a process says that it is ready.

use std::{fs, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};

use super::{environment::Environment, recorder::Recorder, run::TICK};

/// The longest wait for an answer to a probe.
const PROBE_LIMIT: Duration = Duration::from_secs(1);

/// The ways by which a process says that it is ready, besides its first watch or write.
#[derive(Clone, Debug, Default)]
pub struct Readiness {
    /// A pattern of its output.
    pub output: Option<regex::Regex>,
    /// A URL, as in `http://127.0.0.1:{port}/readyz`, which answers with 200.
    pub url: Option<String>,
}

// === impl Readiness ===

impl Readiness {
    /// Tells the recorder when a process of a replica is ready, for each that is started. Ends with the run.
    pub(super) async fn watch(
        self,
        environment: Environment,
        recorder: Arc<Recorder>,
        replica: usize,
    ) {
        if self.output.is_none() && self.url.is_none() {
            return;
        }
        let url = self.url.as_deref().map(|url| environment.filled(url));
        // What an earlier process has put out says nothing of the present one.
        let mut said_before = 0;
        loop {
            if recorder.is_replica_ready(replica) {
                let length = fs::metadata(environment.output.path()).map(|found| found.len());
                said_before = length.map_or(0, |length| usize::try_from(length).unwrap_or(0));
                sleep(TICK).await;
                continue;
            }
            let says_so = self.output.as_ref().is_some_and(|pattern| {
                let text = fs::read(environment.output.path()).unwrap_or_default();
                let new = text.get(said_before..).unwrap_or_default();
                pattern.is_match(&String::from_utf8_lossy(new))
            });
            let answers = match &url {
                Some(url) => probe(url).await,
                None => false,
            };
            if says_so || answers {
                recorder.set_ready(replica);
            }
            sleep(TICK).await;
        }
    }
}

/// Returns whether a URL answers with 200.
async fn probe(url: &str) -> bool {
    let Some((authority, path)) = parts(url) else {
        return false;
    };
    let ask = async {
        let mut stream = TcpStream::connect(authority).await?;
        let request = format!("GET {path} HTTP/1.0\r\nHost: {authority}\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await?;
        std::io::Result::Ok(answer.ends_with(b" 200"))
    };
    matches!(timeout(PROBE_LIMIT, ask).await, Ok(Ok(true)))
}

/// Returns the authority and the path of a URL.
pub(super) fn parts(url: &str) -> Option<(&str, &str)> {
    let rest = url.strip_prefix("http://")?;
    let place = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(place);
    authority
        .contains(':')
        .then_some((authority, if path.is_empty() { "/" } else { path }))
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn urls_of_probes_have_a_port() {
        let url = "http://127.0.0.1:8080/readyz?x";
        assert_eq!(parts(url), Some(("127.0.0.1:8080", "/readyz?x")));
        assert_eq!(parts("http://localhost:1"), Some(("localhost:1", "/")));
        assert_eq!(parts("http://localhost/"), None);
        assert_eq!(parts("https://localhost:1/"), None);
    }
}
