//! Lists a server's functions as it wrote them: `cargo run -p oz0-mcp --example list -- [--legacy|--modern] URL`, or
//! a command in its place.

use std::error::Error;
use std::process::Stdio;

use oz0_mcp::{Client, ClientOptions, Endpoint, EraChoice};
use tokio::process::Command;

#[tokio::main]
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a program")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let era = match arguments.first().map(String::as_str) {
        Some("--legacy") => EraChoice::Legacy,
        Some("--modern") => EraChoice::Modern,
        _ => EraChoice::Probe,
    };
    if era != EraChoice::Probe {
        arguments.remove(0);
    }
    let (program, arguments) = arguments.split_first().ok_or("a URL or a command is needed")?;
    let options = ClientOptions { era, ..ClientOptions::default() };
    let mut child = None;
    let client = if program.contains("://") {
        Client::http(&Endpoint::new(program)?, &options).await?
    } else {
        let mut server = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let pipes = (server.stdout.take(), server.stdin.take());
        let (Some(stdout), Some(stdin)) = pipes else { return Err("no pipes".into()) };
        child = Some(server);
        Client::stdio(stdout, stdin, &options).await?
    };
    let listing = client.list_functions().await?;
    for function in &listing.functions {
        println!("{function}");
    }
    for left_out in &listing.left_out {
        eprintln!("left out: {}: {}", left_out.reason, left_out.function);
    }
    eprintln!(
        "{} ({} era): {} functions on {} pages, {} bytes; {:?}, {:?}",
        client.protocol(),
        client.era(),
        listing.functions.len(),
        listing.pages,
        listing.bytes,
        client.junk(),
        client.stats(),
    );
    client.close().await;
    if let Some(mut server) = child {
        eprintln!("{}", server.wait().await?);
    }
    Ok(())
}
