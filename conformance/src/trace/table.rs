//! The table form of observations: their type, their text and their events in trace files come of one row each.

/// Makes a type of observations, a row each: docs, fields, the text, and after `by` the lane and the event in a trace file.
///
/// An event is a note with the text, unless the row names another kind. An observation without a lane is left out of trace
/// files. The head names the observation and the argument from which kinds take the numbers of objects; a type without it has texts
/// alone.
macro_rules! observations {
    (
        $(#[$meta:meta])*
        pub enum $name:ident with ($this:ident, $objects:ident) {
            $(
                $(#[$doc:meta])*
                $variant:ident
                $({ $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)? })?
                $(($inner:ident: $inner_type:ty))?
                => ($text:literal $(, $part:expr)* $(,)?)
                $(by $lane:expr $(=> $kind:expr)?)?;
            )*
        }
    ) => {
        observations! {
            $(#[$meta])*
            pub enum $name {
                $(
                    $(#[$doc])*
                    $variant $({ $($(#[$field_doc])* $field: $type,)* })? $(($inner: $inner_type))?
                    => ($text $(, $part)*);
                )*
            }
        }

        impl $name {
            /// Returns the number of the actor and the event in a trace file, if there is one.
            pub(crate) fn row_in_file(
                &self,
                $objects: &mut dyn $crate::trace::Objects,
            ) -> Option<(Option<usize>, $crate::tracefile::EventKind)> {
                let $this = self;
                match $this {
                    $(Self::$variant $({ $($field,)* })? $(($inner))? => {
                        $($(let _ = $field;)*)?
                        $(let _ = $inner;)?
                        observations!(@event $this $objects $($lane $(=> $kind)?)?)
                    })*
                }
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(
                $(#[$doc:meta])*
                $variant:ident
                $({ $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)? })?
                $(($inner:ident: $inner_type:ty))?
                => ($text:literal $(, $part:expr)* $(,)?);
            )*
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $(
                $(#[$doc])*
                $variant $({ $($(#[$field_doc])* $field: $type,)* })? $(($inner_type))?,
            )*
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$variant $({ $($field,)* })? $(($inner))? => {
                        $($(let _ = $field;)*)?
                        write!(f, $text $(, $part)*)
                    })*
                }
            }
        }
    };
    (@event $self:ident $objects:ident) => { None };
    (@event $self:ident $objects:ident $lane:expr) => {{
        let actor = $objects.actor($lane);
        Some((actor, $crate::tracefile::EventKind::note($self.to_string())))
    }};
    (@event $self:ident $objects:ident $lane:expr => $kind:expr) => {{
        let actor = $objects.actor($lane);
        Some((actor, $kind))
    }};
}

pub(crate) use observations;
