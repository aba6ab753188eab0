//! The parser of CEL: tokens become a tree, in which macros are expanded.
//!
//! The parser of the crate `cel` reports syntax errors in a real server's words, but it keeps no positions of what it
//! has parsed, which errors of types need; it does not know the macros of optional values, two variables, sorting and
//! bindings either. So a valid expression is parsed here.

use super::{
    ast::{Bind, BindKind, Call, Element, Entry, Expr, Literal, Node, StructField, operators},
    lexer::{Token, TokenKind, tokens},
    macros,
};

/// The maximum depth of nested expressions.
const DEPTH_MAX: usize = 96;

/// Names that are no identifiers.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// A syntax error with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(super) at: usize,
    pub(super) message: String,
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

type Parsed<T = Expr> = Result<T, SyntaxError>;

/// Parses an expression.
pub(crate) fn parse(source: &str) -> Parsed {
    let tokens = tokens(source).map_err(|at| error(at, "Syntax error: token recognition error"))?;
    let mut parser = Parser {
        tokens,
        next: 0,
        depth: 0,
    };
    let expr = parser.expr()?;
    if parser.peek().kind != TokenKind::End {
        return Err(parser.unexpected());
    }
    Ok(expr)
}

// === impl Parser ===

impl Parser {
    fn peek(&self) -> &Token {
        // The last token is `End`, which is never consumed.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn at(&self) -> usize {
        self.peek().at
    }

    fn is(&self, symbol: &str) -> bool {
        self.peek().kind == TokenKind::Symbol(symbol_of(symbol))
    }

    /// Consumes a symbol if it is next, and returns its position.
    fn take(&mut self, symbol: &str) -> Option<usize> {
        let at = self.at();
        self.is(symbol).then(|| {
            self.next += 1;
            at
        })
    }

    fn expect(&mut self, symbol: &str) -> Parsed<usize> {
        self.take(symbol).ok_or_else(|| self.unexpected())
    }

    fn unexpected(&self) -> SyntaxError {
        error(self.at(), "Syntax error: mismatched input")
    }

    fn ident(&mut self) -> Parsed<String> {
        match self.peek().kind.clone() {
            TokenKind::Ident(name)
                if !matches!(name.as_str(), "true" | "false" | "null" | "in") =>
            {
                self.next += 1;
                Ok(name)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn expr(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(error(self.at(), "expression recursion limit exceeded"));
        }
        let condition = self.binary(0)?;
        let expr = match self.take("?") {
            Some(at) => {
                let yes = self.binary(0)?;
                self.expect(":")?;
                let no = self.expr()?;
                call(at, operators::CONDITIONAL, vec![condition, yes, no])
            }
            None => condition,
        };
        self.depth -= 1;
        Ok(expr)
    }

    /// Parses operators of a level of precedence and higher.
    fn binary(&mut self, level: usize) -> Parsed {
        let Some(own) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        loop {
            let found = own.iter().find(|(symbol, _)| match *symbol {
                "in" => self.peek().kind == TokenKind::Ident("in".to_owned()),
                symbol => self.is(symbol),
            });
            let Some((_, function)) = found else {
                return Ok(left);
            };
            let at = self.at();
            self.next += 1;
            let right = self.binary(level + 1)?;
            left = call(at, function, vec![left, right]);
        }
    }

    fn unary(&mut self) -> Parsed {
        let at = self.at();
        for (symbol, function) in [("!", operators::NOT), ("-", operators::NEGATE)] {
            let mut count = 0;
            while self.take(symbol).is_some() {
                count += 1;
            }
            if count == 0 {
                continue;
            }
            if symbol == "-" && count == 1 {
                let is_number =
                    |kind: &TokenKind| matches!(kind, TokenKind::Int(_) | TokenKind::Double(_));
                if is_number(&self.peek().kind) {
                    let number = self.literal(at, true)?;
                    return self.members(number);
                }
            }
            let operand = self.member()?;
            // Pairs cancel each other.
            return Ok(if count % 2 == 0 {
                operand
            } else {
                call(at, function, vec![operand])
            });
        }
        self.member()
    }

    fn member(&mut self) -> Parsed {
        let primary = self.primary()?;
        self.members(primary)
    }

    /// Parses what follows an operand: fields, calls, indices.
    fn members(&mut self, mut expr: Expr) -> Parsed {
        loop {
            if let Some(at) = self.take(".") {
                let is_optional = self.take("?").is_some();
                let field = self.ident()?;
                if !is_optional && self.is("(") {
                    let at = self.at();
                    let args = self.args()?;
                    expr = macros::member(at, expr, field, args)?;
                } else {
                    expr = Expr {
                        at,
                        node: Node::Select {
                            operand: Box::new(expr),
                            field,
                            is_optional,
                        },
                    };
                }
            } else if let Some(at) = self.take("[") {
                let is_optional = self.take("?").is_some();
                let index = self.expr()?;
                self.expect("]")?;
                let function = if is_optional {
                    operators::OPTIONAL_INDEX
                } else {
                    operators::INDEX
                };
                expr = call(at, function, vec![expr, index]);
            } else if self.is("{")
                && let Some(name) = expr.qualified_name()
            {
                expr = self.construct(name)?;
            } else {
                return Ok(expr);
            }
        }
    }

    fn primary(&mut self) -> Parsed {
        let at = self.at();
        match self.peek().kind.clone() {
            TokenKind::Symbol("(") => {
                self.next += 1;
                let inner = self.expr()?;
                self.expect(")")?;
                Ok(inner)
            }
            TokenKind::Symbol("[") => self.list(),
            TokenKind::Symbol("{") => self.map(),
            TokenKind::Symbol(".") => {
                self.next += 1;
                self.name()
            }
            TokenKind::Ident(name) if !matches!(name.as_str(), "true" | "false" | "null") => {
                self.name()
            }
            _ => self.literal(at, false),
        }
    }

    fn name(&mut self) -> Parsed {
        let at = self.at();
        let name = self.ident()?;
        if RESERVED.contains(&name.as_str()) {
            return Err(error(at, &format!("reserved identifier: {name}")));
        }
        if self.is("(") {
            let open = self.at();
            let args = self.args()?;
            return macros::global(open, name, args);
        }
        Ok(Expr {
            at,
            node: Node::Ident(name),
        })
    }

    fn literal(&mut self, at: usize, is_negative: bool) -> Parsed {
        let token = self.peek().kind.clone();
        let bad = |what: &str| error(at, &format!("invalid {what} literal"));
        let sign = if is_negative { "-" } else { "" };
        let literal = match token {
            TokenKind::Ident(name) => match name.as_str() {
                "true" => Literal::Bool(true),
                "false" => Literal::Bool(false),
                "null" => Literal::Null,
                _ => return Err(self.unexpected()),
            },
            TokenKind::Int(digits) => Literal::Int(
                integer(&digits, |digits, radix| {
                    i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()
                })
                .ok_or_else(|| bad("int"))?,
            ),
            TokenKind::Uint(digits) => Literal::Uint(
                integer(&digits, |digits, radix| {
                    u64::from_str_radix(digits, radix).ok()
                })
                .ok_or_else(|| bad("uint"))?,
            ),
            TokenKind::Double(digits) => Literal::Double(
                format!("{sign}{digits}")
                    .parse()
                    .map_err(|_| bad("double"))?,
            ),
            TokenKind::String(text) => Literal::String(text),
            TokenKind::Bytes(bytes) => Literal::Bytes(bytes),
            TokenKind::Symbol(_) | TokenKind::End => return Err(self.unexpected()),
        };
        self.next += 1;
        Ok(Expr {
            at,
            node: Node::Literal(literal),
        })
    }

    /// Parses items up to a closing symbol; a comma after the last is allowed.
    fn items<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut all = Vec::new();
        loop {
            if self.take(close).is_some() {
                return Ok(all);
            }
            all.push(item(self)?);
            if self.take(",").is_none() {
                self.expect(close)?;
                return Ok(all);
            }
        }
    }

    fn args(&mut self) -> Parsed<Vec<Expr>> {
        self.expect("(")?;
        self.items(")", Self::expr)
    }

    fn list(&mut self) -> Parsed {
        let at = self.expect("[")?;
        let elements = self.items("]", |parser| {
            Ok(Element {
                is_optional: parser.take("?").is_some(),
                value: parser.expr()?,
            })
        })?;
        Ok(Expr {
            at,
            node: Node::List(elements),
        })
    }

    fn map(&mut self) -> Parsed {
        let at = self.expect("{")?;
        let entries = self.items("}", |parser| {
            let is_optional = parser.take("?").is_some();
            let key = parser.expr()?;
            parser.expect(":")?;
            Ok(Entry {
                key,
                value: parser.expr()?,
                is_optional,
            })
        })?;
        Ok(Expr {
            at,
            node: Node::Map(entries),
        })
    }

    fn construct(&mut self, name: String) -> Parsed {
        let at = self.expect("{")?;
        let fields = self.items("}", |parser| {
            let is_optional = parser.take("?").is_some();
            let name = parser.ident()?;
            let at = parser.expect(":")?;
            Ok(StructField {
                at,
                name,
                value: parser.expr()?,
                is_optional,
            })
        })?;
        Ok(Expr {
            at,
            node: Node::Struct { name, fields },
        })
    }
}

/// Binary operators by precedence, lowest first.
const LEVELS: [&[(&str, &str)]; 5] = [
    &[("||", operators::OR)],
    &[("&&", operators::AND)],
    &[
        ("==", operators::EQUALS),
        ("!=", operators::NOT_EQUALS),
        ("<=", "_<=_"),
        (">=", "_>=_"),
        ("<", "_<_"),
        (">", "_>_"),
        ("in", operators::IN),
    ],
    &[("+", "_+_"), ("-", "_-_")],
    &[("*", "_*_"), ("/", "_/_"), ("%", "_%_")],
];

/// Makes a call of a function without a target.
pub(super) fn call(at: usize, function: &str, args: Vec<Expr>) -> Expr {
    Expr {
        at,
        node: Node::Call(Call {
            target: None,
            function: function.to_owned(),
            args,
        }),
    }
}

/// Makes an expression with a variable.
pub(super) fn bind(at: usize, kind: BindKind, variable: String, value: Expr, body: Expr) -> Expr {
    Expr {
        at,
        node: Node::Bind(Box::new(Bind {
            kind,
            variable,
            value,
            body,
        })),
    }
}

pub(super) fn error(at: usize, message: &str) -> SyntaxError {
    SyntaxError {
        at,
        message: message.to_owned(),
    }
}

fn integer<T>(digits: &str, read: impl Fn(&str, u32) -> Option<T>) -> Option<T> {
    match digits.strip_prefix("0x") {
        Some(digits) => read(digits, 16),
        None => read(digits, 10),
    }
}

/// Returns the constant that is equal to a symbol.
fn symbol_of(symbol: &str) -> &'static str {
    super::lexer::SYMBOLS
        .into_iter()
        .find(|known| *known == symbol)
        .unwrap_or_default()
}
