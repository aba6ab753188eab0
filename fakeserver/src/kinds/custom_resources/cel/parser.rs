//! A parser of expressions that keeps the places of their parts.
//!
//! The parser of the crate `cel` does not give places away, and leaves out the macros of two variables and those of
//! optional values. It still says what is wrong with the syntax of a text, in the words of a real server's parser.

use super::{
    ast::{Element, Entry, Expr, ExprKind, Literal},
    lexer::{Token, TokenKind, tokens},
    macros,
};

/// The maximum nesting of an expression.
const DEPTH_MAX: usize = 250;

/// The operators of two operands by their precedence, the weakest first, with the functions that they call.
const BINARY: [&[(&str, &str)]; 5] = [
    &[("||", "_||_")],
    &[("&&", "_&&_")],
    &[
        ("==", "_==_"),
        ("!=", "_!=_"),
        ("<=", "_<=_"),
        (">=", "_>=_"),
        ("<", "_<_"),
        (">", "_>_"),
        ("in", "@in"),
    ],
    &[("+", "_+_"), ("-", "_-_")],
    &[("*", "_*_"), ("/", "_/_"), ("%", "_%_")],
];

/// An error of a text with the character at which it points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParseError {
    pub(super) at: usize,
    pub(super) message: String,
}

/// A source of numbers for expressions.
#[derive(Debug, Default)]
pub(super) struct Ids(usize);

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    ids: Ids,
    depth: usize,
}

/// Reads an expression whose syntax is known to be right.
///
/// # Errors
///
/// A macro has arguments that it cannot have, or the text is nested too deep.
pub(super) fn parse(text: &str) -> Result<Expr, ParseError> {
    let unreadable = || ParseError {
        at: 0,
        message: "Syntax error: the expression cannot be read".to_owned(),
    };
    let mut parser = Parser {
        tokens: tokens(text).ok_or_else(unreadable)?,
        next: 0,
        ids: Ids::default(),
        depth: 0,
    };
    let expr = parser.expression()?;
    if parser.peek().kind != TokenKind::End {
        return Err(unreadable());
    }
    Ok(expr)
}

// === impl Ids ===

impl Ids {
    /// Creates an expression with a number of its own.
    pub(super) fn expr(&mut self, at: usize, kind: ExprKind) -> Expr {
        self.0 += 1;
        Expr {
            id: self.0,
            at,
            kind,
        }
    }
}

// === impl Parser ===

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.peek().kind, TokenKind::Symbol(own) if own == symbol)
    }

    /// Takes a symbol if it is next, and returns its place.
    fn take(&mut self, symbol: &str) -> Option<usize> {
        self.is(symbol).then(|| self.advance().at)
    }

    fn expect(&mut self, symbol: &str) -> Result<usize, ParseError> {
        let at = self.peek().at;
        self.take(symbol).ok_or_else(|| ParseError {
            at,
            message: format!("Syntax error: expected '{symbol}'"),
        })
    }

    fn expression(&mut self) -> Result<Expr, ParseError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = format!("expression recursion limit exceeded: {DEPTH_MAX}");
            return Err(ParseError { at: 0, message });
        }
        let condition = self.binary(0)?;
        let expr = match self.take("?") {
            None => condition,
            Some(at) => {
                let first = self.binary(0)?;
                self.expect(":")?;
                let second = self.expression()?;
                self.call(at, "_?_:_", None, vec![condition, first, second])
            }
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn binary(&mut self, level: usize) -> Result<Expr, ParseError> {
        let Some(operators) = BINARY.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        if level < 2 {
            return self.logical(left, level);
        }
        loop {
            let found = operators.iter().find(|(symbol, _)| self.is(symbol));
            let Some((_, function)) = found else {
                return Ok(left);
            };
            let at = self.advance().at;
            let right = self.binary(level + 1)?;
            left = self.call(at, function, None, vec![left, right]);
        }
    }

    /// Reads a chain of one logical operator, which becomes a balanced tree.
    fn logical(&mut self, first: Expr, level: usize) -> Result<Expr, ParseError> {
        let (symbol, function) = BINARY[level][0];
        let (mut terms, mut places) = (vec![Some(first)], Vec::new());
        while let Some(at) = self.take(symbol) {
            places.push(at);
            terms.push(Some(self.binary(level + 1)?));
        }
        Ok(self.balance(&mut terms, &places, function, (0, places.len())))
    }

    fn balance(
        &mut self,
        terms: &mut [Option<Expr>],
        places: &[usize],
        function: &str,
        (low, high): (usize, usize),
    ) -> Expr {
        if low == high {
            let nothing = ExprKind::Literal(Literal::Null);
            return terms[low]
                .take()
                .unwrap_or_else(|| self.ids.expr(0, nothing));
        }
        let middle = (low + high - 1).div_ceil(2);
        let left = self.balance(terms, places, function, (low, middle));
        let right = self.balance(terms, places, function, (middle + 1, high));
        self.call(places[middle], function, None, vec![left, right])
    }

    fn unary(&mut self) -> Result<Expr, ParseError> {
        for (symbol, function) in [("!", "!_"), ("-", "-_")] {
            if !self.is(symbol) || self.is_negative_literal() {
                continue;
            }
            let at = self.advance().at;
            let mut count = 1;
            while self.is(symbol) && !self.is_negative_literal() {
                self.advance();
                count += 1;
            }
            let operand = self.member()?;
            // Two of them cancel each other.
            return Ok(if count % 2 == 0 {
                operand
            } else {
                self.call(at, function, None, vec![operand])
            });
        }
        self.member()
    }

    fn is_negative_literal(&self) -> bool {
        let next = self.tokens.get(self.next + 1).map(|token| &token.kind);
        let is_number = matches!(
            next,
            Some(TokenKind::Value(Literal::Int(_) | Literal::Double(_)))
        );
        self.is("-") && is_number
    }

    /// Reads a value and what is selected of it, called on it, or found in it.
    fn member(&mut self) -> Result<Expr, ParseError> {
        let mut expr = self.primary()?;
        loop {
            if let Some(at) = self.take(".") {
                expr = self.selection(expr, at)?;
            } else if let Some(at) = self.take("[") {
                let function = match self.take("?") {
                    Some(_) => "_[?_]",
                    None => "_[_]",
                };
                let index = self.expression()?;
                self.expect("]")?;
                expr = self.call(at, function, None, vec![expr, index]);
            } else {
                return Ok(expr);
            }
        }
    }

    fn selection(&mut self, operand: Expr, at: usize) -> Result<Expr, ParseError> {
        let is_optional = self.take("?").is_some();
        let token = self.advance();
        let TokenKind::Name(field) = token.kind else {
            return Err(ParseError {
                at: token.at,
                message: "Syntax error: expected a name".to_owned(),
            });
        };
        if is_optional {
            let text = ExprKind::Literal(Literal::Text(field));
            let field = self.ids.expr(token.at, text);
            return Ok(self.call(at, "_?._", None, vec![operand, field]));
        }
        if let Some(at) = self.take("(") {
            let arguments = self.arguments(")")?;
            return macros::expand(&mut self.ids, at, &field, Some(operand), arguments);
        }
        let kind = ExprKind::Select {
            operand: Box::new(operand),
            field,
            is_test: false,
        };
        Ok(self.ids.expr(at, kind))
    }

    fn arguments(&mut self, end: &'static str) -> Result<Vec<Expr>, ParseError> {
        let mut arguments = Vec::new();
        while self.take(end).is_none() {
            arguments.push(self.expression()?);
            if self.take(",").is_none() {
                self.expect(end)?;
                break;
            }
        }
        Ok(arguments)
    }

    fn primary(&mut self) -> Result<Expr, ParseError> {
        let token = self.advance();
        match token.kind {
            TokenKind::Value(value) => Ok(self.ids.expr(token.at, ExprKind::Literal(value))),
            TokenKind::Symbol("-") => {
                let value = match self.advance().kind {
                    TokenKind::Value(Literal::Int(value)) => Literal::Int(value.wrapping_neg()),
                    TokenKind::Value(Literal::Double(value)) => Literal::Double(-value),
                    _ => Literal::Null,
                };
                Ok(self.ids.expr(token.at, ExprKind::Literal(value)))
            }
            TokenKind::Symbol("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            TokenKind::Symbol("[") => self.list(token.at),
            TokenKind::Symbol("{") => self.map(token.at),
            TokenKind::Symbol(".") => {
                let name = self.advance();
                match name.kind {
                    TokenKind::Name(text) => self.named(name.at, format!(".{text}")),
                    _ => self.named(name.at, String::new()),
                }
            }
            TokenKind::Name(name) => self.named(token.at, name),
            TokenKind::Symbol(_) | TokenKind::End => Err(ParseError {
                at: token.at,
                message: "Syntax error: unexpected token".to_owned(),
            }),
        }
    }

    /// Reads a variable, or a call that begins with a name.
    fn named(&mut self, at: usize, name: String) -> Result<Expr, ParseError> {
        if let Some(at) = self.take("(") {
            let arguments = self.arguments(")")?;
            return macros::expand(&mut self.ids, at, &name, None, arguments);
        }
        if let Some(at) = self.take("{") {
            while self.take("}").is_none() {
                if self.advance().kind == TokenKind::End {
                    break;
                }
            }
            return Ok(self.ids.expr(at, ExprKind::Message(name)));
        }
        Ok(self.ids.expr(at, ExprKind::Ident(name)))
    }

    fn list(&mut self, at: usize) -> Result<Expr, ParseError> {
        let mut elements = Vec::new();
        while self.take("]").is_none() {
            let is_optional = self.take("?").is_some();
            let value = self.expression()?;
            elements.push(Element { value, is_optional });
            if self.take(",").is_none() {
                self.expect("]")?;
                break;
            }
        }
        Ok(self.ids.expr(at, ExprKind::List(elements)))
    }

    fn map(&mut self, at: usize) -> Result<Expr, ParseError> {
        let mut entries = Vec::new();
        while self.take("}").is_none() {
            let is_optional = self.take("?").is_some();
            let key = self.expression()?;
            self.expect(":")?;
            let value = self.expression()?;
            entries.push(Entry {
                key,
                value,
                is_optional,
            });
            if self.take(",").is_none() {
                self.expect("}")?;
                break;
            }
        }
        Ok(self.ids.expr(at, ExprKind::Map(entries)))
    }

    fn call(
        &mut self,
        at: usize,
        function: &str,
        target: Option<Expr>,
        arguments: Vec<Expr>,
    ) -> Expr {
        let kind = ExprKind::Call {
            function: function.to_owned(),
            target: target.map(Box::new),
            arguments,
        };
        self.ids.expr(at, kind)
    }
}
