//! Which representation of an answer a client accepts.

use crate::status::Status;

/// How an answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Representation {
    #[default]
    Json,
    /// The metadata alone, of one object, or of each in a watch.
    PartialObject,
    /// The metadata alone, of each object in a list.
    PartialObjectList,
}

const AVAILABLE: &str = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, \
    application/vnd.kubernetes.protobuf";
const ONLY: &str = "only the following media types are accepted: application/json, application/yaml, \
    application/vnd.kubernetes.protobuf";

/// The first representation in the header that this server has; anything will do without a header.
pub(crate) fn accepted(accept: Option<&str>) -> Result<Representation, Status> {
    let Some(accept) = accept.filter(|accept| !accept.trim().is_empty()) else {
        return Ok(Representation::Json);
    };
    let mut names_json = false;
    for clause in accept.split(',') {
        let mut parts = clause.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default();
        if !matches!(media_type, "*/*" | "application/json") {
            continue;
        }
        names_json = true;
        let parameter = |name: &str| {
            parts.clone().find_map(|parameter| {
                let (key, value) = parameter.split_once('=')?;
                (key.trim() == name).then(|| value.trim())
            })
        };
        let is_meta_v1 = parameter("g").is_none_or(|group| group == "meta.k8s.io")
            && parameter("v").is_none_or(|version| version == "v1");
        match parameter("as") {
            None => return Ok(Representation::Json),
            Some("PartialObjectMetadata") if is_meta_v1 => {
                return Ok(Representation::PartialObject);
            }
            Some("PartialObjectMetadataList") if is_meta_v1 => {
                return Ok(Representation::PartialObjectList);
            }
            Some(_) => {}
        }
    }
    Err(Status::not_acceptable(if names_json {
        ONLY
    } else {
        AVAILABLE
    }))
}
