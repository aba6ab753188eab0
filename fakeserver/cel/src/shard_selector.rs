//! Shard selectors, which are written as expressions of CEL and never evaluated.

use fakeserver_value::{
    go_text,
    object::selectors::{HashRange, ShardField, ShardSelector},
    status::Status,
};

use super::{
    ast::{Expr, ExprKind, Literal, operators},
    error,
    parser::parse,
};

/// The number of hashes: the end of a range that reaches to the last one.
const HASH_COUNT: u128 = 1 << 64;

/// Parses the text of a `shardSelector` parameter: calls of `shardRange`, joined by `||`. An empty text selects everything.
pub fn parse_shard_selector(text: &str) -> Result<ShardSelector, Status> {
    if text.is_empty() {
        return Ok(ShardSelector::default());
    }
    // A real server does not classify the error.
    read(text).map_err(|error| Status::unclassified(format!("invalid shard selector: {error}")))
}

fn read(text: &str) -> Result<ShardSelector, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(
            "empty shard selector is not allowed; omit the parameter for unfiltered lists"
                .to_owned(),
        );
    }
    let parsed = parse(text).map_err(|problem| error::syntax(text, &problem));
    let (expression, _) = parsed.map_err(|error| format!("CEL parse error: {error}"))?;
    let mut found = Vec::new();
    add_ranges(&expression, &mut found)?;
    let field = found.first().map_or_else(ShardField::default, |own| own.0);
    if let Some((other, _)) = found.iter().find(|(other, _)| *other != field) {
        return Err(format!(
            "all shard ranges must use the same field, got {} and {}",
            go_text::quote(other.path()),
            go_text::quote(field.path())
        ));
    }
    let ranges = found.into_iter().map(|(_, range)| range).collect();
    Ok(ShardSelector::new(field, ranges))
}

/// Adds the ranges of an expression, from left to right.
fn add_ranges(expression: &Expr, ranges: &mut Vec<(ShardField, HashRange)>) -> Result<(), String> {
    let ExprKind::Call {
        function,
        arguments,
        ..
    } = &expression.kind
    else {
        return Err(format!(
            "unexpected expression kind {}; expected shardRange() call or || operator",
            kind_number(expression)
        ));
    };
    match function.as_str() {
        operators::OR => arguments.iter().try_for_each(|own| add_ranges(own, ranges)),
        "shardRange" => {
            ranges.push(range(arguments)?);
            Ok(())
        }
        other => Err(format!(
            "unsupported function {}; only shardRange() and || are allowed",
            go_text::quote(other)
        )),
    }
}

fn range(arguments: &[Expr]) -> Result<(ShardField, HashRange), String> {
    let [field, start, end] = arguments else {
        return Err(format!(
            "shardRange() requires exactly 3 arguments, got {}",
            arguments.len()
        ));
    };
    let path =
        field_path(field).map_err(|error| format!("shardRange() first argument: {error}"))?;
    let field = [ShardField::Uid, ShardField::Namespace]
        .into_iter()
        .find(|field| field.path() == path)
        .ok_or_else(|| {
            format!(
                "unsupported field path {}; supported: object.metadata.uid, object.metadata.namespace",
                go_text::quote(&path)
            )
        })?;
    let start = hash_bound(start, "hexStart")?;
    let end = hash_bound(end, "hexEnd")?;
    if start >= end {
        return Err(format!(
            "shard range start {start:#018x} must be less than end {end:#018x}"
        ));
    }
    Ok((field, HashRange { start, end }))
}

fn field_path(expression: &Expr) -> Result<String, String> {
    match &expression.kind {
        ExprKind::Ident(name) => Ok(name.clone()),
        ExprKind::Select { operand, field, .. } => Ok(format!("{}.{field}", field_path(operand)?)),
        _ => Err(format!(
            "expected field path (e.g. object.metadata.uid), got expression kind {}",
            kind_number(expression)
        )),
    }
}

/// Reads a bound of a range: 16 hexadecimal digits, or the number of hashes.
fn hash_bound(expression: &Expr, name: &str) -> Result<u128, String> {
    let text = match &expression.kind {
        ExprKind::Literal(Literal::String(text)) => text,
        ExprKind::Literal(other) => {
            let go_type = go_type(other);
            return Err(format!("{name} must be a string literal, got {go_type}"));
        }
        _ => {
            return Err(format!(
                "{name} must be a string literal (e.g. '0xff'), got expression kind {}",
                kind_number(expression)
            ));
        }
    };
    let quoted = go_text::quote(text);
    let digits = text
        .strip_prefix("0x")
        .ok_or_else(|| format!("{name} must have '0x' prefix, got {quoted}"))?;
    match digits.len() {
        0 => return Err(format!("{name}: hex value is required after '0x'")),
        length @ 18.. => {
            let digits = go_text::quote(digits);
            return Err(format!(
                "{name}: hex value too long ({length} chars, max 17): {digits}"
            ));
        }
        _ => {}
    }
    let is_hex = |c: &char| matches!(c, '0'..='9' | 'a'..='f');
    if let Some(other) = digits.chars().find(|c| !is_hex(c)) {
        let other = go_text::quote(&other.to_string());
        return Err(format!("{name}: invalid hex character {other} in {quoted}"));
    }
    let value = u128::from_str_radix(digits, 16).map_err(|error| error.to_string())?;
    match digits.len() {
        16 => Ok(value),
        17 if value == HASH_COUNT => Ok(value),
        17 => Err(format!(
            "{name}: 17-digit hex value must be '0x10000000000000000' (2^64), got {quoted}"
        )),
        _ => Err(format!(
            "{name} must be a 0x-prefixed 16-digit hex value, got {quoted} (did you mean \"{value:#018x}\"?)"
        )),
    }
}

/// Returns the number by which errors of a real server tell the kind of an expression.
fn kind_number(expression: &Expr) -> u8 {
    match &expression.kind {
        ExprKind::Call { .. } => 1,
        ExprKind::Fold(_) => 2,
        ExprKind::Ident(_) => 3,
        ExprKind::List(_) => 4,
        ExprKind::Literal(_) => 5,
        ExprKind::Map(_) => 6,
        ExprKind::Select { .. } => 7,
        ExprKind::Struct { .. } => 8,
    }
}

/// Returns the type of a constant in Go.
fn go_type(literal: &Literal) -> &'static str {
    match literal {
        Literal::Null => "structpb.NullValue",
        Literal::Bool(_) => "bool",
        Literal::Int(_) => "int64",
        Literal::Uint(_) => "uint64",
        Literal::Double(_) => "float64",
        Literal::String(_) => "string",
        Literal::Bytes(_) => "[]uint8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOWER: &str =
        "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
    const UPPER: &str =
        "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')";

    #[test]
    fn a_shard_is_ranges_of_hashes() {
        let [lower, upper] = [LOWER, UPPER].map(|text| parse_shard_selector(text).unwrap());
        // The hashes begin with cb, af and 85; the one of `pod` with 77.
        for uid in ["", "a", "foobar"] {
            assert!(
                !lower.matches(uid, None) && upper.matches(uid, None),
                "{uid}"
            );
        }
        assert!(lower.matches("pod", None) && !upper.matches("pod", None));
        let narrow = "shardRange(object.metadata.uid, '0xaf63dc4c8601ec8c', '0xaf63dc4c8601ec8d')";
        let narrow = parse_shard_selector(narrow).unwrap();
        assert!(narrow.matches("a", Some("foobar")) && !narrow.matches("b", Some("a")));
        let by_namespace =
            "shardRange(object.metadata.namespace, '0xaf63dc4c8601ec8c', '0xaf63dc4c8601ec8d')";
        let by_namespace = parse_shard_selector(by_namespace).unwrap();
        assert!(by_namespace.matches("b", Some("a")) && !by_namespace.matches("a", None));
        assert!(parse_shard_selector("").unwrap().is_everything());
    }

    #[test]
    fn a_shard_selector_is_echoed_in_one_form() {
        let both = format!("{LOWER} || {UPPER}");
        for (text, echo) in [
            (LOWER.to_owned(), LOWER),
            (
                "  ( shardRange( object . metadata.uid,\"0x0000000000000000\",'0x8000000000000000' ) )"
                    .to_owned(),
                LOWER,
            ),
            (both.replace(" || ", "||"), both.as_str()),
            (
                format!("{LOWER} || ({UPPER} || {LOWER})"),
                &format!("{both} || {LOWER}"),
            ),
        ] {
            let parsed = parse_shard_selector(&text).unwrap();
            assert_eq!(parsed.to_string(), echo, "{text}");
            assert_eq!(parse_shard_selector(echo).unwrap(), parsed);
        }
        let whole = parse_shard_selector(&both).unwrap();
        assert!(!whole.is_everything() && whole.matches("any", None));
    }

    const LOW: &str = "'0x0000000000000000'";
    const HIGH: &str = "'0x8000000000000000'";

    fn shard_of(arguments: &str) -> String {
        format!("shardRange({arguments})")
    }

    fn shard_by_uid(start: &str, end: &str) -> String {
        shard_of(&format!("object.metadata.uid, {start}, {end}"))
    }

    #[track_caller]
    fn check_refused_shard(text: &str, error: &str) {
        let refused = parse_shard_selector(text).unwrap_err();
        let expected = format!("invalid shard selector: {error}");
        assert_eq!(
            (refused.message, refused.code.as_u16()),
            (expected, 500),
            "{text}"
        );
    }

    #[test]
    fn shard_selectors_of_another_form_are_refused_in_the_words_of_the_server() {
        let one = shard_by_uid(LOW, HIGH);
        for (text, error) in [
            (
                " ".to_owned(),
                "empty shard selector is not allowed; omit the parameter for unfiltered lists",
            ),
            (
                shard_of(&format!("object.metadata.name, {LOW}, {HIGH}")),
                "unsupported field path \"object.metadata.name\"; supported: object.metadata.uid, object.metadata.namespace",
            ),
            (
                shard_of(&format!("'uid', {LOW}, {HIGH}")),
                "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5",
            ),
            (
                shard_of("object.metadata.uid"),
                "shardRange() requires exactly 3 arguments, got 1",
            ),
            (
                one.replace("shardRange", "other"),
                "unsupported function \"other\"; only shardRange() and || are allowed",
            ),
            (
                format!("{one} && true"),
                "unsupported function \"_&&_\"; only shardRange() and || are allowed",
            ),
            (
                format!("{one} || object"),
                "unexpected expression kind 3; expected shardRange() call or || operator",
            ),
            (
                format!("{one} || {}", one.replace("uid", "namespace")),
                "all shard ranges must use the same field, got \"object.metadata.namespace\" and \"object.metadata.uid\"",
            ),
        ] {
            check_refused_shard(&text, error);
        }
    }

    #[test]
    fn bounds_of_shards_are_refused_in_the_words_of_the_server() {
        for (start, end, error) in [
            ("0", HIGH, "hexStart must be a string literal, got int64"),
            (LOW, "1.5", "hexEnd must be a string literal, got float64"),
            (
                LOW,
                "hex('0')",
                "hexEnd must be a string literal (e.g. '0xff'), got expression kind 1",
            ),
            ("'0'", HIGH, "hexStart must have '0x' prefix, got \"0\""),
            ("'0x'", HIGH, "hexStart: hex value is required after '0x'"),
            (
                "'0x000000000000000000'",
                HIGH,
                "hexStart: hex value too long (18 chars, max 17): \"000000000000000000\"",
            ),
            (
                "'0x0g'",
                HIGH,
                "hexStart: invalid hex character \"g\" in \"0x0g\"",
            ),
            (
                "'0x8'",
                HIGH,
                "hexStart must be a 0x-prefixed 16-digit hex value, got \"0x8\" (did you mean \"0x0000000000000008\"?)",
            ),
            (
                LOW,
                "'0x10000000000000001'",
                "hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got \"0x10000000000000001\"",
            ),
            (
                HIGH,
                HIGH,
                "shard range start 0x8000000000000000 must be less than end 0x8000000000000000",
            ),
        ] {
            check_refused_shard(&shard_by_uid(start, end), error);
        }
    }

    #[test]
    fn texts_that_are_no_expressions_are_no_shard_selectors() {
        let deep = format!("{}x{}", "(".repeat(10_000), ")".repeat(10_000));
        for text in ["shardRange(", "a b", "'x", "a +", &deep, "{'a': }", "a ? b"] {
            let refused = parse_shard_selector(text).unwrap_err().message;
            assert!(
                refused.starts_with("invalid shard selector: CEL parse error: "),
                "{refused}"
            );
        }
    }
}
