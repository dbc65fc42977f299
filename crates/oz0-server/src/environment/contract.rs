//! What a plugin's contract tests run in: its own locked environment, with a runner where it has none.
//!
//! The runner's requirements are joined with the plugin's own, so that the tests import exactly what the servers import; where
//! both name a package, the plugin's version stands.

use std::sync::Arc;

use oz0_diagnostic::SourceFile;
use oz0_plugin::{Dependencies, PythonDependencies, Requirements};

use super::error::PrepareError;
use super::{Environments, Prepared};

impl Environments {
    /// The environments of a plugin, with the packages of `runner` (hashed requirements) beside the plugin's own Python
    /// packages. `argv` is left empty.
    pub fn prepare_tests(
        &self,
        dependencies: &Dependencies,
        runner: Option<&Arc<SourceFile>>,
    ) -> Result<Prepared, PrepareError> {
        let node_environment = self.node_project(dependencies)?;
        let python_environment = match runner {
            None => self.python_project(dependencies)?,
            Some(runner) => {
                let mut all = match &dependencies.python {
                    None => Requirements::none("requirements.txt"),
                    Some(PythonDependencies::Requirements(own)) => own.clone(),
                    Some(PythonDependencies::UvLock(lock)) => self.export(lock, true)?,
                };
                all.add(&Requirements::read(runner)?);
                Some(self.install_requirements(&all, "what the contract tests need")?)
            }
        };
        Ok(Prepared { argv: Vec::new(), python_environment, node_environment })
    }
}
