//! Tokens, kept only as hashes.
//!
//! A token is `oz0_KIND_ID_SECRET`: 8 random bytes that name it, 32 that prove it. A guess costs as
//! much as a guess of SHA-256's input of 256 random bits, so a fast hash is enough, and an edge can
//! afford the check on every request.

use std::collections::BTreeMap;
use std::net::IpAddr;

use oz0_api::audit::AuditSubject;
use oz0_api::token::{CreateToken, CreatedToken, TokenInfo, TokenKind};
use oz0_api::{Code, Problem, TokenId, UnixMillis};
use oz0_listing::Digest;
use subtle::ConstantTimeEq as _;

use super::db::{Conn, query, query_as, query_scalar};
use super::{Act, Actor, Answer, Store, StoreError, Write, now, parse, random};

/// Somebody whom the edge knows.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) token: TokenInfo,
}

impl Identity {
    /// As it stands in the audit log.
    pub(crate) fn actor(&self) -> Actor {
        match self.token.kind {
            TokenKind::Node => Actor::Node(self.token.name.clone()),
            TokenKind::Admin | TokenKind::Viewer | TokenKind::Client | TokenKind::Join => {
                Actor::Token(self.token.name.clone())
            }
        }
    }
}

/// How long a token for a node to join with counts, in milliseconds: an hour.
const JOIN_WITHIN: i64 = 60 * 60 * 1000;

type Row = (String, String, String, String, i64, i64, Option<i64>, Option<i64>, String);

fn info(row: &Row) -> Result<TokenInfo, StoreError> {
    let (id, prefix, kind, name, may_approve, created_at, expires_at, revoked_at, _) = row;
    Ok(TokenInfo {
        id: parse(id)?,
        prefix: prefix.clone(),
        kind: kind_of(kind)
            .ok_or_else(|| StoreError::Row("an unknown kind of token".to_owned()))?,
        name: parse(name)?,
        may_approve: *may_approve != 0,
        created_at: UnixMillis(*created_at),
        expires_at: expires_at.map(UnixMillis),
        revoked_at: revoked_at.map(UnixMillis),
    })
}

fn kind_of(text: &str) -> Option<TokenKind> {
    TokenKind::ALL.into_iter().find(|kind| kind.as_str() == text)
}

async fn insert(write: &mut Write<'_>, create: &CreateToken) -> Result<CreatedToken, StoreError> {
    let id = TokenId::from_random(random()?);
    let secret: [u8; 32] = random()?;
    let prefix = format!("oz0_{}_{id}", create.kind.as_str());
    let secret = format!("{prefix}_{}", Digest::from_bytes(secret).hex());
    let created_at = write.now;
    let expires_at = (create.kind == TokenKind::Join)
        .then(|| UnixMillis(created_at.0.saturating_add(JOIN_WITHIN)));
    query(
        "INSERT INTO tokens (id, kind, name, hash, prefix, may_approve, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(id.as_str())
    .bind(create.kind.as_str())
    .bind(create.name.as_str())
    .bind(Digest::of(&secret).hex())
    .bind(&prefix)
    .bind(i64::from(create.may_approve))
    .bind(created_at.0)
    .bind(expires_at.map(|at| at.0))
    .execute(write.conn())
    .await?;
    let token = TokenInfo {
        id,
        prefix,
        kind: create.kind,
        name: create.name.clone(),
        may_approve: create.may_approve,
        created_at,
        expires_at,
        revoked_at: None,
    };
    write.audit(Act { action: "token.create", subject: subject(&token) }).await?;
    Ok(CreatedToken { token, secret })
}

fn subject(token: &TokenInfo) -> AuditSubject {
    let mut detail = BTreeMap::from([
        ("token".to_owned(), token.prefix.clone()),
        ("name".to_owned(), token.name.to_string()),
    ]);
    if token.may_approve {
        detail.insert("may_approve".to_owned(), "true".to_owned());
    }
    AuditSubject { detail, ..AuditSubject::default() }
}

/// The admin token of an edge that starts for the first time.
pub(super) async fn insert_first(write: &mut Write<'_>) -> Result<String, StoreError> {
    let create = CreateToken { kind: TokenKind::Admin, name: parse("admin")?, may_approve: false };
    Ok(insert(write, &create).await?.secret)
}

/// Whether a token counts.
pub(super) async fn is_live(conn: &mut Conn, id: &TokenId) -> Result<bool, StoreError> {
    let live: i64 =
        query_scalar("SELECT COUNT(*) FROM tokens WHERE id = $1 AND revoked_at IS NULL")
            .bind(id.as_str())
            .fetch_one(conn)
            .await?;
    Ok(live > 0)
}

impl Store {
    /// Who sends this token; none where nobody does, or it was revoked.
    pub(crate) async fn identify(&self, secret: &str) -> Result<Option<Identity>, StoreError> {
        let Some(id) = secret.strip_prefix("oz0_").and_then(|rest| rest.split('_').nth(1)) else {
            return Ok(None);
        };
        let mut tx = self.read().await?;
        let row: Option<Row> = query_as(
            "SELECT id, prefix, kind, name, may_approve, created_at, expires_at, revoked_at, hash
             FROM tokens WHERE id = $1 AND revoked_at IS NULL
             AND (expires_at IS NULL OR expires_at > $2)",
        )
        .bind(id)
        .bind(now().0)
        .fetch_optional(&mut tx)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let given = Digest::of(secret).hex();
        if !bool::from(given.as_bytes().ct_eq(row.8.as_bytes())) {
            return Ok(None);
        }
        Ok(Some(Identity { token: info(&row)? }))
    }

    /// Whether a token is one that counts: a request that waits asks again and again.
    pub(crate) async fn is_token_live(&self, id: &TokenId) -> Result<bool, StoreError> {
        let mut tx = self.read().await?;
        is_live(&mut tx, id).await
    }

    /// A token by its ID; none where nobody has it any more.
    pub(super) async fn live_token(&self, id: &TokenId) -> Result<Option<TokenInfo>, StoreError> {
        let mut tx = self.read().await?;
        let row: Option<Row> = query_as(
            "SELECT id, prefix, kind, name, may_approve, created_at, expires_at, revoked_at, hash
             FROM tokens WHERE id = $1 AND revoked_at IS NULL",
        )
        .bind(id.as_str())
        .fetch_optional(&mut tx)
        .await?;
        row.as_ref().map(info).transpose()
    }

    /// Makes a token.
    pub(crate) async fn create_token(
        &self,
        actor: &Actor,
        create: &CreateToken,
    ) -> Answer<CreatedToken> {
        if create.may_approve && create.kind != TokenKind::Client {
            return Err(Problem::new(
                Code::Malformed,
                "`may_approve` is for the token of an MCP client",
            )
            .into());
        }
        // One that was never used is of no more use: the node's name must not wait for it to expire.
        if create.kind == TokenKind::Join {
            return Ok(self.reissue_token(actor, create).await?);
        }
        let mut write = self.write(actor).await?;
        let taken: i64 = query_scalar(
            "SELECT COUNT(*) FROM tokens WHERE kind = $1 AND name = $2 AND revoked_at IS NULL",
        )
        .bind(create.kind.as_str())
        .bind(create.name.as_str())
        .fetch_one(write.conn())
        .await?;
        if taken > 0 {
            return Err(Problem::new(
                Code::Conflict,
                format!(
                    "there is a token of kind `{}` named `{}`",
                    create.kind.as_str(),
                    create.name
                ),
            )
            .hint("choose another name, or revoke that one first")
            .into());
        }
        let created = insert(&mut write, create).await?;
        write.commit().await?;
        Ok(created)
    }

    /// Makes a token in place of the live one of that kind and name.
    pub(crate) async fn reissue_token(
        &self,
        actor: &Actor,
        create: &CreateToken,
    ) -> Result<CreatedToken, StoreError> {
        let mut write = self.write(actor).await?;
        let row: Option<Row> = query_as(
            "SELECT id, prefix, kind, name, may_approve, created_at, expires_at, revoked_at, hash
             FROM tokens WHERE kind = $1 AND name = $2 AND revoked_at IS NULL",
        )
        .bind(create.kind.as_str())
        .bind(create.name.as_str())
        .fetch_optional(write.conn())
        .await?;
        if let Some(row) = row {
            write.revoke(&mut info(&row)?).await?;
        }
        let created = insert(&mut write, create).await?;
        write.commit().await?;
        Ok(created)
    }

    /// Makes the token of the node that a join token is for, once: the join token ends with it, and so does a token that a
    /// node of that name had.
    pub(crate) async fn join(&self, joining: &Identity) -> Answer<CreatedToken> {
        let name = &joining.token.name;
        let mut write = self.write(&joining.actor()).await?;
        let rows: Vec<Row> = query_as(
            "SELECT id, prefix, kind, name, may_approve, created_at, expires_at, revoked_at, hash
             FROM tokens WHERE revoked_at IS NULL AND (id = $1 OR (kind = 'node' AND name = $2))",
        )
        .bind(joining.token.id.as_str())
        .bind(name.as_str())
        .fetch_all(write.conn())
        .await?;
        let mut tokens = rows.iter().map(info).collect::<Result<Vec<_>, _>>()?;
        // Of two that join with one token at once, the second finds it used.
        if tokens.iter().all(|token| token.id != joining.token.id) {
            return Err(Problem::new(Code::Unauthenticated, "the token was used already")
                .hint("a token for a node to join with works once: make another one with `oz0 token create --node NAME`")
                .into());
        }
        for token in &mut tokens {
            write.revoke(token).await?;
        }
        let create = CreateToken { kind: TokenKind::Node, name: name.clone(), may_approve: false };
        let created = insert(&mut write, &create).await?;
        write.commit().await?;
        Ok(created)
    }

    /// All tokens, the oldest first.
    pub(crate) async fn tokens(&self) -> Result<Vec<TokenInfo>, StoreError> {
        let mut tx = self.read().await?;
        let rows: Vec<Row> = query_as(
            "SELECT id, prefix, kind, name, may_approve, created_at, expires_at, revoked_at, hash
             FROM tokens ORDER BY created_at, id",
        )
        .fetch_all(&mut tx)
        .await?;
        rows.iter().map(info).collect()
    }

    /// Revokes a token. The last admin token stays: without one nobody could make another.
    pub(crate) async fn revoke_token(&self, actor: &Actor, id: &TokenId) -> Answer<TokenInfo> {
        let mut write = self.write(actor).await?;
        let row: Option<Row> = query_as(
            "SELECT id, prefix, kind, name, may_approve, created_at, expires_at, revoked_at, hash
             FROM tokens WHERE id = $1",
        )
        .bind(id.as_str())
        .fetch_optional(write.conn())
        .await?;
        let Some(row) = row else {
            return Err(Problem::new(Code::NotFound, format!("there is no token {id}"))
                .hint("`oz0 token list` shows them")
                .into());
        };
        let mut token = info(&row)?;
        if token.revoked_at.is_some() {
            return Ok(token);
        }
        if token.kind == TokenKind::Admin {
            let admins: i64 = query_scalar(
                "SELECT COUNT(*) FROM tokens WHERE kind = 'admin' AND revoked_at IS NULL",
            )
            .fetch_one(write.conn())
            .await?;
            if admins == 1 {
                return Err(Problem::new(Code::Conflict, "this is the last admin token")
                    .hint("make another one first, or nobody could approve anything again")
                    .into());
            }
        }
        write.revoke(&mut token).await?;
        if token.kind == TokenKind::Node {
            write.forget_node(&token.name).await?;
        }
        write.commit().await?;
        if token.kind == TokenKind::Node {
            self.let_go(&token.name);
        }
        Ok(token)
    }

    /// Writes down that somebody signed in at the console with their token, and from where.
    pub(crate) async fn signed_in(
        &self,
        identity: &Identity,
        from: Option<IpAddr>,
    ) -> Result<(), StoreError> {
        let mut write = self.write(&identity.actor()).await?;
        let mut subject = subject(&identity.token);
        subject.detail.extend(from.map(|from| ("address".to_owned(), from.to_string())));
        write.audit(Act { action: "console.sign_in", subject }).await?;
        write.commit().await
    }

    /// Writes down that they left.
    pub(crate) async fn signed_out(&self, actor: &Actor, id: &TokenId) -> Result<(), StoreError> {
        let token = self.live_token(id).await?;
        let Some(token) = token else { return Ok(()) };
        let mut write = self.write(actor).await?;
        write.audit(Act { action: "console.sign_out", subject: subject(&token) }).await?;
        write.commit().await
    }
}

impl Write<'_> {
    async fn revoke(&mut self, token: &mut TokenInfo) -> Result<(), StoreError> {
        if token.kind == TokenKind::Node {
            self.doubt_node_tokens().await?;
        }
        let now = self.now;
        token.revoked_at = Some(now);
        query("UPDATE tokens SET revoked_at = $1 WHERE id = $2")
            .bind(now.0)
            .bind(token.id.as_str())
            .execute(self.conn())
            .await?;
        self.audit(Act { action: "token.revoke", subject: subject(token) }).await
    }
}
