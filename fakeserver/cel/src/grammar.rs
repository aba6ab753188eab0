//! The grammar of expressions as a graph of states, by which errors of syntax are found as ANTLR finds them.
//!
//! This is the published grammar of CEL. Rules that call themselves at their beginning are loops over operators.

use std::sync::LazyLock;

/// A set of tokens, by the bits of their numbers.
pub(super) type TokenSet = u64;

/// The end of the source. Its number is less than those of other tokens, so that errors list it first.
pub(super) const END: u8 = 0;
/// The end of a rule, where it depends on the callers which tokens may follow.
pub(super) const RULE_END: TokenSet = 1 << 63;

/// The tokens as errors show them, by their numbers.
pub(super) const NAMES: [&str; 36] = [
    "<EOF>",
    "'=='",
    "'!='",
    "'in'",
    "'<'",
    "'<='",
    "'>='",
    "'>'",
    "'&&'",
    "'||'",
    "'['",
    "']'",
    "'{'",
    "'}'",
    "'('",
    "')'",
    "'.'",
    "','",
    "'-'",
    "'!'",
    "'?'",
    "':'",
    "'+'",
    "'*'",
    "'/'",
    "'%'",
    "'true'",
    "'false'",
    "'null'",
    "NUM_FLOAT",
    "NUM_INT",
    "NUM_UINT",
    "STRING",
    "BYTES",
    "IDENTIFIER",
    "ESC_IDENTIFIER",
];

/// A state of the parser.
#[derive(Debug)]
pub(super) enum State {
    Token {
        set: TokenSet,
        next: usize,
    },
    Call {
        rule: usize,
        precedence: u8,
        next: usize,
    },
    Decision(Decision),
    RuleEnd,
}

/// A choice between states.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) position: Position,
    pub(super) prediction: Prediction,
    pub(super) next: Vec<usize>,
}

/// The position of a decision, by which errors are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// Before a part, an option, or a loop.
    BlockStart,
    /// After a step of a loop.
    LoopBack,
}

/// The way in which a decision is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Prediction {
    /// By the next token. The last choice is taken if no other begins with it.
    Optional,
    /// By the next token, with which one of the choices begins.
    Switch,
    /// By as many tokens as are needed.
    Lookahead,
    /// By an operator of at least the precedence for which the rule was called. The last choice is the end.
    Operators(Vec<u8>),
}

/// The states of all rules.
#[derive(Debug)]
pub(super) struct Grammar {
    names: Vec<&'static str>,
    pub(super) states: Vec<State>,
    /// The first state of each rule.
    pub(super) starts: Vec<usize>,
    /// The states after the calls of each rule.
    pub(super) follows: Vec<Vec<usize>>,
    /// The rule that ends in a state.
    ends: Vec<usize>,
}

/// A part of a rule.
enum Part {
    Token(TokenSet),
    Rule(&'static str, u8),
    /// Choices, each with a precedence, and the word that ends them.
    Group(Vec<(u8, Vec<Part>)>, &'static str),
}

/// Rules, one a line: tokens, of which `~` makes a set, and other rules, with the precedence for which they are called.
/// What is in parentheses is one of several (`)`, `)!`), an option (`)?`), a loop (`)*`, `)+`), or a loop over operators
/// with their precedences (`)<`). Where it is repeated, a sign says that the choice needs more than one token.
const RULES: &str = "
start expr <EOF>
expr conditionalOr ( '?' conditionalOr ':' expr )?
conditionalOr conditionalAnd ( '||' conditionalAnd )*
conditionalAnd relation ( '&&' relation )*
relation calc ( 1 '<'~'<='~'>='~'>'~'=='~'!='~'in' relation2 )<
calc unary ( 2 '*'~'/'~'%' calc3 | 1 '+'~'-' calc2 )<
unary ( member | ( '!' )+ member | ( '-' )++ member )
member primary ( ( '.' ( '?' )? escapeIdent | '.' IDENTIFIER '(' ( exprList )? ')' | '[' ( '?' )? expr ']' ) )*
primary ( ( '.' )? IDENTIFIER | ( '.' )? IDENTIFIER '(' ( exprList )? ')' | '(' expr ')' | '[' ( listInit )? ( ',' )? ']' | '{' ( mapInitializerList )? ( ',' )? '}' | ( '.' )? IDENTIFIER ( '.' IDENTIFIER )* '{' ( fieldInitializerList )? ( ',' )? '}' | literal )
exprList expr ( ',' expr )*
listInit optExpr ( ',' optExpr )**
fieldInitializerList optField ':' expr ( ',' optField ':' expr )**
optField ( '?' )? escapeIdent
mapInitializerList optExpr ':' expr ( ',' optExpr ':' expr )**
escapeIdent ( IDENTIFIER | ESC_IDENTIFIER )!
optExpr ( '?' )? expr
literal ( ( '-' )? NUM_INT | NUM_UINT | ( '-' )? NUM_FLOAT | STRING | BYTES | 'true' | 'false' | 'null' )
";

/// Reads choices up to the word that ends them.
fn read(words: &mut dyn Iterator<Item = &'static str>) -> (Vec<(u8, Vec<Part>)>, &'static str) {
    let mut choices = Vec::new();
    let (mut precedence, mut parts) = (0, Vec::new());
    while let Some(word) = words.next() {
        match word {
            "|" => choices.push((precedence, std::mem::take(&mut parts))),
            "(" => {
                let (choices, end) = read(words);
                parts.push(Part::Group(choices, end));
            }
            end if end.starts_with(')') => {
                choices.push((precedence, parts));
                return (choices, end);
            }
            word if word.starts_with(|letter: char| letter.is_ascii_digit()) => {
                precedence = word.parse().unwrap_or_default();
            }
            word if word.starts_with(|letter: char| letter.is_ascii_lowercase()) => {
                let name = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
                let precedence = word[name.len()..].parse().unwrap_or_default();
                parts.push(Part::Rule(name, precedence));
            }
            tokens => {
                let tokens = tokens.split('~').filter_map(token);
                parts.push(Part::Token(tokens.fold(0, |set, token| set | 1 << token)));
            }
        }
    }
    choices.push((precedence, parts));
    (choices, "")
}

pub(super) static GRAMMAR: LazyLock<Grammar> = LazyLock::new(Grammar::new);

/// Returns the number of a token.
pub(super) fn token(name: &str) -> Option<u8> {
    let found = NAMES.iter().position(|own| *own == name)?;
    u8::try_from(found).ok()
}

/// Returns whether a set has a token.
pub(super) fn has(set: TokenSet, token: u8) -> bool {
    set & 1 << token != 0
}

// === impl Grammar ===

impl Grammar {
    fn new() -> Self {
        let rules = RULES.lines().filter_map(|line| line.split_once(' '));
        let rules: Vec<(&str, &str)> = rules.collect();
        let mut grammar = Self {
            names: rules.iter().map(|(name, _)| *name).collect(),
            states: Vec::new(),
            starts: Vec::new(),
            follows: vec![Vec::new(); rules.len()],
            ends: Vec::new(),
        };
        for (_, rule) in rules {
            let end = grammar.add(State::RuleEnd);
            grammar.ends.push(end);
            let (choices, _) = read(&mut rule.split(' '));
            let starts = grammar.add_choices(&choices, end);
            grammar.starts.extend(starts);
        }
        grammar
    }

    /// Returns the states that follow the calls of the rule that ends in a state.
    pub(super) fn follows_of_end(&self, end: usize) -> &[usize] {
        let rule = self.ends.iter().position(|own| *own == end);
        rule.map_or(&[], |rule| &self.follows[rule])
    }

    fn add(&mut self, state: State) -> usize {
        self.states.push(state);
        self.states.len() - 1
    }

    fn decide(&mut self, position: Position, prediction: &Prediction, next: Vec<usize>) -> usize {
        let prediction = prediction.clone();
        self.add(State::Decision(Decision {
            position,
            prediction,
            next,
        }))
    }

    /// Adds the states of sequences that lead to `next`. Returns the first state of each.
    fn add_choices(&mut self, choices: &[(u8, Vec<Part>)], next: usize) -> Vec<usize> {
        let choices = choices.iter().map(|(_, parts)| {
            let parts = parts.iter().rev();
            parts.fold(next, |next, part| self.add_part(part, next))
        });
        choices.collect()
    }

    fn add_part(&mut self, part: &Part, next: usize) -> usize {
        let (choices, end) = match part {
            Part::Token(set) => return self.add(State::Token { set: *set, next }),
            Part::Rule(name, precedence) => {
                let named = self.names.iter().position(|own| own == name);
                let (rule, precedence) = (named.unwrap_or_default(), *precedence);
                self.follows[rule].push(next);
                return self.add(State::Call {
                    rule,
                    precedence,
                    next,
                });
            }
            Part::Group(choices, end) => (choices, *end),
        };
        let prediction = match end {
            ")" | ")**" | ")++" => Prediction::Lookahead,
            ")!" => Prediction::Switch,
            ")<" => {
                let precedences = choices.iter().map(|(precedence, _)| *precedence);
                Prediction::Operators(precedences.collect())
            }
            _ => Prediction::Optional,
        };
        let start = Position::BlockStart;
        if matches!(end, ")" | ")!" | ")?") {
            let mut choices = self.add_choices(choices, next);
            choices.extend((end == ")?").then_some(next));
            return self.decide(start, &prediction, choices);
        }
        // A loop, with a decision after each step.
        let again = self.decide(Position::LoopBack, &prediction, Vec::new());
        let steps = self.add_choices(choices, again);
        let all: Vec<usize> = steps.iter().copied().chain([next]).collect();
        if let State::Decision(decision) = &mut self.states[again] {
            decision.next.clone_from(&all);
        }
        match end {
            ")+" | ")++" => self.decide(start, &Prediction::Optional, steps),
            _ => self.decide(start, &prediction, all),
        }
    }
}
