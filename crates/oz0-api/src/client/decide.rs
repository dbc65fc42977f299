//! What may be called: the tenant's rules, and the calls that wait for a person.

use std::time::Duration;

use http::Method;

use super::{Client, ClientError, TIMEOUT};
use crate::approval::{Approval, Approvals, AskApproval, Decide, Elicited};
use crate::id::{ApprovalId, RuleId};
use crate::policy::{RuleSet, SetRule, TenantPolicy, TenantRule};

impl Client {
    /// The tenant's policy.
    pub async fn policy(&self) -> Result<TenantPolicy, ClientError> {
        self.get("/v1/policy").await
    }

    /// Sets a rule of the tenant's policy.
    pub async fn set_rule(&self, set: &SetRule) -> Result<RuleSet, ClientError> {
        self.post("/v1/policy", set).await
    }

    /// Takes a rule of the tenant's policy away.
    pub async fn unset_rule(&self, id: &RuleId) -> Result<TenantRule, ClientError> {
        self.send(Method::DELETE, &format!("/v1/policy/{id}"), None::<&()>, TIMEOUT).await
    }

    /// The calls that wait for a person.
    pub async fn approvals(&self) -> Result<Approvals, ClientError> {
        self.get("/v1/approvals").await
    }

    /// Lets a call through that waits.
    pub async fn approve_call(
        &self,
        id: &ApprovalId,
        decide: &Decide,
    ) -> Result<Approval, ClientError> {
        self.post(&format!("/v1/approvals/{id}/approve"), decide).await
    }

    /// Refuses a call that waits.
    pub async fn deny_call(
        &self,
        id: &ApprovalId,
        decide: &Decide,
    ) -> Result<Approval, ClientError> {
        self.post(&format!("/v1/approvals/{id}/deny"), decide).await
    }

    /// Asks for a person's decision about a call. For nodes.
    pub async fn ask_approval(&self, ask: &AskApproval) -> Result<Approval, ClientError> {
        self.post("/v1/approvals", ask).await
    }

    /// Waits for the decision about a call of this node, for at most 30 s; what is approved is handed out here, once. For
    /// nodes.
    pub async fn await_approval(&self, id: &ApprovalId) -> Result<Approval, ClientError> {
        let wait = Duration::from_secs(30);
        let path = format!("/v1/approvals/{id}/take");
        self.send(Method::POST, &path, Some(&()), TIMEOUT + wait).await
    }

    /// Takes a call of this node back, about which nobody need decide any more. For nodes.
    pub async fn withdraw_approval(&self, id: &ApprovalId) -> Result<(), ClientError> {
        self.send(Method::DELETE, &format!("/v1/approvals/{id}"), None::<&()>, TIMEOUT).await
    }

    /// Says what the person of a call's own client answered. For nodes.
    pub async fn elicited(
        &self,
        id: &ApprovalId,
        elicited: &Elicited,
    ) -> Result<Approval, ClientError> {
        self.post(&format!("/v1/approvals/{id}/elicited"), elicited).await
    }
}
