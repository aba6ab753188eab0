//! Validation of CEL expressions: syntax, names and types.

use std::sync::Arc;

use fakeserver_cel::{CompileError, Environment, Objects, Program, Type};
use fakeserver_value::status::FieldError;
use serde_json::json;

/// The variables that an expression may name.
#[derive(Clone, Debug)]
pub struct DeclaredVariables {
    environment: Environment,
}

// === impl DeclaredVariables ===

impl DeclaredVariables {
    /// Declares the variables of a request, the authorizer, and `params` if there are parameters.
    pub fn new(has_params: bool) -> Self {
        let mut environment = Environment::default();
        environment.declare("object", Type::Dyn);
        environment.declare("oldObject", Type::Dyn);
        environment.declare("request", Type::object("kubernetes.AdmissionRequest"));
        environment.declare("namespaceObject", Type::object("kubernetes.Namespace"));
        if has_params {
            environment.declare("params", Type::Dyn);
        }
        environment.declare("authorizer", Type::library("Authorizer"));
        environment.declare("authorizer.requestResource", Type::library("ResourceCheck"));
        Self { environment }
    }

    /// Declares the same as [`new`](Self::new) with the type of the objects, and that of the parameters if there are any.
    pub fn typed(object: &Type, params: Option<Type>, objects: Arc<dyn Objects>) -> Self {
        let mut declared = Self::new(false);
        declared.environment.declare("object", object.clone());
        declared.environment.declare("oldObject", object.clone());
        if let Some(params) = params {
            declared.environment.declare("params", params);
        }
        declared.environment.remove("authorizer.requestResource");
        declared.environment.set_objects(objects);
        declared
    }

    /// Declares these variables alone.
    pub fn only(own: &[&str]) -> Self {
        let mut environment = Environment::default();
        for name in own {
            environment.declare(name, Type::Dyn);
        }
        Self { environment }
    }

    /// Declares `variables`, which a policy composes.
    pub fn with_variables(mut self) -> Self {
        self.environment.compose();
        self
    }

    /// Declares the types of patches.
    pub fn with_patches(mut self) -> Self {
        self.environment.allow_patches();
        self
    }

    /// Removes the authorizer.
    pub fn without_authorizer(mut self) -> Self {
        self.environment.remove("authorizer");
        self.environment.remove("authorizer.requestResource");
        self
    }

    /// Compiles one of `variables` and declares it. One that is not valid has any type. The error is in a real server's
    /// words.
    pub fn add_variable(&mut self, name: &str, expression: &str) -> Result<Program, String> {
        let compiled = self.compile(expression);
        let output = compiled
            .as_ref()
            .map_or(Type::Dyn, |program| program.output().clone());
        self.environment.add_composed(name, output);
        compiled
    }

    /// Does the same as [`add_variable`](Self::add_variable), and returns the error of the field at `path`.
    pub fn variable_error(
        &mut self,
        name: &str,
        path: &str,
        expression: &str,
    ) -> Option<FieldError> {
        let _ = self.add_variable(name, expression);
        self.error(path, expression, expression, &[])
    }

    /// Compiles an expression. The error is in a real server's words.
    pub fn compile(&self, expression: &str) -> Result<Program, String> {
        Program::compile(expression, &self.environment).map_err(|why| why.to_string())
    }

    /// Returns the errors of an expression.
    pub fn issue(&self, expression: &str) -> Option<String> {
        match Program::compile(expression, &self.environment) {
            Err(CompileError::Check(errors)) => Some(errors),
            _ => None,
        }
    }

    /// Compiles an expression that has to evaluate to one of the types, or to any type if `types` is empty.
    pub fn compile_to(&self, expression: &str, types: &[&str]) -> Result<Program, String> {
        let program = self.compile(expression)?;
        type_problem(&program, types).map_or(Ok(program), Err)
    }

    /// Returns the error of the field at `path`, whose expression has to evaluate to one of the types, or to any if there
    /// is none. The error shows `printed`.
    pub fn error(
        &self,
        path: &str,
        printed: &str,
        expression: &str,
        types: &[&str],
    ) -> Option<FieldError> {
        let why = match Program::compile(expression, &self.environment) {
            Ok(program) => type_problem(&program, types)?,
            Err(why @ CompileError::Check(_)) => why.to_string(),
            Err(why @ CompileError::Constant(_)) => {
                return Some(FieldError::internal(path, &why.to_string()));
            }
        };
        Some(FieldError::invalid(path, &json!(printed), &why))
    }
}

/// Returns the error of an expression whose type is not among `types`.
fn type_problem(program: &Program, types: &[&str]) -> Option<String> {
    let found = program.output().to_string();
    match types {
        [] => None,
        types if types.contains(&found.as_str()) => None,
        [one] => Some(format!("must evaluate to {one} but got {found}")),
        many => Some(format!(
            "must evaluate to one of [{}] but got {found}",
            many.join(" ")
        )),
    }
}
