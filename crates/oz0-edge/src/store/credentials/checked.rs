//! What people give: values, params, tokens; looked at before anything is kept.

use std::collections::{BTreeMap, BTreeSet};

use oz0_api::credential::{Grant, LONGEST_PARAM, LONGEST_VALUE, OauthGrant, Renewal, Sensitive};
use oz0_api::plugin::ConnectionDescription;
use oz0_api::{Code, Problem, SecretName};
use oz0_listing::escape;

/// Params of one connection, at most.
const PARAMS: usize = 64;

/// What is wrong with a value. It is not repeated.
pub(super) fn check_value(name: &SecretName, value: &Sensitive) -> Result<(), Problem> {
    let wrong = |what: &str| Problem::new(Code::Malformed, format!("the value of {name} {what}"));
    let value = value.expose();
    if value.is_empty() {
        return Err(wrong("is empty"));
    }
    if value.len() > LONGEST_VALUE {
        let what = format!("the value of {name} has at most {LONGEST_VALUE} bytes");
        return Err(Problem::new(Code::TooLarge, what));
    }
    if value.contains('\0') {
        return Err(wrong("holds a NUL, which no process can be given"));
    }
    Ok(())
}

/// The params that are stored: those that were given, and the defaults of the others as they are now.
pub(super) fn params(
    description: &ConnectionDescription,
    urls: &BTreeSet<String>,
    given: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, Problem> {
    let wrong = |what: String| Problem::new(Code::Malformed, what);
    if let Some(unknown) = given.keys().find(|name| !description.params.contains_key(*name)) {
        let unknown = escape::line_within(unknown, 80);
        return Err(wrong(format!("the connection has no param `{unknown}`")));
    }
    if description.params.len() > PARAMS {
        return Err(wrong(format!("a connection has at most {PARAMS} params")));
    }
    let mut params = BTreeMap::new();
    for (name, default) in &description.params {
        let shown = escape::line_within(name, 80);
        let value = given.get(name).or(default.as_ref()).ok_or_else(|| {
            wrong(format!("the param `{shown}` has no value"))
                .hint(format!("give it one: --param {shown}=VALUE"))
        })?;
        if value.is_empty() || value.len() > LONGEST_PARAM || value.chars().any(char::is_control) {
            return Err(wrong(format!(
                "the param `{shown}` is one line of at most {LONGEST_PARAM} bytes"
            )));
        }
        let placeholder = format!("{{{name}}}");
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"._~:[]-".contains(&b);
        if urls.iter().any(|url| url.contains(&placeholder)) && !value.bytes().all(plain) {
            return Err(wrong(format!(
                "the param `{shown}` stands in a server's URL, where it has letters, digits and `._~:[]-` alone"
            )));
        }
        params.insert(name.clone(), value.clone());
    }
    Ok(params)
}

/// What is wrong with what a connection is to be connected with.
pub(super) fn check_grant(
    description: &ConnectionDescription,
    grant: &Grant,
) -> Result<(), Problem> {
    let wrong = |what: String| Problem::new(Code::Malformed, what);
    match grant {
        Grant::Secrets(given) => {
            if let Some(unknown) = given.keys().find(|name| !description.secrets.contains(name)) {
                return Err(wrong(format!("the connection has no secret {unknown}")));
            }
            if let Some(missing) = description.secrets.iter().find(|name| !given.contains_key(name))
            {
                return Err(wrong(format!("the connection's secret {missing} was not given")));
            }
            given.iter().try_for_each(|(name, value)| check_value(name, value))
        }
        Grant::Oauth(grant) => check_oauth(grant),
    }
}

fn check_oauth(grant: &OauthGrant) -> Result<(), Problem> {
    let wrong = |what: String| Problem::new(Code::Malformed, what);
    let endpoints = [Some(&grant.token_endpoint), grant.revocation_endpoint.as_ref()];
    for endpoint in endpoints.into_iter().flatten() {
        oz0_oauth::endpoint(endpoint).map_err(|error| wrong(error.to_string()))?;
    }
    let token = |value: &Sensitive| {
        let value = value.expose();
        (1..=LONGEST_VALUE).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_graphic())
    };
    if !token(&grant.access_token) {
        return Err(wrong("the access token is none: it has visible ASCII alone".to_owned()));
    }
    if let Renewal::RefreshToken(refresh) = &grant.renewal
        && !token(refresh)
    {
        return Err(wrong("the refresh token is none: it has visible ASCII alone".to_owned()));
    }
    let short = |text: &str| !text.is_empty() && text.len() <= 2000;
    let texts = [Some(&grant.client_id), grant.resource.as_ref()];
    if !texts.into_iter().flatten().chain(&grant.scopes).all(|text| short(text))
        || grant.scopes.len() > 200
    {
        return Err(wrong("a client ID, a resource or a scope is too long".to_owned()));
    }
    let secret = grant.client_secret.as_ref().map(Sensitive::expose);
    if secret.is_some_and(|secret| !short(secret)) {
        return Err(wrong("the client's secret is too long".to_owned()));
    }
    Ok(())
}
