//! Validation of client configurations.

use fakeserver_value::{go_url::GoUrl, names::subdomain_problems, read::text, status::FieldError};
use serde_json::{Value, json};

const URL_FORM: &str = "; desired format: https://host[/path]";

/// Lists the errors of a `clientConfig`.
pub fn client_config_errors(path: &str, config: &Value) -> Vec<FieldError> {
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
    let parsed = match GoUrl::parse(url) {
        Ok(parsed) => parsed,
        Err(problem) => {
            let detail = format!("url must be a valid URL: parse {url:?}: {problem}{URL_FORM}");
            return vec![FieldError::required(path, &detail)];
        }
    };
    let mut errors = Vec::new();
    if parsed.scheme != "https" {
        let why = format!("'https' is the only allowed URL scheme{URL_FORM}");
        errors.push(invalid(&parsed.scheme, &why));
    }
    if parsed.host.is_empty() {
        errors.push(invalid("", &format!("host must be specified{URL_FORM}")));
    }
    for (part, why) in [
        (parsed.user, "user information is not permitted in the URL"),
        (parsed.fragment, "fragments are not permitted in the URL"),
        (
            parsed.query,
            "query parameters are not permitted in the URL",
        ),
    ] {
        if !part.is_empty() {
            errors.push(invalid(part, why));
        }
    }
    errors
}

fn service_errors(path: &str, service: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    // A real server takes the one for the other.
    for (field, called) in [("namespace", "name"), ("name", "namespace")] {
        if text(&service[field]).is_empty() {
            errors.push(FieldError::required(format!("{path}.{called}"), ""));
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
