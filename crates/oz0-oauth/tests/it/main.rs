//! An authorization by a browser, its renewal and its end, against a server on loopback.

#![expect(clippy::unwrap_used, reason = "a test that fails should panic where it does")]

use std::collections::BTreeSet;
use std::time::Duration;

use oz0_issuer::{Issuer, MARK};
use oz0_oauth::{
    Auth, Authorization, Callback, Client, Endpoints, Http, OauthError, Tokens, client_credentials,
    discover_issuer, discover_resource, endpoint, refresh, register, revoke,
};
use secrecy::{ExposeSecret as _, SecretString};

const WITHIN: Duration = Duration::from_secs(30);

fn scopes() -> BTreeSet<String> {
    BTreeSet::from(["issues:read".to_owned()])
}

/// What a connection by the remote server's own word goes through.
async fn authorized(
    issuer: &Issuer,
    http: &Http,
    change: impl FnOnce(&mut Authorization),
    browse: impl FnOnce(&str) -> String,
) -> Result<(Tokens, Client, Endpoints), OauthError> {
    let resource = discover_resource(http, &endpoint(&issuer.mcp()).unwrap()).await?;
    let server = discover_issuer(http, &resource.issuers[0]).await?;
    let callback = Callback::listen(0).await?;
    let place = server.registration.clone().unwrap();
    let client = register(http, &place, &callback.redirect()).await?;
    let endpoints = Endpoints {
        token: server.token.clone(),
        revocation: server.revocation.clone(),
        resource: Some(resource.resource.clone()),
    };
    let mut asked = Authorization {
        authorization: server.authorization.unwrap(),
        token: server.token,
        issuer: Some(server.issuer),
        names_itself: server.names_itself,
        resource: Some(resource.resource),
        scopes: scopes(),
    };
    change(&mut asked);
    let pending = callback.begin(asked, client.clone())?;
    let url = browse(pending.url().as_str());
    let browsed = std::thread::spawn(move || oz0_issuer::browse(&url));
    let tokens = pending.finish(http, WITHIN).await;
    browsed.join().unwrap();
    Ok((tokens?, client, endpoints))
}

fn shown(error: &OauthError) -> String {
    let text = format!("{error} {error:?}");
    assert!(!text.contains(MARK), "{text}");
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_authorizes_it_and_its_tokens_are_renewed_and_revoked() {
    let issuer = Issuer::new();
    let http = Http::new().unwrap();
    let (tokens, client, endpoints) =
        authorized(&issuer, &http, |_| {}, str::to_owned).await.unwrap();
    assert_eq!((client.id.as_str(), client.auth), ("registered", Auth::None));
    assert!(issuer.counts(tokens.access.expose_secret()));
    assert_eq!(tokens.scopes, Some(scopes()));
    assert_eq!(tokens.expires_in, Some(3600));
    let asked = &issuer.asked("/token")[0];
    assert_eq!(asked.form["resource"], issuer.mcp());
    assert!(!format!("{tokens:?} {client:?}").contains(MARK));

    let old = tokens.refresh.unwrap();
    let renewed = refresh(&http, &endpoints, &client, old.expose_secret()).await.unwrap();
    assert!(issuer.counts(renewed.access.expose_secret()));
    // It was used once, and is worth nothing now.
    let again = refresh(&http, &endpoints, &client, old.expose_secret()).await.unwrap_err();
    assert!(again.is_final() && shown(&again).contains("invalid_grant"), "{again}");

    let access = renewed.access.expose_secret();
    revoke(&http, &endpoints, &client, access, "access_token").await.unwrap();
    assert!(!issuer.counts(access));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_shows_its_secret_as_it_is_told_to() {
    let issuer = Issuer::new();
    let http = Http::new().unwrap();
    let at = |path: &str| endpoint(&format!("{}{path}", issuer.url())).unwrap();
    let endpoints = Endpoints { token: at("/token"), revocation: None, resource: None };
    for auth in [Auth::Basic, Auth::Post] {
        let secret = Some(SecretString::from(format!("{MARK} of a client: %")));
        let client = Client { id: "oz0 for a/b".to_owned(), secret, auth };
        let tokens = client_credentials(&http, &endpoints, &client, &scopes()).await.unwrap();
        assert!(issuer.counts(tokens.access.expose_secret()));
        assert!(tokens.refresh.is_none());
        let asked = issuer.asked("/token").pop().unwrap();
        assert_eq!(asked.form.contains_key("client_secret"), auth == Auth::Post);
        assert_eq!(asked.authorization.is_some(), auth == Auth::Basic);
        assert_eq!(asked.form["scope"], "issues:read");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_says_of_itself_is_taken_from_its_own_origin_alone() {
    let issuer = Issuer::new();
    let other = Issuer::new();
    let http = Http::new().unwrap();
    let at = |url: &str| endpoint(url).unwrap();
    discover_issuer(&http, &at(issuer.url())).await.unwrap();
    issuer.behave(|manner| manner.elsewhere = Some(other.url().to_owned()));
    let error = discover_issuer(&http, &at(issuer.url())).await.unwrap_err();
    assert!(shown(&error).contains("token endpoint is at another origin"), "{error}");
    issuer.behave(|manner| {
        manner.elsewhere = None;
        manner.issuer = Some(other.url().to_owned());
    });
    let error = discover_issuer(&http, &at(issuer.url())).await.unwrap_err();
    assert!(shown(&error).contains("of another issuer"), "{error}");
    issuer.behave(|manner| manner.resource = Some(other.mcp()));
    let error = discover_resource(&http, &at(&issuer.mcp())).await.unwrap_err();
    assert!(shown(&error).contains("of another resource"), "{error}");
    let nowhere = format!("{}/nothing", issuer.url());
    let error = discover_resource(&http, &at(&nowhere)).await.unwrap_err();
    assert!(matches!(error, OauthError::NoMetadata { .. }), "{error}");
    // Nobody is sent on.
    issuer.behave(|manner| manner.redirects = Some(other.url().to_owned()));
    let error = discover_issuer(&http, &at(issuer.url())).await.unwrap_err();
    assert!(shown(&error).contains("redirects are not followed"), "{error}");
    assert!(other.asked("/token").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_another_brings_or_another_issuer_sends_is_not_redeemed() {
    let issuer = Issuer::new();
    let http = Http::new().unwrap();
    // The page of another site sends the browser back with a code of its own: it does not know the state.
    let forged = authorized(
        &issuer,
        &http,
        |_| {},
        |url| {
            let asked = url::Url::parse(url).unwrap();
            let redirect = asked.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1;
            let forged = format!("{redirect}?code=other&state=guessed");
            // It is answered once somebody waits; what the person was asked for comes after it, and counts.
            std::thread::spawn(move || assert_eq!(oz0_issuer::browse(&forged), 400));
            url.to_owned()
        },
    );
    forged.await.unwrap();
    // An issuer that was mixed up with another.
    let mixed = authorized(
        &issuer,
        &http,
        |asked| asked.issuer = Some("https://other.example".to_owned()),
        str::to_owned,
    );
    let error = mixed.await.unwrap_err();
    assert!(shown(&error).contains("another issuer"), "{error}");
    assert_eq!(issuer.asked("/token").len(), 1, "the code stays where it is");
}

#[tokio::test]
async fn nobody_who_comes_is_waited_for_until_it_is_late() {
    let issuer = Issuer::new();
    let http = Http::new().unwrap();
    let callback = Callback::listen(0).await.unwrap();
    let at = |path: &str| endpoint(&format!("{}{path}", issuer.url())).unwrap();
    let client = Client { id: "client".to_owned(), secret: None, auth: Auth::None };
    let asked = Authorization {
        authorization: at("/authorize"),
        token: at("/token"),
        issuer: None,
        names_itself: false,
        resource: None,
        scopes: scopes(),
    };
    let pending = callback.begin(asked, client).unwrap();
    let error = pending.finish(&http, Duration::from_millis(50)).await.unwrap_err();
    assert!(matches!(error, OauthError::Late { .. }), "{error}");
}
