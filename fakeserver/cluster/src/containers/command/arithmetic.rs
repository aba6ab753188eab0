//! The values of arithmetic expressions.

use super::lexer::{DEPTH_MAX, is_name_char};

/// The operators by how strongly they bind, the weakest first; of one level the longer ones stand first.
const LEVELS: [&[&str]; 6] = [
    &["||"],
    &["&&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["+", "-"],
    &["*", "/", "%"],
];

struct Evaluator<'a> {
    rest: &'a str,
    depth: usize,
    value_of: &'a dyn Fn(&str) -> String,
}

/// Returns the value of an expression of integers, variables, operators as of C, and brackets.
///
/// # Errors
///
/// The expression is invalid, a variable is no number, or the value does not fit 64 bits.
pub(super) fn evaluate(expression: &str, value_of: &dyn Fn(&str) -> String) -> Result<i64, String> {
    let mut evaluator = Evaluator {
        rest: expression,
        depth: 0,
        value_of,
    };
    let value = evaluator.level(0).map_err(|why| error(expression, why))?;
    match evaluator.rest.trim_start() {
        "" => Ok(value),
        _ => Err(error(expression, "unexpected character")),
    }
}

fn error(expression: &str, why: &str) -> String {
    format!("arithmetic expression: {why}: {expression:?}")
}

// === impl Evaluator ===

impl Evaluator<'_> {
    fn level(&mut self, level: usize) -> Result<i64, &'static str> {
        let Some(operators) = LEVELS.get(level) else {
            return self.operand();
        };
        let mut value = self.level(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            let right = self.level(level + 1)?;
            value = applied(operator, value, right)?;
        }
        Ok(value)
    }

    /// Takes the next operator if it is one of these.
    fn operator(&mut self, operators: &[&'static str]) -> Option<&'static str> {
        self.rest = self.rest.trim_start();
        let found = operators
            .iter()
            .find(|operator| self.rest.starts_with(**operator))?;
        self.rest = &self.rest[found.len()..];
        Some(found)
    }

    fn operand(&mut self) -> Result<i64, &'static str> {
        if self.depth == DEPTH_MAX {
            return Err("too many levels");
        }
        self.depth += 1;
        let value = match self.operator(&["-", "+", "!", "(", "$"]) {
            Some("-") => self.operand()?.checked_neg().ok_or("out of range"),
            Some("+") => self.operand(),
            Some("!") => Ok(i64::from(self.operand()? == 0)),
            Some("(") => {
                let value = self.level(0)?;
                self.operator(&[")"]).map(|_| value).ok_or("missing `)`")
            }
            Some(_) | None => self.number(),
        };
        self.depth -= 1;
        value
    }

    /// Reads a number or a variable. One that is not set is 0.
    fn number(&mut self) -> Result<i64, &'static str> {
        let end = self.rest.find(|char| !is_name_char(char));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        let number = match word.starts_with(|char: char| char.is_ascii_digit()) {
            _ if word.is_empty() => return Err("a number is missing"),
            true => word.to_owned(),
            false => (self.value_of)(word),
        };
        match number.trim() {
            "" => Ok(0),
            number => number.parse().map_err(|_| "illegal number"),
        }
    }
}

fn applied(operator: &str, left: i64, right: i64) -> Result<i64, &'static str> {
    let value = match operator {
        "||" => Some(i64::from(left != 0 || right != 0)),
        "&&" => Some(i64::from(left != 0 && right != 0)),
        "==" => Some(i64::from(left == right)),
        "!=" => Some(i64::from(left != right)),
        "<=" => Some(i64::from(left <= right)),
        ">=" => Some(i64::from(left >= right)),
        "<" => Some(i64::from(left < right)),
        ">" => Some(i64::from(left > right)),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        _ if right == 0 => return Err("division by zero"),
        "/" => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    value.ok_or("out of range")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_those_of_integers() {
        let value_of = |name: &str| match name {
            "i" => "4".to_owned(),
            "text" => "x".to_owned(),
            _ => String::new(),
        };
        let value = |expression: &str| evaluate(expression, &value_of);
        assert_eq!(value("1 + 2*3 - i"), Ok(3));
        assert_eq!(value("($i+none) % 3 == 1 && !0"), Ok(1));
        assert_eq!(value("-(7/2) <= -3 || 0"), Ok(1));
        for (wrong, why) in [
            ("", "a number is missing"),
            ("1 +", "a number is missing"),
            ("text", "illegal number"),
            ("1 2", "unexpected character"),
            ("(1", "missing"),
            ("1/0", "division by zero"),
            ("9223372036854775807 + 1", "out of range"),
            (&"(".repeat(100), "too many levels"),
        ] {
            let error = value(wrong).unwrap_err();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }
}
