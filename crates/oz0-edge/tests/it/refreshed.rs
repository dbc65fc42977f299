//! Connections by OAuth: tokens that are renewed, that cannot be, and that are revoked.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use oz0_api::Code;
use oz0_api::credential::{
    ClientAuth, Connect, Credential, Grant, OauthGrant, Renewal, Revocation, Sensitive,
};
use oz0_issuer::{Issuer, MARK};

use crate::credentials::{connection, name, team};
use crate::house::{House, refused};

/// What somebody who authorized it brings to the edge.
fn grant(issuer: &Issuer, life: u64) -> OauthGrant {
    let (access, refresh) = issuer.grant();
    OauthGrant {
        token_endpoint: format!("{}/token", issuer.url()),
        revocation_endpoint: Some(format!("{}/revoke", issuer.url())),
        client_id: "client".to_owned(),
        client_secret: Some(Sensitive::new(format!("{MARK}-of-the-client"))),
        client_auth: ClientAuth::Basic,
        resource: Some(issuer.mcp()),
        access_token: Sensitive::new(access),
        expires_in: Some(life),
        renewal: Renewal::RefreshToken(Sensitive::new(refresh)),
        scopes: BTreeSet::from(["issues:read".to_owned()]),
    }
}

async fn connected(house: &House, grant: OauthGrant) {
    let connect = Connect {
        params: BTreeMap::from([("project".to_owned(), "OPS".to_owned())]),
        with: Grant::Oauth(Box::new(grant)),
    };
    house.admin.connect(&name("team"), &connection("tracker"), &connect).await.unwrap();
}

async fn credential(node: &oz0_api::Client) -> Credential {
    let given = node.credentials(&name("team")).await.unwrap();
    given.connections[&connection("tracker")].clone()
}

fn token(credential: &Credential) -> String {
    credential.token.as_ref().unwrap().expose().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_ends_is_renewed_once_for_all_who_ask_and_again_with_the_new_one() {
    let issuer = Issuer::new();
    let house = House::new().await;
    house.install(&team("1.0.0")).await;
    let node = house.node("node-1").await;
    // One that counts for an hour is handed out as it is.
    connected(&house, grant(&issuer, 3600)).await;
    let first = token(&credential(&node).await);
    assert!(issuer.counts(&first));
    assert!(issuer.asked("/token").is_empty());

    // One that has ended is renewed, whoever comes first; a refresh token that is used twice would be refused.
    connected(&house, grant(&issuer, 0)).await;
    let asked = (0..8).map(|_| {
        let node = node.clone();
        tokio::spawn(async move { credential(&node).await })
    });
    let mut tokens = BTreeSet::new();
    for asked in asked.collect::<Vec<_>>() {
        let credential = asked.await.unwrap();
        assert_eq!(credential.failure, None);
        tokens.insert(token(&credential));
    }
    assert_eq!((tokens.len(), issuer.asked("/token").len()), (1, 1));
    assert!(issuer.counts(tokens.first().unwrap()));
    let asked = &issuer.asked("/token")[0];
    assert_eq!(asked.form["grant_type"], "refresh_token");
    assert_eq!(asked.form["resource"], issuer.mcp());
    assert!(asked.authorization.as_ref().unwrap().starts_with("Basic "));

    // It survives the edge, with the refresh token that came last.
    let house = house.restart().await;
    assert_eq!(token(&credential(&house.node("node-2").await).await), *tokens.first().unwrap());
    let listed = serde_json::to_string(&house.admin.connections().await.unwrap()).unwrap();
    assert!(!listed.contains(MARK), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_cannot_be_renewed_says_so_and_nothing_secret_with_it() {
    let issuer = Issuer::new();
    issuer.behave(|manner| manner.refuses = true);
    let house = House::new().await;
    house.install(&team("1.0.0")).await;
    let node = house.node("node-1").await;
    connected(&house, grant(&issuer, 0)).await;
    let given = credential(&node).await;
    let failure = given.failure.unwrap();
    assert!(failure.contains("invalid_grant") && !failure.contains(MARK), "{failure}");
    assert_eq!(given.valid_for_ms, Some(0));
    // It is not asked again at once, and people are shown why.
    credential(&node).await;
    assert_eq!(issuer.asked("/token").len(), 1);
    let connections = house.admin.connections().await.unwrap().connections;
    let shown = connections[0].connected.clone().unwrap();
    assert_eq!(shown.failure.as_deref(), Some(failure.as_str()));
    assert!(shown.renews);
    // A connection that is connected again is asked for at once.
    issuer.behave(|manner| manner.refuses = false);
    connected(&house, grant(&issuer, 0)).await;
    assert_eq!(credential(&node).await.failure, None);
    assert!(!format!("{:?}", house.log().await).contains(MARK));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_gone_costs_a_token_that_counts_nothing() {
    let issuer = Issuer::new();
    issuer.behave(|manner| manner.life = Duration::from_secs(2));
    let house = House::new().await;
    house.install(&team("1.0.0")).await;
    let node = house.node("node-1").await;
    let mut grant = grant(&issuer, 90);
    // It ends within a minute of an hour's life: it is due, and counts.
    grant.expires_in = Some(20);
    grant.token_endpoint = "http://127.0.0.1:9/token".to_owned();
    grant.revocation_endpoint = Some("http://127.0.0.1:9/revoke".to_owned());
    connected(&house, grant).await;
    let given = credential(&node).await;
    assert_eq!(given.failure, None);
    let gone = house.admin.disconnect(&name("team"), &connection("tracker")).await.unwrap();
    let Revocation::Failed { reason } = gone.revocation else { panic!("nobody is there") };
    assert!(!reason.contains(MARK), "{reason}");
    assert!(node.credentials(&name("team")).await.unwrap().connections.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn disconnecting_revokes_both_tokens_where_they_were_made() {
    let issuer = Issuer::new();
    let house = House::new().await;
    house.install(&team("1.0.0")).await;
    let granted = grant(&issuer, 3600);
    let access = granted.access_token.expose().to_owned();
    let Renewal::RefreshToken(refresh) = &granted.renewal else { panic!("there is one") };
    let refresh = refresh.expose().to_owned();
    connected(&house, granted).await;
    let gone = house.admin.disconnect(&name("team"), &connection("tracker")).await.unwrap();
    assert_eq!(gone.revocation, Revocation::Revoked);
    assert_eq!(issuer.revoked(), [refresh, access.clone()]);
    assert!(!issuer.counts(&access));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_its_own_gets_its_next_token_as_it_got_the_first() {
    let issuer = Issuer::new();
    let house = House::new().await;
    house.install(&team("1.0.0")).await;
    let node = house.node("node-1").await;
    let grant = OauthGrant { renewal: Renewal::ClientCredentials, ..grant(&issuer, 0) };
    connected(&house, grant).await;
    assert!(issuer.counts(&token(&credential(&node).await)));
    let asked = &issuer.asked("/token")[0];
    assert_eq!(asked.form["grant_type"], "client_credentials");
    assert_eq!(asked.form["scope"], "issues:read");
}

#[tokio::test]
async fn nothing_is_sent_in_the_clear_or_to_a_place_that_is_none() {
    let issuer = Issuer::new();
    let house = House::new().await;
    house.install(&team("1.0.0")).await;
    let good = grant(&issuer, 10);
    let wrong = [
        OauthGrant { token_endpoint: "http://as.example/token".to_owned(), ..good.clone() },
        OauthGrant { token_endpoint: "token".to_owned(), ..good.clone() },
        OauthGrant {
            revocation_endpoint: Some("http://as.example/revoke".to_owned()),
            ..good.clone()
        },
        OauthGrant { access_token: Sensitive::new("two words"), ..good.clone() },
        OauthGrant { access_token: Sensitive::new(""), ..good },
    ];
    for grant in wrong {
        let connect = Connect {
            params: BTreeMap::from([("project".to_owned(), "OPS".to_owned())]),
            with: Grant::Oauth(Box::new(grant)),
        };
        let answer = house.admin.connect(&name("team"), &connection("tracker"), &connect).await;
        assert_eq!(refused(answer), Code::Malformed);
    }
}
