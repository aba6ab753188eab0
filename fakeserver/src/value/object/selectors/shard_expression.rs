//! The expressions in which shard selectors are written: the syntax of CEL without macros, never evaluated.
//!
//! Where a text is no expression, the words of the error are shorter than those of a real server, which lists the tokens that
//! it expected.

/// The levels of expressions within expressions that are read. A real server reads 250.
const DEPTH_MAX: usize = 60;

/// The operators between two operands, from those that bind least, each with the name of its function.
const OPERATORS: [&[(&str, &str)]; 5] = [
    &[("||", "_||_")],
    &[("&&", "_&&_")],
    &[
        ("<=", "_<=_"),
        (">=", "_>=_"),
        ("==", "_==_"),
        ("!=", "_!=_"),
        ("<", "_<_"),
        (">", "_>_"),
        ("in", "@in"),
    ],
    &[("+", "_+_"), ("-", "_-_")],
    &[("*", "_*_"), ("/", "_/_"), ("%", "_%_")],
];

/// An expression.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expr {
    /// A call of a function or an operator. The target of a method is left out.
    Call {
        function: String,
        arguments: Vec<Expr>,
    },
    Ident(String),
    Select {
        operand: Box<Expr>,
        field: String,
    },
    Text(String),
    /// Another constant, by its type in Go.
    Literal(&'static str),
    List,
    Map,
}

struct Parser<'a> {
    text: &'a str,
    /// The rest that is to be read.
    rest: &'a str,
    depth: usize,
}

type Parsed<T = Expr> = Result<T, String>;

/// Parses a text as one expression.
pub(super) fn parse_expression(text: &str) -> Parsed {
    let mut parser = Parser {
        text,
        rest: text,
        depth: 0,
    };
    let expression = parser.expression()?;
    parser.skip_space();
    if parser.rest.is_empty() {
        Ok(expression)
    } else {
        Err(parser.unexpected())
    }
}

// === impl Expr ===

impl Expr {
    /// Returns the number by which errors of a real server tell its kind.
    pub(super) fn kind(&self) -> u8 {
        match self {
            Self::Call { .. } => 1,
            Self::Ident(_) => 3,
            Self::List => 4,
            Self::Text(_) | Self::Literal(_) => 5,
            Self::Map => 6,
            Self::Select { .. } => 7,
        }
    }

    fn call(function: &str, arguments: Vec<Self>) -> Self {
        Self::Call {
            function: function.to_owned(),
            arguments,
        }
    }
}

// === impl Parser ===

impl<'a> Parser<'a> {
    fn expression(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("expression recursion limit exceeded: {DEPTH_MAX}"));
        }
        let condition = self.operators(0)?;
        let expression = if self.take("?") {
            let then = self.operators(0)?;
            self.expect(":")?;
            let otherwise = self.expression()?;
            Expr::call("_?_:_", vec![condition, then, otherwise])
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expression)
    }

    /// Reads operands that operators of this level join, or of those that bind more.
    fn operators(&mut self, least: usize) -> Parsed {
        let mut left = self.unary()?;
        while let Some((level, function)) = self.operator(least) {
            let right = self.operators(level + 1)?;
            left = Expr::call(function, vec![left, right]);
        }
        Ok(left)
    }

    /// Reads an operator of this level, or of one that binds more.
    fn operator(&mut self, least: usize) -> Option<(usize, &'static str)> {
        let levels = OPERATORS.iter().enumerate().skip(least);
        let mut signs = levels.flat_map(|(level, signs)| signs.iter().map(move |own| (level, own)));
        let (level, (_, function)) = signs.find(|(_, (sign, _))| self.take(sign))?;
        Some((level, function))
    }

    fn unary(&mut self) -> Parsed {
        let mut functions = Vec::new();
        loop {
            if self.take("!") {
                functions.push("!_");
            } else if self.take("-") {
                functions.push("-_");
            } else {
                break;
            }
        }
        let mut operand = self.member()?;
        for function in functions.into_iter().rev() {
            // The sign of a number is a part of it.
            if function != "-_" || !matches!(operand, Expr::Literal("int64" | "float64")) {
                operand = Expr::call(function, vec![operand]);
            }
        }
        Ok(operand)
    }

    fn member(&mut self) -> Parsed {
        let mut operand = self.primary()?;
        loop {
            if self.take(".") {
                let field = self.name().ok_or_else(|| self.unexpected())?;
                operand = if self.take("(") {
                    Expr::call(field, self.arguments(")")?)
                } else {
                    Expr::Select {
                        operand: Box::new(operand),
                        field: field.to_owned(),
                    }
                };
            } else if self.take("[") {
                let index = self.expression()?;
                self.expect("]")?;
                operand = Expr::call("_[_]", vec![operand, index]);
            } else {
                return Ok(operand);
            }
        }
    }

    fn primary(&mut self) -> Parsed {
        if self.take("(") {
            let expression = self.expression()?;
            self.expect(")")?;
            return Ok(expression);
        }
        if self.take("[") {
            self.arguments("]")?;
            return Ok(Expr::List);
        }
        if self.take("{") {
            return self.map();
        }
        if let Some(literal) = self.text_literal()? {
            return Ok(literal);
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(self.number());
        }
        let name = self.name().ok_or_else(|| self.unexpected())?;
        Ok(match name {
            "true" | "false" => Expr::Literal("bool"),
            "null" => Expr::Literal("structpb.NullValue"),
            _ if self.take("(") => Expr::call(name, self.arguments(")")?),
            _ => Expr::Ident(name.to_owned()),
        })
    }

    /// Reads expressions up to `end`.
    fn arguments(&mut self, end: &str) -> Parsed<Vec<Expr>> {
        let mut arguments = Vec::new();
        if self.take(end) {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression()?);
            if !self.take(",") {
                self.expect(end)?;
                return Ok(arguments);
            }
        }
    }

    fn map(&mut self) -> Parsed {
        while !self.take("}") {
            self.expression()?;
            self.expect(":")?;
            self.expression()?;
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(Expr::Map)
    }

    fn text_literal(&mut self) -> Parsed<Option<Expr>> {
        self.skip_space();
        let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
            return Ok(None);
        };
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                _ if c == quote => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(Some(Expr::Text(text)));
                }
                '\\' => match chars.next() {
                    Some((_, escaped @ ('\\' | '\'' | '"' | '`' | '?'))) => text.push(escaped),
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    _ => break,
                },
                '\n' | '\r' => break,
                c => text.push(c),
            }
        }
        Err(self.unexpected())
    }

    fn number(&mut self) -> Expr {
        let is_in_number = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let end = self.rest.find(|c| !is_in_number(c));
        let (number, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        let is_float = number.contains('.') || (!number.starts_with("0x") && number.contains('e'));
        Expr::Literal(match number.as_bytes().last() {
            _ if is_float => "float64",
            Some(b'u' | b'U') => "uint64",
            _ => "int64",
        })
    }

    fn name(&mut self) -> Option<&'a str> {
        self.skip_space();
        let is_in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_in_name(c));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        self.rest = rest;
        Some(name)
    }

    /// Reads `sign` if it comes next.
    fn take(&mut self, sign: &str) -> bool {
        self.skip_space();
        let Some(rest) = self.rest.strip_prefix(sign) else {
            return false;
        };
        // A word ends where another character begins; `!` is not the beginning of `!=`.
        let is_longer = match sign {
            "in" => rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'),
            "!" => rest.starts_with('='),
            _ => false,
        };
        if !is_longer {
            self.rest = rest;
        }
        !is_longer
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.take(sign) {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    /// Returns the error of what comes next.
    fn unexpected(&self) -> String {
        let next = self.rest.chars().next();
        let next = next.map_or_else(|| "<EOF>".to_owned(), String::from);
        format!("Syntax error: mismatched input '{next}' in '{}'", self.text)
    }
}
