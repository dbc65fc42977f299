//! How a command finds its edge, and as whom it speaks to it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oz0_api::Client;
use oz0_edge::small::read_small;
use serde::{Deserialize, Serialize};

use crate::error::LocalError;
use crate::folder::{DataFolder, failed, make_private, write_secret};
use crate::seat::Holder;

/// How long the edge at a socket may take for its first answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// Where the edge is to be looked for, and with what token.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The data folder, whose socket is tried where no URL is given.
    pub folder: &'a DataFolder,
    /// The edge's URL.
    pub url: Option<&'a str>,
    /// A token that was given for this one command.
    pub token: Option<&'a str>,
    /// The file of tokens that `oz0 login` keeps; none where no configuration folder is known.
    pub credentials: Option<&'a Path>,
}

/// A client of the edge.
///
/// Its token is the one that was given, else the one that `oz0 login` keeps for that edge, else, at
/// the socket of a data folder, the one in the folder's `admin.token`. Without any the socket serves
/// reads and calls. Fails where nobody answers.
pub async fn find_edge(target: Target<'_>) -> Result<Client, LocalError> {
    let reach = |source| LocalError::Edge { operation: "reach the edge".to_owned(), source };
    let (anyone, known_as) = match target.url {
        Some(url) => (Client::tcp(url).map_err(reach)?, url.to_owned()),
        None => {
            let socket = target.folder.socket();
            (Client::unix(&socket), Credentials::of_socket(&socket))
        }
    };
    let kept = || -> Result<Option<String>, LocalError> {
        let Some(path) = target.credentials else { return Ok(None) };
        Ok(Credentials::read(path)?.get(&known_as).map(str::to_owned))
    };
    let token = match target.token {
        Some(token) => Some(token.to_owned()),
        None => match (kept()?, target.url) {
            (Some(token), _) => Some(token),
            (None, None) => target.folder.admin_token()?,
            (None, Some(_)) => None,
        },
    };
    let client = token.map_or_else(|| anyone.clone(), |token| anyone.with_token(&token));
    // Anyone may ask this, so that nobody's token is judged here; and an edge whose disk is full still serves reads.
    match target.url {
        Some(_) => anyone.healthy().await.map_err(reach)?,
        None => greet(target.folder, &anyone).await?,
    }
    Ok(client)
}

/// Asks the edge at the folder's socket whether it is in service. A process that was stopped goes
/// on listening: the system takes connections in its stead, which nobody then answers.
pub(crate) async fn greet(folder: &DataFolder, anyone: &Client) -> Result<(), LocalError> {
    match tokio::time::timeout(ANSWERS_WITHIN, anyone.healthy()).await {
        Ok(answered) => answered
            .map_err(|source| LocalError::Edge { operation: "reach the edge".to_owned(), source }),
        Err(_) => Err(LocalError::Silent {
            folder: folder.root().to_owned(),
            holder: Holder::read(folder)
                .map_or_else(|| "another process".to_owned(), |holder| holder.to_string()),
            seconds: ANSWERS_WITHIN.as_secs(),
        }),
    }
}

/// The tokens that `oz0 login` keeps, by the edge's URL.
#[derive(Clone, Default)]
pub struct Credentials {
    edges: BTreeMap<String, String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.edges.keys()).finish()
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    edges: BTreeMap<String, Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    token: String,
}

impl Credentials {
    /// The file in oz0's configuration folder.
    pub fn path(config: &Path) -> PathBuf {
        config.join("credentials.toml")
    }

    /// Under what the edge behind a socket is kept.
    pub fn of_socket(socket: &Path) -> String {
        format!("unix:{}", socket.display())
    }

    /// Reads the file; one that is not there holds nothing.
    pub fn read(path: &Path) -> Result<Self, LocalError> {
        let text = match read_text(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => return Err(failed("read", path)(source)),
        };
        // What the parser says may quote a token.
        let file: File = toml::from_str(&text).map_err(|error| {
            let place = error.span().map_or(0, |span| {
                text.get(..span.start).unwrap_or_default().matches('\n').count() + 1
            });
            LocalError::Credentials {
                path: path.to_owned(),
                reason: format!("line {place} is not what `oz0 login` writes"),
            }
        })?;
        let edges = file.edges.into_iter().map(|(edge, entry)| (key(&edge), entry.token));
        Ok(Self { edges: edges.collect() })
    }

    /// The token for an edge.
    pub fn get(&self, edge: &str) -> Option<&str> {
        self.edges.get(&key(edge)).map(String::as_str)
    }

    /// Keeps a token for an edge.
    pub fn set(&mut self, edge: &str, token: &str) {
        self.edges.insert(key(edge), token.trim().to_owned());
    }

    /// Forgets the token for an edge; says whether there was one.
    pub fn remove(&mut self, edge: &str) -> bool {
        self.edges.remove(&key(edge)).is_some()
    }

    /// Writes the file, as a whole, readable by its owner alone.
    pub fn write(&self, path: &Path) -> Result<(), LocalError> {
        let edges = self
            .edges
            .iter()
            .map(|(edge, token)| (edge.clone(), Entry { token: token.clone() }))
            .collect();
        let text = toml::to_string(&File { edges }).map_err(|error| LocalError::System {
            operation: "write the tokens down",
            reason: error.to_string(),
        })?;
        if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
            make_private(folder)?;
        }
        write_secret(path, &text)
    }
}

fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_small(path)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text"))
}

/// Two spellings of one URL are one edge.
fn key(edge: &str) -> String {
    let edge = edge.trim();
    if edge.starts_with("unix:") {
        return edge.to_owned();
    }
    edge.trim_end_matches('/').to_ascii_lowercase()
}
