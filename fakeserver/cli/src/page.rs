//! The live page of a server.

use clap::Args;
use fakeserver_server::FakeServerBuilder;

use super::security::random_token;

#[derive(Debug, Args)]
pub(super) struct PageOptions {
    /// Serve a live page of the server, at `/_control/page`: its objects, watches, faults and controls. The URL is printed.
    ///
    /// A page is shown to those who have its token, which is a new one at every start unless one is given here. A given token
    /// lets pages that are open go on after a restart; other users of this machine can read it in the list of processes.
    #[arg(
        long,
        value_name = "TOKEN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        value_parser = parse_token
    )]
    page: Option<String>,
}

// === impl PageOptions ===

impl PageOptions {
    pub(super) fn configure(&self, builder: FakeServerBuilder) -> FakeServerBuilder {
        match &self.page {
            Some(token) => builder.with_page(token),
            None => builder,
        }
    }

    /// Returns the URL of the page of a server at `url`, if there is one. Its host is an address or localhost.
    pub(super) fn url(&self, url: &str) -> Option<String> {
        let token = self.page.as_ref()?;
        Some(format!("{url}/_control/page#token={token}"))
    }
}

/// Returns the token that was given, or a random one.
fn parse_token(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if text.is_empty() {
        return random_token();
    }
    if !text.bytes().all(is_plain) {
        return Err(
            "a token has letters, digits and `-._~`; try `--page` for a random one".to_owned(),
        );
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Options {
        #[command(flatten)]
        page: PageOptions,
    }

    fn url(arguments: &[&str]) -> Option<String> {
        let arguments = ["fakeserver"].iter().chain(arguments);
        let options = Options::try_parse_from(arguments).ok()?;
        options.page.url("http://127.0.0.1:8001")
    }

    #[test]
    fn a_page_has_a_random_token_unless_one_is_given() {
        assert_eq!(url(&[]), None);
        let given = url(&["--page=mine-1"]).unwrap();
        assert_eq!(given, "http://127.0.0.1:8001/_control/page#token=mine-1");
        let [first, second] = [(); 2].map(|()| url(&["--page"]).unwrap());
        let (_, token) = first.split_once('=').unwrap();
        assert_eq!(token.len(), 32);
        assert_ne!(first, second);
        assert_eq!(url(&["--page=a b"]), None);
    }
}
