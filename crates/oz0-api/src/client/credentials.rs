//! Secrets and connections.

use http::Method;

use super::{Client, ClientError, TIMEOUT};
use crate::credential::{
    Connect, ConnectionInfo, Connections, Credentials, Disconnected, SecretInfo, Secrets, SetSecret,
};
use crate::id::{ConnectionName, PluginName, SecretName};

impl Client {
    /// The secrets that plugins declare, or that are kept for them, without their values.
    pub async fn secrets(&self) -> Result<Secrets, ClientError> {
        self.get("/v1/secrets").await
    }

    /// Keeps a secret for a plugin, in place of the value that it had.
    pub async fn set_secret(
        &self,
        plugin: &PluginName,
        name: &SecretName,
        set: &SetSecret,
    ) -> Result<SecretInfo, ClientError> {
        self.send(Method::PUT, &format!("/v1/secrets/{plugin}/{name}"), Some(set), TIMEOUT).await
    }

    /// Forgets a secret.
    pub async fn unset_secret(
        &self,
        plugin: &PluginName,
        name: &SecretName,
    ) -> Result<SecretInfo, ClientError> {
        let path = format!("/v1/secrets/{plugin}/{name}");
        self.send(Method::DELETE, &path, None::<&()>, TIMEOUT).await
    }

    /// The connections that plugins declare, or that are kept for them.
    pub async fn connections(&self) -> Result<Connections, ClientError> {
        self.get("/v1/connections").await
    }

    /// Connects a connection, in place of what it was connected with.
    pub async fn connect(
        &self,
        plugin: &PluginName,
        name: &ConnectionName,
        connect: &Connect,
    ) -> Result<ConnectionInfo, ClientError> {
        let path = format!("/v1/connections/{plugin}/{name}");
        self.send(Method::PUT, &path, Some(connect), TIMEOUT).await
    }

    /// Forgets what a connection is connected with, and has its tokens revoked.
    pub async fn disconnect(
        &self,
        plugin: &PluginName,
        name: &ConnectionName,
    ) -> Result<Disconnected, ClientError> {
        let path = format!("/v1/connections/{plugin}/{name}");
        self.send(Method::DELETE, &path, None::<&()>, TIMEOUT * 2).await
    }

    /// What a plugin that this node runs is given. For nodes.
    pub async fn credentials(&self, plugin: &PluginName) -> Result<Credentials, ClientError> {
        self.get(&format!("/v1/credentials/{plugin}")).await
    }
}
