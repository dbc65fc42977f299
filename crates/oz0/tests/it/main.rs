//! The built `oz0`, from outside: real processes, real servers, real files.

mod documents;
mod examples;
mod held;
mod hostile;
mod manners;
mod measured;
mod operator;
mod processes;
mod support;
