//! The edge as pages in its own process use it: what the API's handlers do, without HTTP in between.
//!
//! Whoever makes pages has this and nothing else of the edge. A [`Person`] is made by their token alone, and each act looks at
//! what that token may do, so no page can forget to. What is done stands in the audit log as what was done over the API.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use oz0_api::approval::{Approval, Decide};
use oz0_api::audit::{AuditCheck, AuditEntry, AuditPage};
use oz0_api::call::{Ask, Call};
use oz0_api::change::{Approve, Approved, Change};
use oz0_api::plugin::{CatalogFunction, PluginStatus};
use oz0_api::token::{NodeStatus, TokenKind};
use oz0_api::{
    ApprovalId, CallId, ChangeId, Code, NodeName, PluginName, PluginVersion, Problem, TokenId,
};
use oz0_listing::FunctionId;
use tokio::sync::watch;

use super::caller::VIEWS;
use super::{Answer, calls, to_its_end};
use crate::Edge;
use crate::overview::{ListedFunction, PluginOverview};
use crate::store::{Actor, Refusal, Store};

/// Somebody who showed a token that reads, or acts as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    name: NodeName,
    token: TokenId,
    kind: TokenKind,
}

impl Person {
    /// The name of their token.
    pub fn name(&self) -> &NodeName {
        &self.name
    }

    /// Whether they may do something, and not only read.
    pub fn may_act(&self) -> bool {
        self.kind == TokenKind::Admin
    }

    fn actor(&self) -> Actor {
        Actor::Token(self.name.clone())
    }

    /// Who acts, where this person may.
    fn acts(&self) -> Result<Actor, Problem> {
        if self.may_act() {
            return Ok(self.actor());
        }
        Err(Problem::new(Code::Forbidden, VIEWS)
            .hint("sign in with a person's admin token: `oz0 token create --admin NAME` makes one"))
    }
}

/// An edge, for pages.
#[derive(Debug, Clone)]
pub struct Desk {
    edge: Edge,
}

impl From<Answer> for Problem {
    fn from(Answer(problem): Answer) -> Self {
        problem
    }
}

fn refused(refusal: impl Into<Refusal>) -> Problem {
    Answer::from(refusal.into()).into()
}

impl Edge {
    /// The edge as pages beside its API use it.
    pub fn desk(&self) -> Desk {
        Desk { edge: self.clone() }
    }
}

impl Desk {
    fn store(&self) -> &Arc<Store> {
        &self.edge.store
    }

    /// Runs a write to its end, also when the browser goes away in the middle.
    fn write<T: Send + 'static>(
        write: impl Future<Output = Result<T, Refusal>> + Send + 'static,
    ) -> impl Future<Output = Result<T, Problem>> + Send + 'static {
        let write = Box::pin(write);
        async move { Ok(to_its_end(write).await?) }
    }

    /// Who a token makes somebody; none where it is unknown, was revoked, or is no person's. Written into the audit log.
    pub async fn sign_in(
        &self,
        secret: &str,
        from: Option<IpAddr>,
    ) -> Result<Option<Person>, Problem> {
        let Some(identity) = self.store().identify(secret).await.map_err(refused)? else {
            return Ok(None);
        };
        let token = &identity.token;
        if !matches!(token.kind, TokenKind::Admin | TokenKind::Viewer) {
            return Ok(None);
        }
        let (name, id, kind) = (token.name.clone(), token.id.clone(), token.kind);
        let person = Person { name, token: id, kind };
        let store = Arc::clone(self.store());
        Self::write(async move { Ok(store.signed_in(&identity, from).await?) }).await?;
        Ok(Some(person))
    }

    /// Somebody leaves.
    pub async fn sign_out(&self, person: &Person) -> Result<(), Problem> {
        let store = Arc::clone(self.store());
        let (token, actor) = (person.token.clone(), person.actor());
        Self::write(async move { Ok(store.signed_out(&actor, &token).await?) }).await
    }

    /// Whether a person's token still counts.
    pub async fn knows(&self, person: &Person) -> Result<bool, Problem> {
        self.store().is_token_live(&person.token).await.map_err(refused)
    }

    /// Moves whenever something was written.
    pub fn commits(&self) -> watch::Receiver<u64> {
        self.store().commits()
    }

    /// Turns true when the edge ends and nobody is to be made to wait.
    pub fn winds_down(&self) -> watch::Receiver<bool> {
        self.store().winds_down()
    }

    /// How many changes wait for approval, and how many calls for a person.
    pub async fn waiting(&self) -> Result<(i64, i64), Problem> {
        self.store().waiting_counts().await.map_err(refused)
    }

    /// Every plugin, and how it stands.
    pub async fn plugins(&self) -> Result<Vec<PluginOverview>, Problem> {
        self.store().overview().await.map_err(refused)
    }

    /// One plugin.
    pub async fn plugin(&self, plugin: &PluginName) -> Result<PluginOverview, Problem> {
        self.store().plugin_overview(plugin).await.map_err(refused)
    }

    /// These changes of a plugin that still wait, with both sides.
    pub async fn changes(
        &self,
        plugin: &PluginName,
        ids: &[ChangeId],
    ) -> Result<Vec<Change>, Problem> {
        self.store().changes_named(plugin, ids).await.map_err(refused)
    }

    /// Approves exactly these changes, and says which of them are no longer what is listed.
    pub async fn approve(
        &self,
        person: &Person,
        plugin: &PluginName,
        approve: Approve,
    ) -> Result<Approved, Problem> {
        let (store, actor, plugin) = (Arc::clone(self.store()), person.acts()?, plugin.clone());
        Self::write(async move { store.approve(&actor, &plugin, &approve).await }).await
    }

    /// Makes a plugin's candidate its installed version, if it is this one.
    pub async fn promote(
        &self,
        person: &Person,
        plugin: &PluginName,
        version: PluginVersion,
    ) -> Result<PluginStatus, Problem> {
        let (store, actor, plugin) = (Arc::clone(self.store()), person.acts()?, plugin.clone());
        Self::write(async move { store.promote(&actor, &plugin, &version).await }).await
    }

    /// Takes a version back: the candidate, or the installed one for the one before it.
    pub async fn rollback(
        &self,
        person: &Person,
        plugin: &PluginName,
        version: PluginVersion,
    ) -> Result<PluginStatus, Problem> {
        let (store, actor, plugin) = (Arc::clone(self.store()), person.acts()?, plugin.clone());
        Self::write(async move { store.rollback(&actor, &plugin, &version).await }).await
    }

    /// Every function with the listing that was accepted last.
    pub async fn functions(&self) -> Result<Vec<ListedFunction>, Problem> {
        self.store().listed().await.map_err(refused)
    }

    /// A function, as each version has it that nodes run; none where no plugin has it.
    pub async fn function(&self, id: &FunctionId) -> Result<Vec<CatalogFunction>, Problem> {
        self.store().function(id).await.map_err(refused)
    }

    /// Asks for a call, which a node decides by policy and runs.
    pub async fn ask(&self, person: &Person, ask: Ask) -> Result<Call, Problem> {
        let (store, actor) = (Arc::clone(self.store()), person.acts()?);
        let anywhere = ask.node.is_none();
        let call = Self::write(async move { store.ask(&actor, &ask).await }).await?;
        if anywhere {
            let (edge, id) = (self.edge.clone(), call.id.clone());
            // Whoever looks at the call looks now and then: somebody has to offer it elsewhere meanwhile.
            tokio::spawn(async move {
                let _ = calls::wait_asked(&edge, &id, LONGEST_CALL, true, None).await;
            });
        }
        Ok(call)
    }

    /// How far a call has come.
    pub async fn asked(&self, id: &CallId) -> Result<Call, Problem> {
        Ok(self.store().asked(id).await.map_err(refused)?.0)
    }

    /// The calls that wait for a person.
    pub async fn approvals(&self) -> Result<Vec<Approval>, Problem> {
        let store = Arc::clone(self.store());
        Self::write(async move { store.approvals().await }).await
    }

    /// Decides about a call that waits.
    pub async fn decide(
        &self,
        person: &Person,
        id: &ApprovalId,
        decide: Decide,
        approves: bool,
    ) -> Result<Approval, Problem> {
        let (store, actor, id) = (Arc::clone(self.store()), person.acts()?, id.clone());
        Self::write(async move { store.decide(&actor, &id, &decide, approves).await }).await
    }

    /// The nodes that ever asked.
    pub async fn nodes(&self) -> Result<Vec<NodeStatus>, Problem> {
        self.store().nodes().await.map_err(refused)
    }

    /// Entries of the audit log after a position, the oldest first.
    pub async fn audit_after(&self, after: i64, limit: u32) -> Result<AuditPage, Problem> {
        self.store().audit(after, limit).await.map_err(refused)
    }

    /// Entries of the audit log before a position, or its last ones, the newest first.
    pub async fn audit_before(
        &self,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, Problem> {
        self.store().audit_before(before.unwrap_or(i64::MAX), limit).await.map_err(refused)
    }

    /// Checks every edge's chain.
    pub async fn verify_audit(&self) -> Result<AuditCheck, Problem> {
        self.store().verify_audit().await.map_err(refused)
    }
}

/// No call lasts longer, a person's time to decide included.
const LONGEST_CALL: Duration = Duration::from_hours(25);
