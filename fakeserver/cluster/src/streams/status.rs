//! The status at the end of a session.

use fakeserver_value::status::Status;
use serde_json::json;

use super::channels::Protocol;

/// The end of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SessionEnd {
    /// The command has ended, with this code.
    Exited { command: String, code: u8 },
    /// The shown output has ended.
    Shown,
    /// The session has failed.
    Failed(String),
}

// === impl SessionEnd ===

impl SessionEnd {
    /// Returns the content of the error stream of a protocol. Old protocols send none after a success.
    pub(super) fn error_text(&self, protocol: Protocol) -> Option<Vec<u8>> {
        let (text, status) = match self {
            Self::Exited { code: 0, .. } | Self::Shown => {
                let status = json!({"metadata": {}, "status": "Success"});
                (None, status.to_string().into_bytes())
            }
            Self::Exited { command, code } => {
                let text = format!(
                    "command terminated with non-zero exit code: error executing command {command}, exit code {code}"
                );
                let status = json!({
                    "metadata": {},
                    "status": "Failure",
                    "message": text,
                    "reason": "NonZeroExitCode",
                    "details": {"causes": [{"reason": "ExitCode", "message": code.to_string()}]},
                });
                (Some(text), status.to_string().into_bytes())
            }
            Self::Failed(why) => {
                let status = Status::internal(why);
                let text = status.to_json();
                (Some(status.message), text)
            }
        };
        if protocol.has_status {
            Some(status)
        } else {
            text.map(String::into_bytes)
        }
    }
}
