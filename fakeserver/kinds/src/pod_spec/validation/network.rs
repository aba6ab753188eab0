//! Validation of DNS settings and host aliases.

use fakeserver_value::{field::Field, findings::Findings, names::search_domain_problems};

use crate::{addresses::check_ip, formats::check_subdomain};

const NAMESERVERS_MAX: usize = 3;

const SEARCHES_MAX: usize = 32;

const SEARCH_LIST_MAX_BYTES: usize = 2_048;

pub(super) fn check_dns(spec: &Field<'_>, found: &mut Findings) {
    let config = spec.at("dnsConfig");
    let servers = config.at("nameservers");
    if spec.at("dnsPolicy").text() == "None" {
        if !config.is_set() {
            found.required(&config, "must provide `dnsConfig` when `dnsPolicy` is None");
            return;
        }
        if servers.is_empty() {
            found.required(
                &servers,
                "must provide at least one DNS nameserver when `dnsPolicy` is None",
            );
            return;
        }
    }
    if servers.len() > NAMESERVERS_MAX {
        found.invalid(
            &servers,
            &format!("must not have more than {NAMESERVERS_MAX} nameservers"),
        );
    }
    for server in servers.items() {
        check_ip(&server, found);
    }
    let searches = config.at("searches");
    if searches.len() > SEARCHES_MAX {
        found.invalid(
            &searches,
            &format!("must not have more than {SEARCHES_MAX} search paths"),
        );
    }
    let spaces = searches.len().saturating_sub(1);
    let bytes = spaces
        + searches
            .items()
            .map(|search| search.text().len())
            .sum::<usize>();
    if bytes > SEARCH_LIST_MAX_BYTES {
        found.invalid(
            &searches,
            &format!(
                "must not have more than {SEARCH_LIST_MAX_BYTES} characters (including spaces) in the search list"
            ),
        );
    }
    for search in searches.items() {
        let name = search.text();
        if name == "." {
            continue;
        }
        let name = name.strip_suffix('.').unwrap_or(name);
        for problem in search_domain_problems(name) {
            found.invalid_as(&search, &name.into(), &problem);
        }
    }
    for option in config.at("options").items() {
        if !option.at("name").has_text() {
            found.required(&option, "must not be empty");
        }
    }
}

pub(super) fn check_host_aliases(aliases: &Field<'_>, found: &mut Findings) {
    for alias in aliases.items() {
        check_ip(&alias.at("ip"), found);
        for name in alias.at("hostnames").items() {
            check_subdomain(&name, found);
        }
    }
}
