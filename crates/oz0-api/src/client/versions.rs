//! What a person asks about a plugin's versions.

use super::{Client, ClientError};
use crate::id::{PluginName, PluginVersion};
use crate::plugin::PluginStatus;
use crate::rollout::OfVersion;

impl Client {
    /// Makes a plugin's candidate the installed version, on every node. The one before is kept for a rollback.
    pub async fn promote(
        &self,
        name: &PluginName,
        candidate: &PluginVersion,
    ) -> Result<PluginStatus, ClientError> {
        let of = OfVersion { version: candidate.clone() };
        self.post(&format!("/v1/plugins/{name}/promote"), &of).await
    }

    /// Takes a version back: a candidate, or the installed one, in whose place the one before it is installed again.
    pub async fn rollback(
        &self,
        name: &PluginName,
        version: &PluginVersion,
    ) -> Result<PluginStatus, ClientError> {
        let of = OfVersion { version: version.clone() };
        self.post(&format!("/v1/plugins/{name}/rollback"), &of).await
    }
}
