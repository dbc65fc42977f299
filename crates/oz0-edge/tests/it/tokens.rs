//! Tokens: what they open, and what is kept of them.

use oz0_api::Code;
use oz0_api::token::{CreateToken, TokenKind};

use crate::house::{House, refused};

fn create(kind: TokenKind, name: &str) -> CreateToken {
    CreateToken { kind, name: name.parse().unwrap(), may_approve: false }
}

#[tokio::test]
async fn the_first_admin_token_is_in_a_file_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let house = House::new().await;
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&house.edge.admin_token_file()), 0o600);
    assert_eq!(mode(&house.data()), 0o700);
    for entry in std::fs::read_dir(house.data()).unwrap() {
        let path = entry.unwrap().path();
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expected, "{}", path.display());
    }
    let whoami = house.admin.whoami().await.unwrap();
    assert_eq!(whoami.actor, "token:admin");
    assert_eq!(whoami.token.unwrap().kind, TokenKind::Admin);
    assert_eq!(house.local.whoami().await.unwrap().actor, "local");
    let first = std::fs::read_to_string(house.edge.admin_token_file()).unwrap();
    let house = house.restart().await;
    assert_eq!(std::fs::read_to_string(house.edge.admin_token_file()).unwrap(), first, "once");
    house.admin.tokens().await.unwrap();
}

#[tokio::test]
async fn no_secret_is_anywhere_in_the_store() {
    let house = House::new().await;
    let created = house.admin.create_token(&create(TokenKind::Node, "node-1")).await.unwrap();
    assert!(created.secret.starts_with(&created.token.prefix));
    assert!(!format!("{created:?}").contains(&created.secret));
    let half = created.secret.rsplit('_').next().unwrap().to_owned();
    let folder = house.end().await;
    for entry in std::fs::read_dir(folder.path().join("data")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        assert!(
            !bytes.windows(half.len()).any(|window| window == half.as_bytes()),
            "{}",
            path.display()
        );
    }
}

#[tokio::test]
async fn a_revoked_or_made_up_token_is_nobody_also_at_the_socket() {
    let house = House::new().await;
    let created = house.admin.create_token(&create(TokenKind::Admin, "second")).await.unwrap();
    let second = house.local.with_token(&created.secret);
    second.tokens().await.unwrap();
    let revoked = house.admin.revoke_token(&created.token.id).await.unwrap();
    assert!(revoked.revoked_at.is_some());
    assert_eq!(refused(second.whoami().await), Code::Unauthenticated);
    let mut forged = created.secret.clone();
    forged.replace_range(forged.len() - 1.., if forged.ends_with('0') { "1" } else { "0" });
    for secret in ["", "oz0", "oz0_admin_0000000000000000_00", &forged, &created.token.prefix] {
        let somebody = house.local.with_token(secret);
        assert_eq!(refused(somebody.whoami().await), Code::Unauthenticated, "{secret}");
    }
    // Two live tokens of one name would be one actor; after the revocation the name is free.
    house.admin.create_token(&create(TokenKind::Admin, "second")).await.unwrap();
    let twice = house.admin.create_token(&create(TokenKind::Admin, "second")).await;
    assert_eq!(refused(twice), Code::Conflict);
    let acts = house.acts().await;
    assert_eq!(acts, ["token.create", "token.create", "token.revoke", "token.create"]);
}

#[tokio::test]
async fn each_start_of_an_embedded_node_leaves_one_live_token() {
    let house = House::new().await;
    let node = create(TokenKind::Node, "node-1");
    let first = house.edge.reissue_token(&node).await.unwrap();
    let second = house.edge.reissue_token(&node).await.unwrap();
    assert_eq!(
        refused(house.local.with_token(&first.secret).whoami().await),
        Code::Unauthenticated
    );
    assert_eq!(house.local.with_token(&second.secret).whoami().await.unwrap().actor, "node:node-1");
    let acts = house.acts().await;
    assert_eq!(acts[1..], ["token.create", "token.revoke", "token.create"]);
    assert_eq!(house.log().await[3].actor, "edge");
}

#[tokio::test]
async fn the_last_admin_token_stays() {
    let house = House::new().await;
    let tokens = house.admin.tokens().await.unwrap().tokens;
    assert_eq!(refused(house.admin.revoke_token(&tokens[0].id).await), Code::Conflict);
    let unknown = "0000000000000000".parse().unwrap();
    assert_eq!(refused(house.admin.revoke_token(&unknown).await), Code::NotFound);
}

#[tokio::test]
async fn each_kind_of_token_opens_its_own_doors_only() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let mut client = create(TokenKind::Client, "claude");
    client.may_approve = true;
    let client = house.admin.create_token(&client).await.unwrap();
    assert!(client.token.may_approve);
    let client = house.local.with_token(&client.secret);
    assert_eq!(client.whoami().await.unwrap().token.unwrap().kind, TokenKind::Client);
    for who in [&node, &client] {
        assert_eq!(refused(who.tokens().await), Code::Forbidden);
        assert_eq!(refused(who.catalog().await), Code::Forbidden);
        assert_eq!(refused(who.plugins().await), Code::Forbidden);
        assert_eq!(refused(who.verify_audit().await), Code::Forbidden);
    }
    let poll = oz0_api::node::PollQuery { wait: Some(0), ..Default::default() };
    for who in [&house.local, &house.admin, &client] {
        assert_eq!(refused(who.poll(&poll).await), Code::Forbidden);
    }
    assert_eq!(refused(house.local.tokens().await), Code::Forbidden);
    let nodes_may = CreateToken { may_approve: true, ..create(TokenKind::Node, "node-2") };
    assert_eq!(refused(house.admin.create_token(&nodes_may).await), Code::Malformed);
}

#[tokio::test]
async fn a_node_learns_whose_a_clients_token_is_and_nothing_of_others() {
    let house = House::new().await;
    let node = house.admin.create_token(&create(TokenKind::Node, "node-7")).await.unwrap();
    let asks = house.local.with_token(&node.secret);
    let may = CreateToken { may_approve: true, ..create(TokenKind::Client, "laptop") };
    let client = house.admin.create_token(&may).await.unwrap();
    let found = asks.check_client(&client.secret).await.unwrap().unwrap();
    assert_eq!((found.name.as_str(), found.may_approve), ("laptop", true));
    assert_eq!(found.id, client.token.id);

    let admin = std::fs::read_to_string(house.edge.admin_token_file()).unwrap();
    let half = client.secret.rsplit_once('_').unwrap().0;
    for token in [admin.trim(), &node.secret, half, &format!("{half}_{half}"), "", "wrong"] {
        assert_eq!(asks.check_client(token).await.unwrap(), None, "{token}");
    }
    house.admin.revoke_token(&client.token.id).await.unwrap();
    assert_eq!(asks.check_client(&client.secret).await.unwrap(), None);
    // Nobody else may ask: it would tell a guess from a miss.
    for asker in [&house.admin, &house.local, &house.local.with_token(&client.secret)] {
        let error = asker.check_client(&client.secret).await.unwrap_err();
        assert!(matches!(error.code(), Some(Code::Forbidden | Code::Unauthenticated)), "{error}");
    }
}

#[tokio::test]
async fn an_edge_that_winds_down_makes_nobody_wait() {
    let house = House::new().await;
    let node = house.admin.create_token(&create(TokenKind::Node, "node-7")).await.unwrap();
    let asks = house.local.with_token(&node.secret);
    let first = asks.poll(&oz0_api::node::PollQuery::default()).await.unwrap();
    let query = oz0_api::node::PollQuery {
        edge: Some(first.edge),
        plugins: first.plugins.revision,
        decisions: first.decisions.revision,
        wait: Some(30),
        jobs: true,
        ..Default::default()
    };
    let began = std::time::Instant::now();
    let mut waiting = Box::pin(asks.poll(&query));
    let early = tokio::time::timeout(std::time::Duration::from_millis(200), &mut waiting).await;
    assert!(early.is_err(), "there is nothing to say");
    house.edge.wind_down();
    assert!(waiting.await.unwrap().plugins.changed.is_empty());
    assert!(asks.poll(&query).await.unwrap().plugins.changed.is_empty());
    assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
}
