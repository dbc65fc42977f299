//! The person at the terminal: how wide it is, what they answer, what they type unseen.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use rustix::termios;

/// Whether somebody is there to be asked: a question needs a terminal to be read on, and one to be answered on.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// The columns of the terminal that data goes to; none where it goes elsewhere.
pub(crate) fn width() -> Option<usize> {
    let size = termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Asks on the terminal, and reads one line; none where the input ended.
///
/// What was typed before the question was there cannot have been an answer to it, so it is dropped.
pub(crate) fn ask(question: &str) -> io::Result<Option<String>> {
    let _ = termios::tcflush(io::stdin(), termios::QueueSelector::IFlush);
    let mut out = io::stdout();
    write!(out, "{question}")?;
    out.flush()?;
    line()
}

/// Asks for a secret, which is not shown while it is typed.
pub(crate) fn ask_hidden(question: &str) -> io::Result<Option<String>> {
    let mut err = io::stderr();
    write!(err, "{question}")?;
    err.flush()?;
    let before = termios::tcgetattr(io::stdin())?;
    let mut hidden = before.clone();
    hidden.local_modes.remove(termios::LocalModes::ECHO);
    hidden.local_modes.insert(termios::LocalModes::ECHONL);
    termios::tcsetattr(io::stdin(), termios::OptionalActions::Flush, &hidden)?;
    let typed = line();
    termios::tcsetattr(io::stdin(), termios::OptionalActions::Now, &before)?;
    typed
}

/// One line of standard input; none where it ended.
pub(crate) fn line() -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim().to_owned()))
}
