//! Access to the server: TLS, credentials and rules.

use std::{collections::BTreeSet, fs, net::SocketAddr, path::PathBuf};

use clap::{ArgAction, Args, ValueEnum};
use fakeserver_server::{
    Authorization, Certificates, FakeServer, FakeServerBuilder, edge::authentication::StaticTokens,
};
use fakeserver_value::user::UserInfo;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{
    kubeconfig::{Credential, Kubeconfig},
    with_sources,
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

    /// Authorization: nothing is forbidden, or the stored roles and bindings decide
    #[arg(long, value_enum, value_name = "MODE", default_value_t = Mode::AlwaysAllow)]
    authorization: Mode,

    /// Serve requests without credentials, as those of system:anonymous
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

/// The security of a server at one address.
#[derive(Debug)]
pub(super) struct ServerSecurity {
    certificates: Option<Certificates>,
    pub(super) kubeconfig: Kubeconfig,
    authorization: Authorization,
    serves_anonymous: bool,
    tokens: Vec<(String, UserInfo)>,
    /// The key that signs tokens of service accounts.
    token_key: [u8; 32],
}

// === impl SecurityOptions ===

impl SecurityOptions {
    /// Makes certificates and credentials for a server at `address`, whose own context in a kubeconfig is `context`.
    pub(super) fn secure(
        &self,
        address: SocketAddr,
        context: &str,
    ) -> Result<ServerSecurity, String> {
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
                let own = certificates
                    .client(user)
                    .map_err(|error| with_sources(&error))?;
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
        // A kubeconfig cannot have two users of one name: the first credential counts.
        let mut names = BTreeSet::new();
        users.retain(|(name, _)| names.insert(name.clone()));
        Ok(ServerSecurity {
            kubeconfig: Kubeconfig {
                context: context.to_owned(),
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
            token_key: random()?,
        })
    }

    /// Warns on stderr about security that a user may not expect of a server at `address`.
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
        let certificates = Certificates::new(names).map_err(|error| with_sources(&error))?;
        Ok(Some(certificates))
    }

    /// Returns whether a requester without credentials may do less than others.
    pub(super) fn asks_for_credentials(&self) -> bool {
        self.authorization == Mode::Rbac || !self.anonymous_auth
    }
}

// === impl ServerSecurity ===

impl ServerSecurity {
    /// Returns the scheme of the server's URLs.
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

    /// Configures the server's certificates, tokens and authorization.
    pub(super) fn configure(&self, builder: FakeServerBuilder) -> FakeServerBuilder {
        let mut builder = builder
            .with_authorization(self.authorization)
            .with_anonymous_auth(self.serves_anonymous)
            .with_token_key(self.token_key);
        if let Some(certificates) = &self.certificates {
            builder = builder.with_certificates(certificates);
        }
        let tokens = self.tokens.iter();
        tokens.fold(builder, |builder, (token, user)| {
            builder.with_token(token, user.clone())
        })
    }
}

/// Returns a random token of 128 bits.
pub(super) fn random_token() -> Result<String, String> {
    Ok(format!("{:032x}", u128::from_be_bytes(random()?)))
}

/// Returns bytes of the system's randomness.
pub(super) fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    #[expect(
        clippy::disallowed_methods,
        reason = "a credential must not follow from a seed"
    )]
    getrandom::fill(&mut bytes).map_err(|error| format!("no randomness for a token: {error}"))?;
    Ok(bytes)
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
    use axum::body::{Body, to_bytes};
    use clap::Parser;
    use serde_json::{Value, json};
    use tower::ServiceExt;

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

    /// The code and the answer of `server` to a request with a token, if there is one.
    async fn ask(server: &FakeServer, path: &str, token: &str, body: Value) -> (u16, Value) {
        let request = http::Request::post(path).header("content-type", "application/json");
        let request = match token {
            "" => request,
            token => request.header("authorization", format!("Bearer {token}")),
        };
        let request = request.body(Body::from(body.to_string())).unwrap();
        let answer = server.router().oneshot(request).await.unwrap();
        let code = answer.status().as_u16();
        let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        (code, serde_json::from_slice(&body).unwrap())
    }

    #[tokio::test]
    async fn a_token_of_one_server_is_unknown_to_the_next() {
        #[derive(Parser)]
        struct Options {
            #[command(flatten)]
            security: SecurityOptions,
        }

        let options = Options::parse_from(["fakeserver"]).security;
        let accounts = "/api/v1/namespaces/default/serviceaccounts";
        let start = async || {
            let secured = options.secure(([127, 0, 0, 1], 0).into(), "x").unwrap();
            let server = secured.configure(FakeServer::builder()).build();
            let account = json!({"metadata": {"name": "robot"}});
            assert_eq!(ask(&server, accounts, "", account).await.0, 201);
            server
        };
        let (first, second) = (start().await, start().await);
        let path = format!("{accounts}/robot/token");
        let (_, issued) = ask(&first, &path, "", json!({"spec": {}})).await;
        let token = issued["status"]["token"].as_str().unwrap();
        let who = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        assert_eq!(ask(&first, who, token, json!({})).await.0, 201);
        assert_eq!(ask(&second, who, token, json!({})).await.0, 401);
    }
}
