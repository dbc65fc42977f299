//! What a plugin's contract tests run in: its own locked environment, with a runner where it has none.
//!
//! The runner's requirements are joined with the plugin's own, so that the tests import exactly what the servers import; where
//! both name a package, the plugin's version stands.

use std::path::Path;

use super::error::PrepareError;
use super::{Environments, Prepared, lock};

impl Environments {
    /// The environments of the plugin in `folder`, with the packages of `runner` (a hashed requirements text) beside the
    /// plugin's own Python packages. `argv` is left empty.
    pub fn prepare_tests(
        &self,
        folder: &Path,
        runner: Option<&str>,
    ) -> Result<Prepared, PrepareError> {
        let node_environment = self.node_project(folder)?;
        let python_environment = match runner {
            None => self.python_project(folder)?,
            Some(runner) => {
                let own = self.python_requirements(folder)?.unwrap_or_default();
                let text = joined(&own, runner)?;
                Some(self.install_requirements(&text, "what the contract tests need")?)
            }
        };
        Ok(Prepared { argv: Vec::new(), python_environment, node_environment })
    }
}

/// The plugin's requirements, and those of the runner that it does not have.
fn joined(own: &str, runner: &str) -> Result<String, PrepareError> {
    let names: Vec<String> =
        lock::requirements("requirements.txt", own)?.into_iter().map(|found| found.name).collect();
    let mut text = own.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    // A requirement begins at its own line and goes on to the next one's.
    let wanted = lock::requirements("the runner's requirements", runner)?;
    let lines: Vec<&str> = runner.lines().collect();
    for (at, requirement) in wanted.iter().enumerate() {
        if names.contains(&requirement.name) {
            continue;
        }
        let end = wanted.get(at + 1).map_or(lines.len(), |next| next.line - 1);
        for line in lines[requirement.line - 1..end]
            .iter()
            .filter(|line| !line.trim_start().starts_with('#'))
        {
            text.push_str(line);
            text.push('\n');
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn the_plugins_own_version_of_a_package_stands() {
        let [a, b, c] = ["a", "b", "c"].map(|digit| digit.repeat(64));
        let own = format!("Packaging==1.0 --hash=sha256:{a}");
        let runner = format!(
            "# the runner\npackaging==2.0 \\\n    --hash=sha256:{b}\n    # via pytest\npytest==8 \\\n    --hash=sha256:{c}\n"
        );
        let text = joined(&own, &runner).expect("both are locked");
        let wanted =
            format!("Packaging==1.0 --hash=sha256:{a}\npytest==8 \\\n    --hash=sha256:{c}\n");
        assert_eq!(text, wanted);
    }
}
