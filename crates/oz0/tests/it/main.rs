//! The built `oz0`, from outside: real processes, real servers, real files.

mod documents;
mod examples;
mod hostile;
mod linted;
mod manners;
mod measured;
mod processes;
mod support;
