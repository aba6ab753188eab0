//! Static bearer tokens, configured at the start.

use std::{collections::BTreeMap, sync::Arc};

use fakeserver_value::user::UserInfo;

/// Static bearer tokens and their users.
#[derive(Clone, Debug, Default)]
pub struct StaticTokens {
    users: BTreeMap<String, Arc<UserInfo>>,
}

// === impl StaticTokens ===

impl StaticTokens {
    /// Makes `token` one of `user`. A token that is there already is one of the new user.
    pub(crate) fn insert(&mut self, token: String, user: UserInfo) {
        self.users.insert(token, Arc::new(user.authenticated()));
    }

    /// Reads a line of `--token-auth-file` after another: `token,user,uid` and optionally `"group1,group2"`.
    ///
    /// Empty lines are skipped. The error names the line.
    pub fn parse(text: &str) -> Result<Vec<(String, UserInfo)>, String> {
        let lines = text.lines().enumerate();
        lines
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(index, line)| {
                let columns = columns(line);
                let [token, name, uid, rest @ ..] = columns.as_slice() else {
                    return Err(format!(
                        "line {}: at least 3 columns are needed (token, user name, user uid), found {}",
                        index + 1,
                        columns.len()
                    ));
                };
                if token.is_empty() {
                    return Err(format!("line {}: the token is empty", index + 1));
                }
                let groups = rest.first().map(String::as_str).unwrap_or_default();
                let groups = groups.split(',').filter(|group| !group.is_empty());
                let user = UserInfo::new(name).with_uid(uid).with_groups(groups);
                Ok((token.clone(), user))
            })
            .collect()
    }

    pub(super) fn user(&self, token: &str) -> Option<&Arc<UserInfo>> {
        self.users.get(token)
    }
}

/// The columns of a line of comma-separated values. A column in quotation marks may have commas, and `""` for one mark.
fn columns(line: &str) -> Vec<String> {
    let mut columns = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = line.trim_end_matches('\r').chars().peekable();
    while let Some(character) = characters.next() {
        let column = columns.last_mut().expect("there is always a column");
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                column.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => columns.push(String::new()),
            other => column.push(other),
        }
    }
    columns
}
