//! Validation of client configurations.

use http::Uri;
use serde_json::{Value, json};

use crate::value::{names::subdomain_problems, status::FieldError};

const URL_FORM: &str = "; desired format: https://host[/path]";

/// Lists what is wrong with a `clientConfig`.
pub(crate) fn client_config_errors(path: &str, config: &Value) -> Vec<FieldError> {
    let (url, service) = (&config["url"], &config["service"]);
    if url.is_null() == service.is_null() {
        let detail = "exactly one of url or service is required";
        return vec![FieldError::required(path, detail)];
    }
    if url.is_null() {
        service_errors(&format!("{path}.service"), service)
    } else {
        url_errors(&format!("{path}.url"), text(url))
    }
}

fn url_errors(path: &str, url: &str) -> Vec<FieldError> {
    let invalid = |value: &str, why: &str| FieldError::invalid(path, &json!(value), why);
    let (without_fragment, fragment) = url.split_once('#').unwrap_or((url, ""));
    let Ok(parsed) = without_fragment.parse::<Uri>() else {
        let detail = format!("url must be a valid URL: parse {url:?}: invalid URI{URL_FORM}");
        return vec![FieldError::required(path, &detail)];
    };
    let mut errors = Vec::new();
    let scheme = parsed.scheme_str().unwrap_or_default();
    if scheme != "https" {
        let why = format!("'https' is the only allowed URL scheme{URL_FORM}");
        errors.push(invalid(scheme, &why));
    }
    if parsed.scheme().is_none() || parsed.host().is_none_or(str::is_empty) {
        errors.push(invalid("", &format!("host must be specified{URL_FORM}")));
    }
    let authority = parsed
        .authority()
        .map_or("", |authority| authority.as_str());
    if let Some((user, _)) = authority.rsplit_once('@') {
        errors.push(invalid(
            user,
            "user information is not permitted in the URL",
        ));
    }
    if !fragment.is_empty() {
        errors.push(invalid(fragment, "fragments are not permitted in the URL"));
    }
    if let Some(query) = parsed.query().filter(|query| !query.is_empty()) {
        errors.push(invalid(
            query,
            "query parameters are not permitted in the URL",
        ));
    }
    errors
}

fn service_errors(path: &str, service: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for field in ["name", "namespace"] {
        if text(&service[field]).is_empty() {
            let detail = format!("service {field} is required");
            errors.push(FieldError::required(format!("{path}.{field}"), &detail));
        }
    }
    if let Some(port) = service["port"].as_i64()
        && !(1..=65_535).contains(&port)
    {
        errors.push(FieldError::invalid(
            format!("{path}.port"),
            &json!(port),
            "port is not valid: must be between 1 and 65535, inclusive",
        ));
    }
    let url_path = text(&service["path"]);
    if matches!(url_path, "" | "/") {
        return errors;
    }
    let mut wrong = |why: &str| {
        let path = format!("{path}.path");
        errors.push(FieldError::invalid(path, &json!(url_path), why));
    };
    if !url_path.starts_with('/') {
        wrong("must start with a '/'");
    }
    let steps = url_path.get(1..).unwrap_or_default();
    let steps = steps.strip_suffix('/').unwrap_or(steps);
    for (index, step) in steps.split('/').enumerate() {
        if step.is_empty() {
            wrong(&format!("segment[{index}] may not be empty"));
            continue;
        }
        for problem in subdomain_problems(step) {
            wrong(&format!("segment[{index}]: {problem}"));
        }
    }
    errors
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
