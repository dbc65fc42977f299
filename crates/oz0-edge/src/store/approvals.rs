//! Calls that wait for a person.
//!
//! A call waits in the node that holds it, and the node waits here. So what is kept is only worth something while that
//! node still asks: each pending row has a waiting request beside it, in memory of the edge that the row names. One whose
//! node has stopped asking is closed as lost, and so is every one that an earlier process of the edge left, or an edge that
//! ended: the request that waited for it is gone, and an approval that nobody takes at once would lie there for another
//! call.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use oz0_api::approval::{
    ARGUMENTS, Approval, ApprovalState, AskApproval, Decide, Elicited, LONGEST, shown,
};
use oz0_api::audit::AuditSubject;
use oz0_api::token::TokenKind;
use oz0_api::{ApprovalId, CallId, Code, EdgeId, NodeName, Problem, UnixMillis};
use oz0_listing::{Digest, escape};

use super::db::{Conn, query, query_as, query_scalar};
use super::{
    Act, Actor, Answer, Store, StoreError, Write, now, parse, poll, random, steady, time_of_day,
};

/// Between two requests of a node for one decision, at most.
pub(crate) const AWAY: Duration = Duration::from_secs(2);

/// How long one that is decided is kept.
const KEPT: Duration = Duration::from_mins(10);

/// Calls of one node that wait for people, at most.
const WAITING: i64 = 1_000;

/// The longest of each text, in characters.
const CLIENT: usize = 200;
const WHY: usize = 2_000;
const REASON: usize = 1_000;

/// The nodes that ask for decisions, as this process sees them.
#[derive(Debug)]
pub(super) struct Asking {
    /// How many of its node's requests wait now.
    waiting: usize,
    /// When the last one began or ended.
    seen: Instant,
}

#[derive(sqlx::FromRow)]
struct Row {
    id: String,
    node: String,
    plugin: String,
    version: String,
    function: String,
    kind: String,
    listing: String,
    arguments: String,
    digest: String,
    client: String,
    why: String,
    requires_approval: i64,
    state: String,
    asked_at: i64,
    expires_at: i64,
    decided_by: Option<String>,
    reason: Option<String>,
    edge: Option<String>,
}

/// A call that waits, with the edge at which its node asks.
struct Held {
    approval: Approval,
    edge: Option<String>,
}

macro_rules! columns {
    () => {
        "id, node, plugin, version, function, kind, listing, arguments, digest, client, why, \
         requires_approval, state, asked_at, expires_at, decided_by, reason, edge"
    };
}

fn state_of(text: &str) -> Result<ApprovalState, StoreError> {
    ApprovalState::ALL
        .into_iter()
        .find(|state| state.as_str() == text)
        .ok_or_else(|| StoreError::Row(format!("`{text}` as the state of a call that waits")))
}

fn read(row: Row) -> Result<Approval, StoreError> {
    let listing = row.listing.parse().map_err(|_| StoreError::Row("a hash".to_owned()))?;
    let digest = row.digest.parse().map_err(|_| StoreError::Row("a digest".to_owned()))?;
    Ok(Approval {
        id: parse(&row.id)?,
        plugin: parse(&row.plugin)?,
        version: parse(&row.version)?,
        function: parse(&row.function)?,
        kind: row.kind,
        listing,
        arguments: shown(&row.arguments),
        digest,
        client: row.client,
        why: row.why,
        requires_approval: row.requires_approval != 0,
        node: parse(&row.node)?,
        state: state_of(&row.state)?,
        asked_at: UnixMillis(row.asked_at),
        expires_at: time_of_day(row.expires_at),
        decided_by: row.decided_by,
        reason: row.reason,
        revision: None,
    })
}

fn read_held(mut row: Row) -> Result<Held, StoreError> {
    let edge = row.edge.take();
    Ok(Held { approval: read(row)?, edge })
}

async fn find(conn: &mut Conn, id: &ApprovalId) -> Answer<Held> {
    let row: Option<Row> =
        query_as(concat!("SELECT ", columns!(), " FROM approvals WHERE id = $1"))
            .bind(id.as_str())
            .fetch_optional(conn)
            .await?;
    match row {
        Some(row) => Ok(read_held(row)?),
        None => Err(Problem::new(Code::NotFound, format!("no call {id} waits"))
            .hint("`oz0 approvals list` shows the calls that wait")
            .into()),
    }
}

/// The decision that a call waits for now.
pub(super) async fn pending_of(
    conn: &mut Conn,
    call: &CallId,
) -> Result<Option<Approval>, StoreError> {
    let row: Option<Row> = query_as(concat!(
        "SELECT ",
        columns!(),
        " FROM approvals WHERE call = $1 AND state = 'pending' ORDER BY asked_at DESC LIMIT 1"
    ))
    .bind(call.as_str())
    .fetch_optional(conn)
    .await?;
    row.map(read).transpose()
}

/// Why something can no longer be decided.
fn over(approval: &Approval) -> Problem {
    let (id, function) = (&approval.id, &approval.function);
    let by = approval.decided_by.as_deref().unwrap_or("somebody");
    let what = match approval.state {
        ApprovalState::Approved | ApprovalState::Used => format!("was approved by {by} already"),
        ApprovalState::Denied => format!("was denied by {by} already"),
        ApprovalState::Expired => "was not decided in time".to_owned(),
        ApprovalState::Withdrawn => "was taken back by its client".to_owned(),
        ApprovalState::Lost => "is lost: the node that held it, or the edge, ended".to_owned(),
        ApprovalState::Pending => "waits".to_owned(),
    };
    Problem::new(Code::Stale, format!("the call {id} of {function} {what}"))
}

impl Store {
    fn asking(&self) -> std::sync::MutexGuard<'_, BTreeMap<ApprovalId, Asking>> {
        self.asking.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// A node's request for a decision begins to wait.
    pub(crate) fn begin_asking(&self, id: &ApprovalId) {
        let mut asking = self.asking();
        let entry = asking.entry(id.clone()).or_insert(Asking { waiting: 0, seen: Instant::now() });
        entry.waiting += 1;
        entry.seen = Instant::now();
    }

    /// It ends.
    pub(crate) fn end_asking(&self, id: &ApprovalId) {
        if let Some(entry) = self.asking().get_mut(id) {
            entry.waiting = entry.waiting.saturating_sub(1);
            entry.seen = Instant::now();
        }
    }

    /// Whether the node that holds the call still asks: here, or at another edge, which then sees to it.
    fn is_asked(&self, id: &ApprovalId, edge: Option<&str>) -> bool {
        if let Some(edge) = edge.filter(|edge| *edge != self.edge.as_str()) {
            return parse(edge).is_ok_and(|edge| self.is_edge_live(&edge));
        }
        self.asking()
            .get(id)
            .is_some_and(|asking| asking.waiting > 0 || asking.seen.elapsed() < AWAY)
    }

    /// One call that waits, or waited.
    pub(crate) async fn approval(&self, id: &ApprovalId) -> Answer<Approval> {
        Ok(self.held(id).await?.approval)
    }

    async fn held(&self, id: &ApprovalId) -> Answer<Held> {
        let mut tx = self.read().await?;
        find(&mut tx, id).await
    }

    /// A call's node asks here from now on, where it asked at another edge before.
    pub(crate) async fn hold(&self, id: &ApprovalId) -> Answer<()> {
        let Held { approval, edge } = self.held(id).await?;
        if approval.state != ApprovalState::Pending || edge.as_deref() == Some(self.edge.as_str()) {
            return Ok(());
        }
        let mut write = self.write(&Actor::Node(approval.node)).await?;
        query("UPDATE approvals SET edge = $1 WHERE id = $2 AND state = 'pending'")
            .bind(self.edge.as_str())
            .bind(id.as_str())
            .execute(write.conn())
            .await?;
        write.commit().await?;
        Ok(())
    }

    /// Takes in a call that waits for a person.
    pub(crate) async fn ask_approval(
        &self,
        node: &NodeName,
        ask: &AskApproval,
    ) -> Answer<Approval> {
        let arguments = oz0_listing::json::parse(ask.arguments.get())
            .ok()
            .filter(|json| json.as_object().is_some())
            .ok_or_else(|| {
                let what = "a call's arguments must be a JSON object that reads in one way only";
                Problem::new(Code::Malformed, what)
            })?
            .canonical();
        if arguments.len() > ARGUMENTS {
            let what = format!(
                "the arguments have {} bytes, and a person is asked about {ARGUMENTS} at most",
                arguments.len()
            );
            return Err(Problem::new(Code::TooLarge, what).into());
        }
        let mut write = self.write(&Actor::Node(node.clone())).await?;
        let waiting: i64 =
            query_scalar("SELECT COUNT(*) FROM approvals WHERE node = $1 AND state = 'pending'")
                .bind(node.as_str())
                .fetch_one(write.conn())
                .await?;
        if waiting >= WAITING {
            let what = format!("{WAITING} calls of {node} wait for people already");
            return Err(Problem::new(Code::Unavailable, what).into());
        }
        let id = ApprovalId::from_random(random()?);
        let (now, kept) = (steady().0, i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX));
        query("DELETE FROM approvals WHERE decided_at < $1")
            .bind(now - kept)
            .execute(write.conn())
            .await?;
        let timeout = i64::try_from(ask.timeout_ms.min(LONGEST)).unwrap_or(i64::MAX);
        let expires_at = now.saturating_add(timeout);
        let line = |text: &str, limit| escape::line_within(text, limit).into_owned();
        let approval = Approval {
            id: id.clone(),
            plugin: ask.plugin.clone(),
            version: ask.version.clone(),
            function: ask.function.clone(),
            kind: line(&ask.kind, 40),
            listing: ask.listing,
            digest: Digest::of(&arguments),
            arguments: shown(&arguments),
            client: line(&ask.client, CLIENT),
            why: line(&ask.why, WHY),
            requires_approval: ask.requires_approval,
            node: node.clone(),
            state: ApprovalState::Pending,
            asked_at: write.now,
            expires_at: time_of_day(expires_at),
            decided_by: None,
            reason: None,
            revision: None,
        };
        query(
            "INSERT INTO approvals (id, node, plugin, version, function, kind, listing, arguments,
             digest, client, why, requires_approval, call, state, asked_at, expires_at, edge)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'pending', $14, $15, $16)",
        )
        .bind(id.as_str())
        .bind(node.as_str())
        .bind(ask.plugin.as_str())
        .bind(ask.version.as_str())
        .bind(ask.function.as_str())
        .bind(&approval.kind)
        .bind(ask.listing.to_string())
        .bind(&arguments)
        .bind(approval.digest.to_string())
        .bind(&approval.client)
        .bind(&approval.why)
        .bind(i64::from(ask.requires_approval))
        .bind(ask.call.as_ref().map(CallId::as_str))
        .bind(write.now.0)
        .bind(expires_at)
        .bind(self.edge.as_str())
        .execute(write.conn())
        .await?;
        if let Some(call) = &ask.call {
            // The asker waits for the person, and then as long as for any call.
            query(
                "UPDATE calls SET expires_at = expires_at + $1
                 WHERE id = $2 AND node = $3 AND state = 'running' AND patient = 1",
            )
            .bind(timeout)
            .bind(call.as_str())
            .bind(node.as_str())
            .execute(write.conn())
            .await?;
        }
        write.tell("approval.ask", &approval).await?;
        self.begin_asking(&id);
        self.end_asking(&id);
        write.commit().await?;
        Ok(approval)
    }

    /// The calls that wait. One whose node is gone is closed first.
    pub(crate) async fn approvals(&self) -> Answer<Vec<Approval>> {
        let mut waiting = Vec::new();
        for held in self.pending().await? {
            if self.settle(&held).await?.is_none() {
                waiting.push(held.approval);
            }
        }
        Ok(waiting)
    }

    async fn pending(&self) -> Result<Vec<Held>, StoreError> {
        let mut tx = self.read().await?;
        let rows: Vec<Row> = query_as(concat!(
            "SELECT ",
            columns!(),
            " FROM approvals WHERE state = 'pending' ORDER BY asked_at, id"
        ))
        .fetch_all(&mut tx)
        .await?;
        rows.into_iter().map(read_held).collect()
    }

    /// Closes what nobody may decide any more: its time is over, or its node is gone. Says how it was closed.
    async fn settle(&self, held: &Held) -> Answer<Option<ApprovalState>> {
        let Held { approval, edge } = held;
        let end = if approval.expires_at <= now() {
            ApprovalState::Expired
        } else if !self.is_asked(&approval.id, edge.as_deref()) {
            ApprovalState::Lost
        } else {
            return Ok(None);
        };
        if self.end(&Actor::Edge, &approval.id, end, edge.as_deref()).await? {
            return Ok(Some(end));
        }
        // Somebody was there before, or its node came to another edge.
        let state = self.approval(&approval.id).await?.state;
        Ok((state != ApprovalState::Pending).then_some(state))
    }

    /// How many calls nodes ask about.
    pub(super) fn asked_about(&self) -> usize {
        self.asking().len()
    }

    /// Closes one that is pending, without a decision. Says whether it was. Only the edge that it was held by can have lost
    /// it: its node may have come to another one meanwhile.
    async fn end(
        &self,
        actor: &Actor,
        id: &ApprovalId,
        end: ApprovalState,
        edge: Option<&str>,
    ) -> Result<bool, StoreError> {
        let mut write = self.write(actor).await?;
        if end == ApprovalState::Lost {
            let holds: Option<Option<String>> =
                query_scalar("SELECT edge FROM approvals WHERE id = $1")
                    .bind(id.as_str())
                    .fetch_optional(write.conn())
                    .await?;
            if holds.is_some_and(|holds| holds.as_deref() != edge) {
                return Ok(false);
            }
        }
        let Some(approval) = write.close(id, end, None).await? else { return Ok(false) };
        let action = match end {
            ApprovalState::Expired => "approval.expire",
            ApprovalState::Withdrawn => "approval.withdraw",
            _ => "approval.lose",
        };
        write.tell(action, &approval).await?;
        write.commit().await?;
        self.asking().remove(id);
        Ok(true)
    }

    /// Closes a call whose node does not ask any more.
    pub(crate) async fn lose_unasked(&self, id: &ApprovalId) -> Answer<()> {
        let held = self.held(id).await?;
        let elsewhere = held.edge.as_deref().is_some_and(|edge| edge != self.edge.as_str());
        if held.approval.state == ApprovalState::Pending {
            self.settle(&held).await?;
        }
        if elsewhere || !self.is_asked(id, None) {
            self.asking().remove(id);
        }
        Ok(())
    }

    /// Closes every call that waited at an edge whose process has ended.
    pub(super) async fn lose_held_by(&self, edge: &EdgeId) -> Result<(), StoreError> {
        // One from before several edges kept a store is of the edge that keeps it now.
        let is_its = |held: &Option<String>| {
            held.as_deref().map_or(*edge == self.edge, |held| held == edge.as_str())
        };
        for held in self.pending().await?.into_iter().filter(|held| is_its(&held.edge)) {
            let (id, edge) = (&held.approval.id, held.edge.as_deref());
            self.end(&Actor::Edge, id, ApprovalState::Lost, edge).await?;
        }
        // One that was approved, and whose node never heard of it, is of no use to anybody.
        let mut write = self.write(&Actor::Edge).await?;
        query(
            "UPDATE approvals SET state = 'lost'
             WHERE state = 'approved' AND COALESCE(edge, $1) = $2",
        )
        .bind(self.edge.as_str())
        .bind(edge.as_str())
        .execute(write.conn())
        .await?;
        write.commit().await?;
        Ok(())
    }

    /// A person decides.
    pub(crate) async fn decide(
        &self,
        actor: &Actor,
        id: &ApprovalId,
        decide: &Decide,
        approves: bool,
    ) -> Answer<Approval> {
        if decide.reason.as_ref().is_some_and(|reason| reason.chars().count() > REASON) {
            let what = format!("a reason has at most {REASON} characters");
            return Err(Problem::new(Code::Malformed, what).into());
        }
        let held = self.held(id).await?;
        if held.approval.state == ApprovalState::Pending
            && let Some(end) = self.settle(&held).await?
        {
            return Err(over(&Approval { state: end, ..held.approval }).into());
        }
        let mut write = self.write(actor).await?;
        let end = if approves { ApprovalState::Approved } else { ApprovalState::Denied };
        let reason = decide.reason.as_deref();
        let Some(approval) = write.close(id, end, reason).await? else {
            let found = find(write.conn(), id).await?;
            return Err(over(&found.approval).into());
        };
        write.tell(if approves { "approval.approve" } else { "approval.deny" }, &approval).await?;
        write.commit().await?;
        Ok(approval)
    }

    /// The person of a call's own client decides, where its token says that they may.
    pub(crate) async fn elicited(
        &self,
        node: &NodeName,
        id: &ApprovalId,
        elicited: &Elicited,
    ) -> Answer<Approval> {
        let no = |what: &str| Problem::new(Code::Forbidden, what.to_owned());
        let token = self.live_token(&elicited.client).await?;
        let token = token
            .filter(|token| token.kind == TokenKind::Client && token.may_approve)
            .ok_or_else(|| no("this client's token does not say that it may approve"))?;
        let approval = self.approval(id).await?;
        if approval.node != *node {
            return Err(no("this call waits at another node").into());
        }
        if approval.requires_approval {
            return Err(no("a person decides every call of this function, and no client").into());
        }
        let actor = Actor::Token(token.name);
        self.decide(&actor, id, &Decide::default(), elicited.accepted).await
    }

    /// A call that this node asks about.
    pub(crate) async fn asked_by(&self, node: &NodeName, id: &ApprovalId) -> Answer<Approval> {
        let approval = self.approval(id).await?;
        if approval.node != *node {
            return Err(Problem::new(Code::Forbidden, "this call waits at another node").into());
        }
        Ok(approval)
    }

    /// What its node is told of a decision: what is approved is handed out here, and never again.
    pub(crate) async fn take_approval(
        &self,
        node: &NodeName,
        id: &ApprovalId,
    ) -> Answer<Option<Approval>> {
        let approval = self.asked_by(node, id).await?;
        match approval.state {
            ApprovalState::Pending if approval.expires_at <= now() => {
                self.end(&Actor::Edge, id, ApprovalState::Expired, None).await?;
                Ok(Some(self.approval(id).await?))
            }
            ApprovalState::Pending => Ok(None),
            ApprovalState::Approved => {
                let mut write = self.write(&Actor::Node(node.clone())).await?;
                let taken = query(
                    "UPDATE approvals SET state = 'used' WHERE id = $1 AND state = 'approved'",
                )
                .bind(id.as_str())
                .execute(write.conn())
                .await?;
                let revision = Some(poll::current(write.conn()).await?);
                write.commit().await?;
                if taken.rows_affected() == 0 {
                    return Err(Problem::new(Code::Stale, "this was handed out already").into());
                }
                Ok(Some(Approval { revision, ..approval }))
            }
            _ => Ok(Some(approval)),
        }
    }

    /// The call is over, and nobody need decide.
    pub(crate) async fn withdraw_approval(&self, node: &NodeName, id: &ApprovalId) -> Answer<()> {
        let approval = self.approval(id).await?;
        if approval.node != *node {
            return Err(Problem::new(Code::Forbidden, "this call waits at another node").into());
        }
        self.end(&Actor::Node(node.clone()), id, ApprovalState::Withdrawn, None).await?;
        Ok(())
    }
}

impl Write<'_> {
    /// Closes one that is pending; none where it is not.
    async fn close(
        &mut self,
        id: &ApprovalId,
        end: ApprovalState,
        reason: Option<&str>,
    ) -> Result<Option<Approval>, StoreError> {
        let (now, actor) = (steady(), self.actor.to_string());
        let row: Option<Row> = query_as(concat!(
            "UPDATE approvals SET state = $1, decided_at = $2, decided_by = $3, reason = $4,
             arguments = '' WHERE id = $5 AND state = 'pending' RETURNING ",
            columns!()
        ))
        .bind(end.as_str())
        .bind(now.0)
        .bind(actor)
        .bind(reason.map(|reason| escape::text(reason).into_owned()))
        .bind(id.as_str())
        .fetch_optional(self.conn())
        .await?;
        self.wakes = true;
        row.map(read).transpose()
    }

    /// Writes down what happened to a call that waits: by the digest of its arguments, not by the arguments.
    async fn tell(&mut self, action: &'static str, approval: &Approval) -> Result<(), StoreError> {
        let mut detail = BTreeMap::from([
            ("approval".to_owned(), approval.id.to_string()),
            ("arguments".to_owned(), approval.digest.to_string()),
            ("client".to_owned(), approval.client.clone()),
        ]);
        if action == "approval.ask" {
            detail.insert("why".to_owned(), approval.why.clone());
        }
        if let Some(reason) = &approval.reason {
            detail.insert("reason".to_owned(), reason.clone());
        }
        let subject = AuditSubject {
            plugin: Some(approval.plugin.clone()),
            version: Some(approval.version.clone()),
            tool: Some(approval.function.tool()),
            functions: BTreeMap::from([(
                approval.function.clone(),
                Some(approval.listing.to_string()),
            )]),
            node: Some(approval.node.clone()),
            detail,
        };
        self.audit(Act { action, subject }).await
    }
}
