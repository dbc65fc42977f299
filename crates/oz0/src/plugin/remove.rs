//! `oz0 plugin remove`.

use anyhow::Result;
use oz0_api::PluginName;

use crate::config::Settings;
use crate::edge;
use crate::exit::Exit;
use crate::output::Output;

pub(crate) fn run(name: &PluginName, settings: &Settings, output: Output) -> Result<Exit> {
    edge::ask(settings, async |client| {
        client.remove(name).await?;
        output.say(&format!(
            "removed {name}: no node runs it any more; what was approved of it stays known"
        ));
        Ok(Exit::Done)
    })
}
