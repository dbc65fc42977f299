//! The person at the terminal: how wide it is, what they answer, what they type unseen.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};

use rustix::termios;

/// What Ctrl-C types.
const INTERRUPT: u8 = 0x03;

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

/// Asks whether to go on; anything but yes is no.
pub(crate) fn agrees(question: &str) -> io::Result<bool> {
    let answer = ask(question)?.map(|answer| answer.to_ascii_lowercase());
    Ok(matches!(answer.as_deref(), Some("y" | "yes")))
}

/// Asks for a secret, which is not shown while it is typed: what is typed is hidden before the question invites anybody to.
/// Ctrl-C is no signal meanwhile but the end of the line, since a process that ends here would leave its terminal mute.
pub(crate) fn ask_hidden(question: &str) -> io::Result<Option<String>> {
    let before = termios::tcgetattr(io::stdin())?;
    let mut hidden = before.clone();
    hidden.local_modes.remove(termios::LocalModes::ECHO);
    hidden.local_modes.insert(termios::LocalModes::ECHONL);
    hidden.local_modes.remove(termios::LocalModes::ISIG);
    hidden.special_codes[termios::SpecialCodeIndex::VEOL] = INTERRUPT;
    termios::tcsetattr(io::stdin(), termios::OptionalActions::Flush, &hidden)?;
    let mut err = io::stderr();
    let typed = write!(err, "{question}").and_then(|()| err.flush()).and_then(|()| typed());
    termios::tcsetattr(io::stdin(), termios::OptionalActions::Now, &before)?;
    typed
}

/// One line of the terminal, which Ctrl-C ends as well: then there is none.
fn typed() -> io::Result<Option<String>> {
    let mut typed = Vec::new();
    let mut stdin = io::stdin().lock();
    loop {
        let mut byte = [0];
        match stdin.read(&mut byte)? {
            0 => break,
            _ if byte[0] == INTERRUPT => return Ok(None),
            _ if byte[0] == b'\n' => break,
            _ => typed.push(byte[0]),
        }
    }
    let typed = String::from_utf8(typed)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "what was typed is not UTF-8"))?;
    Ok(Some(typed.trim().to_owned()).filter(|typed| !typed.is_empty()))
}

/// One line of standard input; none where it ended.
pub(crate) fn line() -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim().to_owned()))
}
