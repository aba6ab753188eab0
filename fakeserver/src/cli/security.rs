//! Who may ask: TLS, credentials and rules.

use std::{fs, net::SocketAddr, path::PathBuf};

use clap::{ArgAction, Args, ValueEnum};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{
    kubeconfig::{Credential, Kubeconfig},
    told,
};
use crate::{
    Authorization, Certificates, FakeServer, FakeServerBuilder, UserInfo,
    authentication::StaticTokens,
};

#[derive(Debug, Args)]
#[command(next_help_heading = "Security")]
pub(super) struct SecurityOptions {
    /// Serve HTTPS, by certificates of an authority made for this run.
    ///
    /// The kubeconfig trusts it, and has a client certificate of the group system:masters.
    #[arg(long)]
    tls: bool,

    /// A further name or address that the server's certificate is for; can be repeated.
    #[arg(long, value_name = "NAME", requires = "tls")]
    tls_name: Vec<String>,

    /// What allows requests: nothing is forbidden, or the stored roles and bindings decide.
    #[arg(long, value_enum, value_name = "MODE", default_value_t = Mode::AlwaysAllow)]
    authorization: Mode,

    /// Whether requests without credentials are served, as system:anonymous.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set)]
    anonymous_auth: bool,

    /// A bearer token and whose it is; can be repeated. The kubeconfig has a context for each user.
    #[arg(long, value_name = "TOKEN=USER[,GROUP...]", value_parser = parse_token)]
    token: Vec<(String, UserInfo)>,

    /// A file of bearer tokens as kube-apiserver reads it: lines of `token,user,uid,"group1,group2"`.
    #[arg(long, value_name = "FILE")]
    token_auth_file: Option<PathBuf>,

    /// A user who gets a client certificate, and a context of the kubeconfig; can be repeated.
    #[arg(long, value_name = "USER[,GROUP...]", requires = "tls", value_parser = parse_user)]
    client_certificate: Vec<UserInfo>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    AlwaysAllow,
    Rbac,
}

/// What the options come to for a server at one address.
#[derive(Debug)]
pub(super) struct Secured {
    certificates: Option<Certificates>,
    pub(super) kubeconfig: Kubeconfig,
    authorization: Authorization,
    serves_anonymous: bool,
    tokens: Vec<(String, UserInfo)>,
}

// === impl SecurityOptions ===

impl SecurityOptions {
    /// Makes certificates and credentials for a server at `address`.
    pub(super) fn secure(&self, address: SocketAddr) -> Result<Secured, String> {
        let mut tokens = self.token.clone();
        if let Some(file) = &self.token_auth_file {
            let why = |error: &dyn std::fmt::Display| {
                format!("cannot read the tokens in {}: {error}", file.display())
            };
            let text = fs::read_to_string(file).map_err(|error| why(&error))?;
            tokens.extend(StaticTokens::parse(&text).map_err(|error| why(&error))?);
        }
        let mut users: Vec<(String, Credential)> = tokens
            .iter()
            .map(|(token, user)| (user.name().to_owned(), Credential::Token(token.clone())))
            .collect();

        let certificates = self.certificates(address)?;
        let mut administrator = Credential::None;
        if let Some(certificates) = &certificates {
            let issue = |user: &UserInfo| {
                let own = certificates.client(user).map_err(|error| told(&error))?;
                Ok::<_, String>(Credential::Certificate(own))
            };
            administrator = issue(&UserInfo::administrator())?;
            for user in &self.client_certificate {
                users.push((user.name().to_owned(), issue(user)?));
            }
        } else if self.asks_for_credentials() {
            let token = random_token()?;
            tokens.push((token.clone(), UserInfo::administrator()));
            administrator = Credential::Token(token);
        }
        Ok(Secured {
            kubeconfig: Kubeconfig {
                address,
                authority_pem: certificates.as_ref().map(Certificates::authority_pem),
                administrator,
                users,
            },
            certificates,
            authorization: match self.authorization {
                Mode::AlwaysAllow => Authorization::AlwaysAllow,
                Mode::Rbac => Authorization::Rbac,
            },
            serves_anonymous: self.anonymous_auth,
            tokens,
        })
    }

    /// Says on stderr what a user may not expect of a server at `address`.
    pub(super) fn warn(&self, address: SocketAddr) {
        if !address.ip().is_loopback() {
            let who = if self.asks_for_credentials() {
                "who has credentials"
            } else {
                "who reaches it may read and change everything"
            };
            eprintln!(
                "warning: listening on {address}, which is not the loopback interface: everybody {who}"
            );
        }
        if self.asks_for_credentials() && !self.tls {
            eprintln!("warning: kubectl sends no credentials over plain HTTP; `--tls` lets it");
        }
    }

    fn certificates(&self, address: SocketAddr) -> Result<Option<Certificates>, String> {
        if !self.tls {
            return Ok(None);
        }
        let ip = Some(address.ip()).filter(|ip| !ip.is_unspecified());
        let names = ip.map(|ip| ip.to_string()).into_iter();
        let names = names.chain(self.tls_name.iter().cloned());
        let certificates = Certificates::new(names).map_err(|error| told(&error))?;
        Ok(Some(certificates))
    }

    /// Whether who shows no credentials can do less than all.
    fn asks_for_credentials(&self) -> bool {
        self.authorization == Mode::Rbac || !self.anonymous_auth
    }
}

// === impl Secured ===

impl Secured {
    /// How URLs of the server begin.
    pub(super) fn scheme(&self) -> &'static str {
        self.kubeconfig.scheme()
    }

    /// Serves by TLS, if that is asked for.
    pub(super) async fn serve(
        &self,
        server: &FakeServer,
        listener: TcpListener,
        stop: CancellationToken,
    ) {
        match &self.certificates {
            Some(certificates) => server.serve_tls(listener, certificates, stop).await,
            None => server.serve(listener, stop).await,
        }
    }

    /// Tells the server whom it knows and what it asks of them.
    pub(super) fn configure(&self, builder: FakeServerBuilder) -> FakeServerBuilder {
        let builder = builder
            .with_authorization(self.authorization)
            .with_anonymous_auth(self.serves_anonymous);
        let tokens = self.tokens.iter();
        tokens.fold(builder, |builder, (token, user)| {
            builder.with_token(token, user.clone())
        })
    }
}

/// A token that nobody can guess.
fn random_token() -> Result<String, String> {
    let mut bytes = [0; 16];
    #[expect(
        clippy::disallowed_methods,
        reason = "a credential must not follow from a seed"
    )]
    getrandom::fill(&mut bytes).map_err(|error| format!("no randomness for a token: {error}"))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

fn parse_token(text: &str) -> Result<(String, UserInfo), String> {
    match text.split_once('=') {
        Some((token, user)) if !token.is_empty() => Ok((token.to_owned(), parse_user(user)?)),
        _ => Err("a token and its user are needed; try `secret=jane,developers`".to_owned()),
    }
}

fn parse_user(text: &str) -> Result<UserInfo, String> {
    let mut names = text.split(',').map(str::trim);
    let name = names.next().filter(|name| !name.is_empty());
    let name = name.ok_or("a user has a name; try `jane` or `jane,developers`")?;
    Ok(UserInfo::new(name).with_groups(names.filter(|group| !group.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_user_and_the_users_groups() {
        let (token, user) = parse_token("secret=jane,devs, ops,").unwrap();
        assert_eq!(token, "secret");
        assert_eq!(user.name(), "jane");
        assert_eq!(user.groups(), ["devs", "ops"]);
        for text in ["", "jane", "=jane", "s=", "s=,g"] {
            let error = parse_token(text).unwrap_err();
            assert!(error.contains("try `"), "{text}: {error}");
        }
    }
}
