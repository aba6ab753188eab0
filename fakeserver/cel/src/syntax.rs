//! Errors of syntax, in the words of the parser that ANTLR generates for a real server.
//!
//! The parser reports an error, skips tokens or inserts a missing one, and continues, so that an expression may have
//! several errors. This follows its default strategy, with a limit on the number of recoveries.

use std::{cell::Cell, collections::BTreeSet};

use super::{
    configurations::Configurations,
    grammar::{
        Decision, END, GRAMMAR, NAMES, Position, Prediction, RULE_END, State, TokenSet, has, token,
    },
    lexer::{Token, TokenKind, all_tokens},
    parser::{ExpressionError, deep},
};

/// The maximum number of recoveries from errors.
const RECOVERIES_MAX: usize = 30;

/// The number of rules that may be read within each other. One level of parentheses takes eight.
const CALLERS_MAX: usize = 3_000;
/// The number of steps that predictions may take: no expression that people write takes as many.
const STEPS_MAX: usize = 200_000;

/// The parser, which only finds errors.
struct Recognizer<'a> {
    /// The characters of the source, but for those of no token.
    source: &'a [Option<char>],
    tokens: Vec<Token>,
    next: usize,
    state: usize,
    /// The states after the calls of the rules that are being read.
    callers: Vec<usize>,
    errors: Vec<ExpressionError>,
    /// True from an error to the next token that fits. Other errors are not reported then.
    is_recovering: bool,
    recoveries: usize,
    /// The token and the states of errors since one that fits.
    last_error: Option<(usize, BTreeSet<usize>)>,
    /// The steps that predictions have taken.
    steps: Cell<usize>,
}

/// An error that ends a rule.
enum RecognitionError {
    Mismatch,
    /// No choice fits the tokens up to this one.
    NoViableAlternative(usize),
    /// Recovery was attempted too often, or the limit of depth or of steps is reached.
    Limit,
}

/// Returns the errors of syntax in an expression, in the order of their positions.
pub(super) fn errors(source: &str) -> Vec<ExpressionError> {
    let mut source: Vec<Option<char>> = source.chars().map(Some).collect();
    let (tokens, unknown) = all_tokens(&source);
    let errors = unknown.into_iter().map(|range| {
        let at = range.start;
        let text: String = source[range].iter_mut().filter_map(Option::take).collect();
        let message = format!("Syntax error: token recognition error at: '{text}'");
        ExpressionError::new(at, message)
    });
    let errors = errors.collect();
    let mut recognizer = Recognizer {
        source: &source,
        tokens,
        next: 0,
        state: 0,
        callers: Vec::new(),
        errors,
        is_recovering: false,
        recoveries: 0,
        last_error: None,
        steps: Cell::new(0),
    };
    // The limit of recoveries was reported already; after the other limits the caller reports its own error.
    let _ = recognizer.rule(0, 0);
    let mut errors = recognizer.errors;
    errors.sort_by_key(|error| error.at);
    errors
}

fn number(kind: &TokenKind) -> u8 {
    let name = match kind {
        TokenKind::Ident(_) => "IDENTIFIER",
        TokenKind::EscapedIdent => "ESC_IDENTIFIER",
        TokenKind::Int(_) => "NUM_INT",
        TokenKind::Uint(_) => "NUM_UINT",
        TokenKind::Double(_) => "NUM_FLOAT",
        TokenKind::String(_) | TokenKind::BadText => "STRING",
        TokenKind::Bytes(_) => "BYTES",
        TokenKind::Symbol(symbol) => return token(&format!("'{symbol}'")).unwrap_or(END),
        TokenKind::End => return END,
    };
    token(name).unwrap_or(END)
}

fn print(set: TokenSet) -> String {
    let names = (0..).zip(NAMES).filter(|(token, _)| has(set, *token));
    let names: Vec<&str> = names.map(|(_, name)| name).collect();
    match names.as_slice() {
        [name] => (*name).to_owned(),
        names => format!("{{{}}}", names.join(", ")),
    }
}

// === impl Recognizer ===

impl Recognizer<'_> {
    fn rule(&mut self, rule: usize, precedence: u8) -> Result<(), RecognitionError> {
        if let Err(error) = self.read(GRAMMAR.starts[rule], precedence) {
            self.report_error(&error)?;
            self.recover()?;
        }
        Ok(())
    }

    /// Reads from a state to the end of its rule.
    fn read(&mut self, mut state: usize, precedence: u8) -> Result<(), RecognitionError> {
        loop {
            self.state = state;
            state = match &GRAMMAR.states[state] {
                State::Token { set, next } => {
                    self.read_token(*set)?;
                    *next
                }
                State::Call {
                    rule,
                    precedence,
                    next,
                } => {
                    if self.callers.len() == CALLERS_MAX {
                        return Err(RecognitionError::Limit);
                    }
                    self.callers.push(*next);
                    deep(|| self.rule(*rule, *precedence))?;
                    self.callers.pop();
                    *next
                }
                State::Decision(decision) => {
                    self.sync(decision.position)?;
                    decision.next[self.decide(decision, precedence)?]
                }
                State::RuleEnd => return Ok(()),
            };
        }
    }

    fn read_token(&mut self, set: TokenSet) -> Result<(), RecognitionError> {
        if has(set, self.ahead(0)) {
            self.report_match();
            self.consume();
            return Ok(());
        }
        self.count_recovery()?;
        if self.delete_token() {
            self.consume();
            return Ok(());
        }
        let State::Token { next, .. } = GRAMMAR.states[self.state] else {
            return Err(RecognitionError::Mismatch);
        };
        if !has(self.expected_at(next), self.ahead(0)) {
            return Err(RecognitionError::Mismatch);
        }
        // The token is missing before this one.
        let expected = print(self.expected());
        let excerpt = self.excerpt(self.next, self.next);
        self.report(self.next, &format!("missing {expected} at {excerpt}"));
        Ok(())
    }

    /// Returns the number of a token that follows.
    fn ahead(&self, count: usize) -> u8 {
        let last = self.tokens.len() - 1;
        number(&self.tokens[(self.next + count).min(last)].kind)
    }

    fn consume(&mut self) {
        if self.ahead(0) != END {
            self.next += 1;
        }
    }

    fn consume_until(&mut self, set: TokenSet) {
        while self.ahead(0) != END && !has(set, self.ahead(0)) {
            self.consume();
        }
    }

    fn report_match(&mut self) {
        self.is_recovering = false;
        self.last_error = None;
    }

    /// Leaves out a token if the one after it fits.
    fn delete_token(&mut self) -> bool {
        if !has(self.expected(), self.ahead(1)) {
            return false;
        }
        self.report_unwanted();
        self.consume();
        self.report_match();
        true
    }

    fn report_unwanted(&mut self) {
        let (excerpt, expected) = (self.excerpt(self.next, self.next), print(self.expected()));
        let message = format!("extraneous input {excerpt} expecting {expected}");
        self.report(self.next, &message);
    }

    fn report_error(&mut self, error: &RecognitionError) -> Result<(), RecognitionError> {
        match error {
            RecognitionError::Mismatch => {
                let (excerpt, expected) =
                    (self.excerpt(self.next, self.next), print(self.expected()));
                let message = format!("mismatched input {excerpt} expecting {expected}");
                self.report(self.next, &message);
            }
            RecognitionError::NoViableAlternative(at) => {
                let excerpt = match self.ahead(0) {
                    END => "'<EOF>'".to_owned(),
                    _ => self.excerpt(self.next, *at),
                };
                let word = excerpt
                    .strip_prefix("'.")
                    .and_then(|excerpt| excerpt.strip_suffix('\''));
                let message = match word {
                    Some(word @ ("true" | "false" | "null")) => {
                        format!("mismatched input '{word}' expecting IDENTIFIER")
                    }
                    _ => format!("no viable alternative at input {excerpt}"),
                };
                self.report(*at, &message);
            }
            RecognitionError::Limit => return Err(RecognitionError::Limit),
        }
        Ok(())
    }

    fn report(&mut self, at: usize, message: &str) {
        if !self.is_recovering {
            self.is_recovering = true;
            let at = self.tokens[at].at;
            let message = format!("Syntax error: {message}");
            self.errors.push(ExpressionError::new(at, message));
        }
    }

    /// Returns the source text of a range of tokens.
    fn excerpt(&self, first: usize, last: usize) -> String {
        let (from, to) = (self.tokens[first].at, self.tokens[last].end);
        let text: String = self.source[from..to].iter().flatten().collect();
        let is_end = first == last && self.tokens[last].kind == TokenKind::End;
        let text = if is_end { "<EOF>".to_owned() } else { text };
        let text = text.replace('\t', "\\t").replace('\n', "\\n");
        format!("'{}'", text.replace('\r', "\\r"))
    }

    fn count_recovery(&mut self) -> Result<(), RecognitionError> {
        if self.recoveries == RECOVERIES_MAX {
            self.is_recovering = false;
            let message = format!("error recovery attempt limit exceeded: {RECOVERIES_MAX}");
            self.report(self.next, &message);
            return Err(RecognitionError::Limit);
        }
        self.recoveries += 1;
        Ok(())
    }

    /// Leaves out tokens until one that may follow.
    fn recover(&mut self) -> Result<(), RecognitionError> {
        self.count_recovery()?;
        let (at, mut states) = self.last_error.take().unwrap_or_default();
        if at == self.next && states.contains(&self.state) {
            self.consume();
        }
        states.insert(self.state);
        self.last_error = Some((self.next, states));
        self.consume_until(self.recovery_set());
        Ok(())
    }

    /// Handles a token that does not fit a decision, before it is made.
    fn sync(&mut self, position: Position) -> Result<(), RecognitionError> {
        let fitting = begins(self.state);
        if self.is_recovering || has(fitting, self.ahead(0)) || fitting & RULE_END != 0 {
            return Ok(());
        }
        match position {
            Position::BlockStart if self.delete_token() => Ok(()),
            Position::BlockStart => Err(RecognitionError::Mismatch),
            Position::LoopBack => {
                self.report_unwanted();
                self.consume_until(self.expected() | self.recovery_set());
                Ok(())
            }
        }
    }

    /// Returns the tokens that fit the state.
    fn expected(&self) -> TokenSet {
        self.expected_at(self.state)
    }

    fn expected_at(&self, state: usize) -> TokenSet {
        let mut set = begins(state);
        for caller in self.callers.iter().rev() {
            if set & RULE_END == 0 {
                break;
            }
            set = set & !RULE_END | begins(*caller);
        }
        set
    }

    /// Returns the tokens that may follow the rules that are being read.
    fn recovery_set(&self) -> TokenSet {
        let sets = self.callers.iter().map(|caller| begins(*caller));
        sets.fold(0, |all, set| all | set) & !RULE_END
    }

    /// Returns which choice is taken.
    fn decide(&self, decision: &Decision, precedence: u8) -> Result<usize, RecognitionError> {
        let (ahead, last) = (self.ahead(0), decision.next.len() - 1);
        let fits = |choice: &usize| has(begins(decision.next[*choice]), ahead);
        match &decision.prediction {
            Prediction::Optional => Ok((0..last).find(fits).unwrap_or(last)),
            Prediction::Switch => (0..=last)
                .find(fits)
                .ok_or(RecognitionError::NoViableAlternative(self.next)),
            Prediction::Operators(precedences) => {
                let is_strong = |choice: &usize| precedences[*choice] >= precedence;
                let choice = (0..last).find(|choice| is_strong(choice) && fits(choice));
                Ok(choice.unwrap_or(last))
            }
            Prediction::Lookahead => match self.predict(decision, false)? {
                Some(choice) => Ok(choice),
                None => Ok(self.predict(decision, true)?.unwrap_or_default()),
            },
        }
    }

    /// Follows all choices at once until one is left. Where the callers are not taken into account, a conflict has no
    /// result.
    fn predict(
        &self,
        decision: &Decision,
        is_full: bool,
    ) -> Result<Option<usize>, RecognitionError> {
        let mut configurations = Configurations::new(is_full);
        for (choice, next) in decision.next.iter().enumerate() {
            let callers = if is_full {
                self.callers.clone()
            } else {
                Vec::new()
            };
            configurations.add((choice, *next, callers), false);
        }
        for count in 0.. {
            self.steps.set(self.steps.get() + configurations.steps());
            if self.steps.get() > STEPS_MAX {
                return Err(RecognitionError::Limit);
            }
            let following = configurations.after(self.ahead(count));
            if following.is_empty() {
                let at = (self.next + count).min(self.tokens.len() - 1);
                return configurations
                    .finished()
                    .map(Some)
                    .ok_or(RecognitionError::NoViableAlternative(at));
            }
            configurations = following;
            let only = configurations.only();
            if only.is_some() || (!is_full && configurations.is_conflict()) {
                return Ok(only);
            }
            if is_full && let Some(choice) = configurations.least() {
                return Ok(Some(choice));
            }
        }
        Ok(None)
    }
}

/// Returns the tokens with which a state can begin, and whether it can reach the end of its rule without one.
fn begins(state: usize) -> TokenSet {
    match &GRAMMAR.states[state] {
        State::Token { set, .. } => *set,
        State::Call { rule, .. } => begins(GRAMMAR.starts[*rule]),
        // Steps of a loop are not followed again.
        State::Decision(decision) => decision
            .next
            .iter()
            .fold(0, |set, next| set | begins(*next)),
        State::RuleEnd => RULE_END,
    }
}
