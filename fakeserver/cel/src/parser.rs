//! The parser of expressions: tokens become a tree, in which macros are expanded.
//!
//! Its own errors of syntax only say that there is one: [`syntax`](super::syntax) finds those that are reported.

use super::{
    ast::{Element, Entry, Expr, ExprKind, Literal, StructField, operators},
    lexer::{Token, TokenKind, tokens},
    macros,
};
use crate::names::is_reserved;

/// The maximum depth of expressions within expressions, and that of operators, fields and indices.
const DEPTH_MAX: usize = 250;
/// The stack that has to be left for one more level, and the size of another stack.
const STACK_LEFT_BYTES: usize = 128 << 10;
const STACK_BYTES: usize = 2 << 20;

/// Binary operators by precedence, the weakest first, with the functions that they call.
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
    &[("+", operators::ADD), ("-", "_-_")],
    &[("*", "_*_"), ("/", "_/_"), ("%", "_%_")],
];

/// An error of an expression with its position in characters; `None` for the expression as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExpressionError {
    pub(super) at: Option<usize>,
    pub(super) message: String,
}

/// A source of numbers for expressions.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// The depth of operators, fields and indices in each expression.
    depths: Vec<usize>,
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    ids: Ids,
    depth: usize,
}

pub(super) type ParseResult<T = Expr> = Result<T, ExpressionError>;

/// Parses an expression. Also returns the number of its subexpressions.
pub(super) fn parse(source: &str) -> ParseResult<(Expr, usize)> {
    let tokens = tokens(source)
        .map_err(|at| ExpressionError::new(at, "Syntax error: token recognition error"))?;
    let mut parser = Parser {
        tokens,
        next: 0,
        ids: Ids::default(),
        depth: 0,
    };
    let expr = parser.expression()?;
    if parser.peek().kind != TokenKind::End {
        return Err(parser.unexpected());
    }
    Ok((expr, parser.ids.depths.len()))
}

/// Calls a function that calls itself, on a stack that is large enough.
pub(super) fn deep<T>(call: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK_LEFT_BYTES, STACK_BYTES, call)
}

// === impl ExpressionError ===

impl ExpressionError {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self {
            at: Some(at),
            message: message.into(),
        }
    }

    pub(super) fn of_whole(message: String) -> Self {
        Self { at: None, message }
    }
}

// === impl Ids ===

impl Ids {
    /// Makes an expression with a number of its own.
    pub(super) fn expr(&mut self, at: usize, kind: ExprKind) -> Expr {
        let id = self.depths.len();
        let expr = Expr { id, at, kind };
        let is_counted = match &expr.kind {
            ExprKind::Select { .. } | ExprKind::Fold(_) => true,
            ExprKind::Call {
                function, target, ..
            } => {
                let is_free = [
                    operators::AND,
                    operators::OR,
                    operators::NOT,
                    operators::NEGATE,
                ];
                let is_operator = !function.starts_with(|letter: char| letter.is_alphabetic());
                target.is_some() || (is_operator && !is_free.contains(&function.as_str()))
            }
            _ => false,
        };
        let parts = expr.parts().into_iter().map(|part| self.depths[part.id]);
        let depth = parts.max().unwrap_or(0) + usize::from(is_counted);
        self.depths.push(depth);
        expr
    }

    /// Returns an error if an expression is too deep.
    fn check(&self, expr: &Expr) -> ParseResult<()> {
        if self.depths[expr.id] > DEPTH_MAX {
            let message = "max recursion depth exceeded".to_owned();
            return Err(ExpressionError::of_whole(message));
        }
        Ok(())
    }

    /// Makes a call of a function, or of a method of `target`.
    pub(super) fn call(
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
        self.expr(at, kind)
    }
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
        matches!(self.peek().kind, TokenKind::Symbol(own) if own == symbol)
    }

    /// Consumes a symbol if it is next, and returns its position.
    fn take(&mut self, symbol: &str) -> Option<usize> {
        let at = self.at();
        self.is(symbol).then(|| {
            self.next += 1;
            at
        })
    }

    fn expect(&mut self, symbol: &str) -> ParseResult<usize> {
        self.take(symbol).ok_or_else(|| self.unexpected())
    }

    fn unexpected(&self) -> ExpressionError {
        ExpressionError::new(self.at(), "Syntax error: mismatched input")
    }

    fn ident(&mut self) -> ParseResult<String> {
        let TokenKind::Ident(name) = &self.peek().kind else {
            return Err(self.unexpected());
        };
        let name = name.clone();
        self.next += 1;
        Ok(name)
    }

    fn expression(&mut self) -> ParseResult {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = format!("expression recursion limit exceeded: {DEPTH_MAX}");
            return Err(ExpressionError::of_whole(message));
        }
        let expr = deep(|| self.ternary())?;
        self.depth -= 1;
        self.ids.check(&expr)?;
        Ok(expr)
    }

    fn ternary(&mut self) -> ParseResult {
        let condition = self.binary(0)?;
        let Some(at) = self.take("?") else {
            return Ok(condition);
        };
        let yes = self.binary(0)?;
        self.expect(":")?;
        let arguments = vec![condition, yes, self.expression()?];
        Ok(self.ids.call(at, operators::CONDITIONAL, None, arguments))
    }

    /// Parses operators of a level of precedence and higher.
    fn binary(&mut self, lowest: usize) -> ParseResult {
        let mut left = self.unary()?;
        for level in (lowest..LEVELS.len()).rev() {
            left = if level < 2 {
                self.logical(left, level)?
            } else {
                self.chain(left, level)?
            };
        }
        Ok(left)
    }

    /// Parses operators of one level, and those of higher levels between them.
    fn chain(&mut self, mut left: Expr, level: usize) -> ParseResult {
        while let Some((_, function)) = LEVELS[level].iter().find(|(symbol, _)| self.is(symbol)) {
            let at = self.at();
            self.next += 1;
            let right = self.binary(level + 1)?;
            left = self.ids.call(at, function, None, vec![left, right]);
            self.ids.check(&left)?;
        }
        Ok(left)
    }

    /// Parses a chain of one logical operator, which becomes a balanced tree.
    fn logical(&mut self, first: Expr, level: usize) -> ParseResult {
        let (symbol, function) = LEVELS[level][0];
        let (mut terms, mut positions) = (vec![first], Vec::new());
        while let Some(at) = self.take(symbol) {
            positions.push(at);
            terms.push(self.binary(level + 1)?);
        }
        Ok(self.balance(terms, &positions, function))
    }

    fn balance(&mut self, mut terms: Vec<Expr>, positions: &[usize], function: &str) -> Expr {
        if terms.len() == 1 {
            return terms.remove(0);
        }
        let middle = positions.len() / 2;
        let right = terms.split_off(middle + 1);
        let left = self.balance(terms, &positions[..middle], function);
        let right = self.balance(right, &positions[middle + 1..], function);
        self.ids
            .call(positions[middle], function, None, vec![left, right])
    }

    fn unary(&mut self) -> ParseResult {
        for (symbol, function) in [("!", operators::NOT), ("-", operators::NEGATE)] {
            if !self.is(symbol) || self.is_negative_literal() {
                continue;
            }
            let at = self.at();
            let mut count = 0;
            while self.is(symbol) && !self.is_negative_literal() {
                self.next += 1;
                count += 1;
            }
            let operand = self.member()?;
            // Pairs cancel each other.
            return Ok(if count % 2 == 0 {
                operand
            } else {
                self.ids.call(at, function, None, vec![operand])
            });
        }
        self.member()
    }

    fn is_negative_literal(&self) -> bool {
        let next = self.tokens.get(self.next + 1).map(|next| &next.kind);
        self.is("-") && matches!(next, Some(TokenKind::Int(_) | TokenKind::Double(_)))
    }

    /// Parses an operand, and its fields, calls and indices.
    fn member(&mut self) -> ParseResult {
        let mut expr = self.primary()?;
        loop {
            if let Some(at) = self.take(".") {
                expr = self.selection(expr, at)?;
            } else if let Some(at) = self.take("[") {
                let function = match self.take("?") {
                    Some(_) => operators::OPTIONAL_INDEX,
                    None => operators::INDEX,
                };
                let index = self.expression()?;
                self.expect("]")?;
                expr = self.ids.call(at, function, None, vec![expr, index]);
            } else if self.is("{")
                && let Some(name) = expr.qualified_name()
            {
                expr = self.construct(name)?;
            } else {
                return Ok(expr);
            }
            self.ids.check(&expr)?;
        }
    }

    fn selection(&mut self, operand: Expr, at: usize) -> ParseResult {
        let is_optional = self.take("?").is_some();
        let field_at = self.at();
        let field = self.ident()?;
        if is_optional {
            let text = ExprKind::Literal(Literal::String(field));
            let arguments = vec![operand, self.ids.expr(field_at, text)];
            let call = operators::OPTIONAL_SELECT;
            return Ok(self.ids.call(at, call, None, arguments));
        }
        if self.is("(") {
            let at = self.at();
            let arguments = self.arguments()?;
            return macros::expand(&mut self.ids, at, &field, Some(operand), arguments);
        }
        let kind = ExprKind::Select {
            operand: Box::new(operand),
            field,
            is_test: false,
        };
        Ok(self.ids.expr(at, kind))
    }

    fn primary(&mut self) -> ParseResult {
        match &self.peek().kind {
            TokenKind::Symbol("(") => {
                self.next += 1;
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            TokenKind::Symbol("[") => self.list(),
            TokenKind::Symbol("{") => self.map(),
            TokenKind::Symbol(".") => {
                self.next += 1;
                self.name()
            }
            TokenKind::Ident(_) => self.name(),
            _ => self.literal(),
        }
    }

    fn name(&mut self) -> ParseResult {
        let at = self.at();
        let name = self.ident()?;
        if is_reserved(&name) {
            let message = format!("reserved identifier: {name}");
            return Err(ExpressionError::new(at, message));
        }
        if self.is("(") {
            let open = self.at();
            let arguments = self.arguments()?;
            return macros::expand(&mut self.ids, open, &name, None, arguments);
        }
        Ok(self.ids.expr(at, ExprKind::Ident(name)))
    }

    fn literal(&mut self) -> ParseResult {
        let at = self.at();
        let is_negative = self.is_negative_literal() && self.take("-").is_some();
        let sign = if is_negative { "-" } else { "" };
        let bad = |what: &str| ExpressionError::new(at, format!("invalid {what} literal"));
        let literal = match &self.peek().kind {
            TokenKind::Symbol("true") => Literal::Bool(true),
            TokenKind::Symbol("false") => Literal::Bool(false),
            TokenKind::Symbol("null") => Literal::Null,
            TokenKind::Int(digits) => {
                let (digits, radix) = radix(digits);
                let number = i64::from_str_radix(&format!("{sign}{digits}"), radix);
                Literal::Int(number.map_err(|_| bad("int"))?)
            }
            TokenKind::Uint(digits) => {
                let (digits, radix) = radix(digits);
                Literal::Uint(u64::from_str_radix(digits, radix).map_err(|_| bad("uint"))?)
            }
            TokenKind::Double(digits) => {
                let number = format!("{sign}0{digits}").parse();
                let number: f64 = number.map_err(|_| bad("double"))?;
                if number.is_infinite() {
                    return Err(bad("double"));
                }
                Literal::Double(number)
            }
            TokenKind::BadText => {
                return Err(ExpressionError::new(at, "invalid unicode code point"));
            }
            TokenKind::String(text) => Literal::String(text.clone()),
            TokenKind::Bytes(bytes) => Literal::Bytes(bytes.clone()),
            TokenKind::Ident(_)
            | TokenKind::EscapedIdent
            | TokenKind::Symbol(_)
            | TokenKind::End => {
                return Err(self.unexpected());
            }
        };
        self.next += 1;
        Ok(self.ids.expr(at, ExprKind::Literal(literal)))
    }

    /// Parses items up to a closing symbol. Those of lists, maps and objects may have a comma after them, or one instead.
    fn items<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        let mut all = Vec::new();
        let may_end_with_comma = close != ")";
        if (may_end_with_comma && self.take(",").is_some()) || self.is(close) {
            self.expect(close)?;
            return Ok(all);
        }
        loop {
            all.push(item(self)?);
            let has_comma = self.take(",").is_some();
            if !has_comma || (may_end_with_comma && self.is(close)) {
                self.expect(close)?;
                return Ok(all);
            }
        }
    }

    fn arguments(&mut self) -> ParseResult<Vec<Expr>> {
        self.expect("(")?;
        self.items(")", Self::expression)
    }

    fn list(&mut self) -> ParseResult {
        let at = self.expect("[")?;
        let elements = self.items("]", |parser| {
            Ok(Element {
                is_optional: parser.take("?").is_some(),
                value: parser.expression()?,
            })
        })?;
        Ok(self.ids.expr(at, ExprKind::List(elements)))
    }

    fn map(&mut self) -> ParseResult {
        let at = self.expect("{")?;
        let entries = self.items("}", |parser| {
            let is_optional = parser.take("?").is_some();
            let key = parser.expression()?;
            parser.expect(":")?;
            Ok(Entry {
                key,
                value: parser.expression()?,
                is_optional,
            })
        })?;
        Ok(self.ids.expr(at, ExprKind::Map(entries)))
    }

    fn construct(&mut self, name: String) -> ParseResult {
        let at = self.expect("{")?;
        let fields = self.items("}", |parser| {
            let is_optional = parser.take("?").is_some();
            let name = parser.ident()?;
            let at = parser.expect(":")?;
            Ok(StructField {
                at,
                name,
                value: parser.expression()?,
                is_optional,
            })
        })?;
        Ok(self.ids.expr(at, ExprKind::Struct { name, fields }))
    }
}

/// Splits the prefix of hexadecimal digits off.
fn radix(digits: &str) -> (&str, u32) {
    match digits.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (digits, 10),
    }
}
