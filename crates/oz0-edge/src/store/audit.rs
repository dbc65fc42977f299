//! The audit log: written inside the transaction of what it tells, chained by hash.
//!
//! The hashed text of an entry is stored as it was hashed, so that a check never depends on how
//! this build would write it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use oz0_api::audit::{AuditCheck, AuditEntry, AuditPage, AuditSubject, Chain, Fault};
use oz0_api::node::Head;
use oz0_api::{EdgeId, NodeName, UnixMillis};
use oz0_listing::FunctionId;
use oz0_telemetry::target;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tracing::field;

use super::db::{Conn, query, query_as, query_scalar};
use super::{Store, StoreError, Write, next, parse, parse_json, to_json};

/// What the first entry of a chain follows.
const START: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Actor {
    /// The edge itself.
    Edge,
    /// Somebody at the socket, without a token.
    Local,
    /// The holder of an admin's or a client's token.
    Token(NodeName),
    /// A node.
    Node(NodeName),
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edge => f.write_str("edge"),
            Self::Local => f.write_str("local"),
            Self::Token(name) => write!(f, "token:{name}"),
            Self::Node(name) => write!(f, "node:{name}"),
        }
    }
}

/// One act to be written down.
#[derive(Debug)]
pub(crate) struct Act {
    pub(crate) action: &'static str,
    pub(crate) subject: AuditSubject,
}

impl Act {
    /// Logs it: who did what to which. What somebody wrote, or called with, stands in the audit log alone.
    pub(super) fn log(&self, actor: &Actor) {
        let AuditSubject { plugin, version, tool, functions, node, detail } = &self.subject;
        let known = |key: &str| detail.get(key).map(field::display);
        let functions = functions.keys().take(FUNCTIONS).map(FunctionId::as_str);
        let functions = functions.collect::<Vec<_>>().join(",");
        tracing::info!(
            target: target::EDGE,
            action = self.action,
            %actor,
            plugin = plugin.as_ref().map(field::display),
            version = version.as_ref().map(field::display),
            tool = tool.as_ref().map(field::display),
            node = node.as_ref().map(field::display),
            functions = (!functions.is_empty()).then_some(functions.as_str()),
            approval = known("approval"),
            call = known("call"),
            name = known("name"),
            rule = known("rule"),
            matches = known("match"),
            decides = known("action"),
            "done"
        );
    }
}

/// The functions of an act that are named in the log.
const FUNCTIONS: usize = 20;

/// The hashed part of an entry.
#[derive(Serialize, Deserialize)]
struct Body {
    position: i64,
    edge: EdgeId,
    seq: i64,
    at: UnixMillis,
    actor: String,
    action: String,
    #[serde(flatten)]
    subject: AuditSubject,
}

fn chain_hash(prev: &str, body: &str) -> String {
    use fmt::Write as _;
    let mut hasher = Sha256::new();
    hasher.update(prev.as_bytes());
    hasher.update(b"\n");
    hasher.update(body.as_bytes());
    hasher.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Write<'_> {
    /// Writes down an act of this write's actor.
    pub(super) async fn audit(&mut self, act: Act) -> Result<(), StoreError> {
        let edge = self.store.edge.clone();
        let last: Option<(i64, String)> =
            query_as("SELECT seq, hash FROM audit_heads WHERE edge = $1")
                .bind(edge.as_str())
                .fetch_optional(self.conn())
                .await?;
        // A write before this one in the same transaction is not known to be written yet.
        self.store.is_after_what_was_written(last.as_ref())?;
        let (seq, prev) = last.map_or((1, START.to_owned()), |(seq, hash)| (seq + 1, hash));
        let position = next(self.conn(), "audit").await?;
        let body = Body {
            position,
            edge: edge.clone(),
            seq,
            at: self.now,
            actor: self.actor.to_string(),
            action: act.action.to_owned(),
            subject: act.subject.clone(),
        };
        let body = canonical(&to_json(&body)?)?;
        let hash = chain_hash(&prev, &body);
        query(
            "INSERT INTO audit (position, edge, seq, body, prev, hash) VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(position)
        .bind(edge.as_str())
        .bind(seq)
        .bind(&body)
        .bind(&prev)
        .bind(&hash)
        .execute(self.conn())
        .await?;
        query(
            "INSERT INTO audit_heads (edge, seq, hash) VALUES ($1, $2, $3)
             ON CONFLICT (edge) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
        )
        .bind(edge.as_str())
        .bind(seq)
        .bind(&hash)
        .execute(self.conn())
        .await?;
        self.head = Some((seq, hash));
        self.acts.push((self.actor.clone(), act));
        Ok(())
    }
}

/// RFC 8785 of what we wrote ourselves.
fn canonical(json: &str) -> Result<String, StoreError> {
    oz0_listing::json::parse(json)
        .map(|value| value.canonical())
        .map_err(|error| StoreError::Row(error.to_string()))
}

/// The hash of an edge's entry at `seq`.
pub(super) async fn hash_of(
    conn: &mut Conn,
    edge: &EdgeId,
    seq: i64,
) -> Result<Option<String>, StoreError> {
    Ok(query_scalar("SELECT hash FROM audit WHERE edge = $1 AND seq = $2")
        .bind(edge.as_str())
        .bind(seq)
        .fetch_optional(conn)
        .await?)
}

/// The hash of the entry at a place in the whole log.
pub(super) async fn hash_at(conn: &mut Conn, position: i64) -> Result<Option<String>, StoreError> {
    Ok(query_scalar("SELECT hash FROM audit WHERE position = $1")
        .bind(position)
        .fetch_optional(conn)
        .await?)
}

/// Where the whole log ends.
pub(super) async fn head(conn: &mut Conn) -> Result<Option<Head>, StoreError> {
    let head: Option<(i64, String)> =
        query_as("SELECT position, hash FROM audit ORDER BY position DESC LIMIT 1")
            .fetch_optional(conn)
            .await?;
    Ok(head.map(|(position, hash)| Head { seq: position, hash }))
}

impl Store {
    fn written(&self) -> std::sync::MutexGuard<'_, Option<(i64, String)>> {
        self.written.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// An entry of this edge is written.
    pub(super) fn has_written(&self, seq: i64, hash: String) {
        let mut written = self.written();
        if written.as_ref().is_none_or(|(known, _)| *known < seq) {
            *written = Some((seq, hash));
        }
    }

    /// Finds a database that was put back to an older state while this edge ran: what it refused since is not known there.
    /// One whose commit was not answered may have come further.
    fn is_after_what_was_written(&self, last: Option<&(i64, String)>) -> Result<(), StoreError> {
        let Some((seq, hash)) = self.written().clone() else { return Ok(()) };
        match last {
            Some((found, _)) if *found > seq => Ok(()),
            Some((found, other)) if *found == seq && *other == hash => Ok(()),
            _ => {
                let what = format!("its audit log does not have entry {seq} with hash {hash}");
                Err(self.retire(self.path.clone(), what))
            }
        }
    }

    /// A page of the log.
    pub(crate) async fn audit(&self, after: i64, limit: u32) -> Result<AuditPage, StoreError> {
        let mut tx = self.read().await?;
        let mut rows: Vec<(String, String, String)> = query_as(
            "SELECT body, prev, hash FROM audit WHERE position > $1 ORDER BY position LIMIT $2",
        )
        .bind(after)
        .bind(i64::from(limit) + 1)
        .fetch_all(&mut tx)
        .await?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let entries = rows.into_iter().map(entry).collect::<Result<Vec<_>, StoreError>>()?;
        let next = entries.last().map_or(after, |entry| entry.position);
        Ok(AuditPage { entries, next, more })
    }

    /// Entries before a position, the newest first.
    pub(crate) async fn audit_before(
        &self,
        before: i64,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let mut tx = self.read().await?;
        let rows: Vec<(String, String, String)> = query_as(
            "SELECT body, prev, hash FROM audit WHERE position < $1 ORDER BY position DESC LIMIT $2",
        )
        .bind(before)
        .bind(i64::from(limit))
        .fetch_all(&mut tx)
        .await?;
        rows.into_iter().map(entry).collect()
    }

    /// Checks every chain, and that what is accepted is what the entries say: that each entry has the hash of its text and follows the one before it,
    /// that none is missing, and that the last is the one that was written last, as the store and,
    /// for this edge, the folder beside it remember it.
    pub(crate) async fn verify_audit(&self) -> Result<AuditCheck, StoreError> {
        // Read before the store: what it remembers must be in what is read then.
        let remembered = self.folder.head();
        let mut tx = self.read().await?;
        let heads: Vec<(String, i64, String)> =
            query_as("SELECT edge, seq, hash FROM audit_heads").fetch_all(&mut tx).await?;
        let mut heads: BTreeMap<String, (i64, String)> =
            heads.into_iter().map(|(edge, seq, hash)| (edge, (seq, hash))).collect();
        let mut checker = Checker::default();
        let mut after = (String::new(), i64::MIN);
        loop {
            // In pages: a log may be longer than memory.
            let rows: Vec<(i64, String, i64, String, String, String)> = query_as(
                "SELECT position, edge, seq, body, prev, hash FROM audit
                 WHERE edge > $1 OR (edge = $1 AND seq > $2) ORDER BY edge, seq LIMIT 1000",
            )
            .bind(&after.0)
            .bind(after.1)
            .fetch_all(&mut tx)
            .await?;
            let Some(last) = rows.last() else { break };
            after = (last.1.clone(), last.2);
            for row in rows {
                checker.entry(row);
            }
        }
        let Checker { mut faults, tails, told, .. } = checker;
        let fault = |edge: &str, seq, what: String| Fault { edge: edge.to_owned(), seq, what };
        let mut chains = Vec::new();
        for (edge, (seq, hash)) in &tails {
            match heads.remove(edge) {
                Some(head) if head == (*seq, hash.clone()) => {}
                Some((head, _)) if head > *seq => faults.push(fault(
                    edge,
                    head,
                    format!("the log ends at entry {seq}; it was written up to {head}"),
                )),
                _ => faults.push(fault(
                    edge,
                    *seq,
                    "the last entry is not the one that was written last".to_owned(),
                )),
            }
            if let Ok(edge) = parse::<EdgeId>(edge) {
                chains.push(Chain { edge, entries: *seq, head: hash.clone() });
            }
        }
        for (edge, (seq, _)) in heads {
            faults.push(fault(&edge, seq, format!("all {seq} entries of this edge are missing")));
        }
        if let Some((known, remembered)) = remembered {
            let what = match hash_of(&mut tx, &self.edge, known).await? {
                Some(hash) if hash == remembered => None,
                Some(_) => Some("the data folder remembers another entry here"),
                // What the store itself remembers was reported already.
                None if faults.iter().any(|fault| fault.seq == known) => None,
                None => Some("the data folder remembers this entry, and it is missing"),
            };
            faults.extend(what.map(|what| fault(self.edge.as_str(), known, what.to_owned())));
        }
        // Of a log with a hole in it, every acceptance would look wrong.
        if faults.is_empty() {
            let told = told.into_iter().filter(|(_, (_, accepts))| *accepts);
            let told = told.map(|(acceptance, _)| acceptance).collect();
            let untold = untold(&mut tx, &told).await?;
            faults.extend(untold.into_iter().map(|what| fault(self.edge.as_str(), 0, what)));
        }
        Ok(AuditCheck { chains, faults })
    }
}

/// An entry as it is stored: its text, and the hashes before it and of it.
fn entry((body, prev, hash): (String, String, String)) -> Result<AuditEntry, StoreError> {
    let Body { position, edge, seq, at, actor, action, subject } = parse_json(&body)?;
    Ok(AuditEntry { position, edge, seq, at, actor, action, subject, prev, hash })
}

/// Where what is accepted is not what the entries say.
async fn untold(conn: &mut Conn, told: &BTreeSet<Acceptance>) -> Result<Vec<String>, StoreError> {
    let stored: Vec<Acceptance> =
        query_as("SELECT plugin, version, function, value FROM accepted WHERE value <> 'absent'")
            .fetch_all(conn)
            .await?;
    let stored: BTreeSet<Acceptance> = stored.into_iter().collect();
    let more = stored.difference(told).map(|(_, version, function, hash)| {
        format!("{function} of version {version} accepts {hash}, and no entry tells it")
    });
    let less = told.difference(&stored).map(|(_, version, function, hash)| {
        format!("{function} of version {version} was to accept {hash}, and does not")
    });
    Ok(more.chain(less).collect())
}

/// Plugin, version, function, hash.
type Acceptance = (String, String, String, String);

#[derive(Default)]
struct Checker {
    faults: Vec<Fault>,
    tails: BTreeMap<String, (i64, String)>,
    last_position: BTreeMap<String, i64>,
    /// What is accepted when every entry is believed: whether it is, by the last entry of any edge that tells of it.
    told: BTreeMap<Acceptance, (i64, bool)>,
}

impl Checker {
    fn entry(&mut self, row: (i64, String, i64, String, String, String)) {
        let (position, edge, seq, body, prev, hash) = row;
        let mut fault = |seq, what: &str| {
            self.faults.push(Fault { edge: edge.clone(), seq, what: what.to_owned() });
        };
        let (last, last_hash) =
            self.tails.get(&edge).cloned().unwrap_or_else(|| (0, START.to_owned()));
        if seq == last + 1 {
            if prev != last_hash {
                fault(seq, "the entry does not follow the one before it");
            }
        } else {
            for missing in (last + 1..seq).take(100) {
                fault(missing, "the entry is missing");
            }
        }
        if chain_hash(&prev, &body) != hash {
            fault(seq, "the entry was edited: its text does not have its hash");
        }
        match serde_json::from_str::<Body>(&body) {
            Ok(body)
                if body.seq == seq && body.edge.as_str() == edge && body.position == position =>
            {
                tell(&mut self.told, &body);
            }
            Ok(_) => fault(seq, "the entry was moved: its text names another place"),
            Err(_) => fault(seq, "the entry cannot be read"),
        }
        if self.last_position.get(&edge).is_some_and(|last| *last >= position) {
            fault(seq, "the entry stands before one that was written earlier");
        }
        self.last_position.insert(edge.clone(), position);
        self.tails.insert(edge, (seq, hash));
    }
}

/// What an entry says of what is accepted.
fn tell(told: &mut BTreeMap<Acceptance, (i64, bool)>, body: &Body) {
    let accepts = match body.action.as_str() {
        "plugin.tools.snapshot" | "plugin.tools.approve" => true,
        "plugin.tools.drop" => false,
        _ => return,
    };
    let (Some(plugin), Some(version)) = (&body.subject.plugin, &body.subject.version) else {
        return;
    };
    for (function, hash) in &body.subject.functions {
        let Some(hash) = hash else { continue };
        let accepted =
            (plugin.to_string(), version.to_string(), function.to_string(), hash.clone());
        let last = told.entry(accepted).or_insert((body.position, accepts));
        if body.position >= last.0 {
            *last = (body.position, accepts);
        }
    }
}
