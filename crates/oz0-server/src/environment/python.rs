//! Python environments: virtual environments that `uv` fills from hashed requirements.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oz0_diagnostic::{SourceFile, Span};
use oz0_plugin::{
    Dependencies, DependencyProblem, PythonDependencies, Requirements, UvLock, normal_name,
};

use super::error::{EnvironmentError, PrepareError};
use super::installer::{Installer, on_path};
use super::{Environments, cache};
use crate::interpreter;

/// The `uv` that is installed where the machine has none.
const UV_VERSION: &str = "0.13.9";

/// The hashes of every wheel of that version.
const UV_REQUIREMENT: &str = include_str!("uv-requirement.txt");

impl Environments {
    /// The host's Python, by the name that servers call it.
    fn python(&self, purpose: &str) -> Result<PathBuf, EnvironmentError> {
        ["python3", "python"]
            .iter()
            .find_map(|name| self.interpreters().find(name))
            .map(|found| found.program)
            .ok_or_else(|| EnvironmentError::Missing {
                program: "python3",
                purpose: purpose.to_owned(),
            })
    }

    /// The `uv` of the machine, else one of a fixed version and hash in the cache.
    fn uv(&self, python: &Path) -> Result<PathBuf, EnvironmentError> {
        if let Some(uv) = on_path("uv") {
            return Ok(uv);
        }
        let name = format!("uv-{UV_VERSION}-{}", cache::key([UV_REQUIREMENT, &platform()]));
        let operation = format!("install uv {UV_VERSION}");
        let folder = self.tools().folder(
            &name,
            || self.say("waiting for another oz0 that installs uv"),
            |folder| {
                self.say(&format!(
                    "uv is not on the PATH: installing uv {UV_VERSION} into oz0's cache"
                ));
                let requirement = folder.join("requirements.txt");
                write(&requirement, UV_REQUIREMENT)?;
                Installer {
                    oz0: self.oz0(),
                    program: python,
                    arguments: vec![
                        "-m".as_ref(),
                        "pip".as_ref(),
                        "install".as_ref(),
                        "--quiet".as_ref(),
                        "--no-compile".as_ref(),
                        "--disable-pip-version-check".as_ref(),
                        "--require-hashes".as_ref(),
                        "--no-deps".as_ref(),
                        "--only-binary=:all:".as_ref(),
                        "--target".as_ref(),
                        folder.as_os_str(),
                        "-r".as_ref(),
                        requirement.as_os_str(),
                    ],
                    folder,
                    environment: vec![
                        ("PIP_ROOT_USER_ACTION", "ignore".into()),
                        ("PIP_CACHE_DIR", self.downloads("pip").into()),
                    ],
                    operation: operation.clone(),
                }
                .run()
                .map(drop)
            },
        )?;
        let uv = folder.join("bin/uv");
        if uv.is_file() {
            Ok(uv)
        } else {
            Err(EnvironmentError::Unexpected {
                operation,
                program: "pip",
                what: format!("there is no {}", uv.display()),
            })
        }
    }

    fn run_uv(
        &self,
        python: &Path,
        operation: &str,
        folder: &Path,
        arguments: &[&OsStr],
    ) -> Result<String, EnvironmentError> {
        let mut arguments = arguments.to_vec();
        arguments.push("--no-config".as_ref());
        Installer {
            oz0: self.oz0(),
            program: &self.uv(python)?,
            arguments,
            folder,
            environment: vec![
                // It works with the machine's Python, and downloads none.
                ("UV_PYTHON_DOWNLOADS", "never".into()),
                ("UV_NO_CONFIG", "1".into()),
                ("UV_CACHE_DIR", self.downloads("uv").into()),
            ],
            operation: operation.to_owned(),
        }
        .run()
    }

    /// The environment of a plugin whose `mcp:` servers declare Python dependencies. `None` where
    /// it declares none.
    pub(crate) fn python_project(
        &self,
        dependencies: &Dependencies,
    ) -> Result<Option<PathBuf>, PrepareError> {
        Ok(match &dependencies.python {
            None => None,
            Some(PythonDependencies::Requirements(found)) => {
                Some(self.install_requirements(found, "the plugin's requirements.txt")?)
            }
            Some(PythonDependencies::UvLock(lock)) => {
                let found = self.export(lock, false)?;
                Some(self.install_requirements(&found, "the plugin's uv.lock")?)
            }
        })
    }

    /// What a lock of uv holds, as hashed requirements, those for development included with `dev`. The project is not
    /// installed, so none of its code runs to build it. Kept in the cache, as an environment is.
    pub(crate) fn export(&self, lock: &UvLock, dev: bool) -> Result<Requirements, PrepareError> {
        const EXPORTED: &str = "requirements.txt";
        let what = "the plugin's uv.lock";
        let python = self.python(&format!("reading {what}"))?;
        let (lock_text, project) = (lock.lock_text(), lock.project_text());
        let state = interpreter::stamp(&python).unwrap_or_default();
        let dev_key = if dev { "dev" } else { "" };
        let key = cache::key([&*lock_text, &project, dev_key, &python.to_string_lossy(), &state]);
        let folder = self.environments().folder(
            &format!("export-{key}"),
            || self.say(&format!("waiting for another oz0 that reads {what}")),
            |folder| {
                write(&folder.join("uv.lock"), &lock_text)?;
                write(&folder.join("pyproject.toml"), &project)?;
                let mut arguments: Vec<&OsStr> = [
                    "export",
                    "--quiet",
                    "--frozen",
                    "--no-emit-workspace",
                    "--no-header",
                    "--no-annotate",
                    "--python",
                ]
                .map(AsRef::as_ref)
                .to_vec();
                arguments.push(python.as_os_str());
                if !dev {
                    arguments.push("--no-dev".as_ref());
                }
                let exported = self
                    .run_uv(&python, &format!("read {what}"), folder, &arguments)
                    // Nothing but the two files takes part in it.
                    .map_err(|error| match error {
                        EnvironmentError::Installer { operation, output, .. } => {
                            DependencyProblem::error(
                                Span::start_of(lock.source()),
                                format!("could not {operation}"),
                                format!("lock anew with: uv lock; what uv said:\n{output}"),
                            )
                            .into()
                        }
                        error => PrepareError::from(error),
                    })?;
                write(&folder.join(EXPORTED), &exported)?;
                Ok::<(), PrepareError>(())
            },
        )?;
        let source = SourceFile::new("uv.lock", read(&folder.join(EXPORTED))?);
        Requirements::read(&source).map_err(|problem| {
            // A line of the export is none that its author ever saw.
            let span = Span::start_of(lock.source());
            DependencyProblem { span, ..problem }.into()
        })
    }

    /// The environment of requirements.
    pub(crate) fn install_requirements(
        &self,
        requirements: &Requirements,
        what: &str,
    ) -> Result<PathBuf, PrepareError> {
        let python = self.python(&format!("installing {what}"))?;
        let state = interpreter::stamp(&python).unwrap_or_default();
        let text = requirements.text();
        let name = format!(
            "python-{}",
            cache::key(["bytecode", &text, &python.to_string_lossy(), &state, &platform()])
        );
        self.environments().folder(
            &name,
            || self.say(&format!("waiting for another oz0 that installs {what}")),
            |folder| {
                self.fill(folder, &python, &text, what).map_err(|error| {
                    error.or_problem(|said| {
                        let names = |name: &str| {
                            said.split(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)))
                                .any(|word| word == name)
                        };
                        requirements.iter().find(|found| names(found.name())).map_or_else(
                            || Span::start_of(requirements.source()),
                            |found| found.span().clone(),
                        )
                    })
                })
            },
        )
    }

    fn fill(
        &self,
        folder: &Path,
        python: &Path,
        requirements: &str,
        what: &str,
    ) -> Result<(), EnvironmentError> {
        self.say(&format!("installing {what}"));
        let path = folder.join("requirements.txt");
        write(&path, requirements)?;
        self.run_uv(
            python,
            "make a virtual environment",
            folder,
            &[
                "venv".as_ref(),
                "--quiet".as_ref(),
                "--relocatable".as_ref(),
                "--no-project".as_ref(),
                "--allow-existing".as_ref(),
                "--python".as_ref(),
                python.as_os_str(),
                folder.as_os_str(),
            ],
        )?;
        let inside = folder.join("bin/python");
        self.run_uv(
            python,
            &format!("install {what}"),
            folder,
            &[
                "pip".as_ref(),
                "install".as_ref(),
                "--quiet".as_ref(),
                "--require-hashes".as_ref(),
                "--only-binary".as_ref(),
                ":all:".as_ref(),
                "--no-deps".as_ref(),
                // Compiling would start the environment's own Python here, outside the sandbox, and a
                // `.pth` file or a `sitecustomize` of a package would run in it.
                "--no-compile-bytecode".as_ref(),
                "--link-mode".as_ref(),
                "copy".as_ref(),
                "--python".as_ref(),
                inside.as_os_str(),
                "-r".as_ref(),
                path.as_os_str(),
            ],
        )?;
        self.compile(python, folder)
    }

    /// Writes the bytecode of an environment, which is read-only where servers run: a start without it takes seconds.
    /// The machine's own Python parses the files as text. It is isolated and without `site`, so it reads nothing else of
    /// the environment: no `.pth` file, no `sitecustomize`, no module.
    fn compile(&self, python: &Path, folder: &Path) -> Result<(), EnvironmentError> {
        let packages = folder.join("lib");
        let mut arguments: Vec<&OsStr> =
            ["-I", "-S", "-m", "compileall", "-q", "-q", "-j", "0"].map(AsRef::as_ref).to_vec();
        arguments.push(packages.as_os_str());
        let compiled = Installer {
            oz0: self.oz0(),
            program: python,
            arguments,
            folder,
            environment: Vec::new(),
            operation: "write bytecode".to_owned(),
        }
        .run();
        match compiled {
            // Some packages bring files that this Python cannot read, and never imports.
            Ok(_) | Err(EnvironmentError::Installer { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The closure of one package of `PyPI`, as hashed requirements, with no code of a package run.
    pub(crate) fn lock_pypi(&self, name: &str, version: &str) -> Result<String, EnvironmentError> {
        let what = format!("{name}=={version}");
        self.say(&format!("locking {what}"));
        let compiled = self.compile_requirements(&format!("lock {what}"), &what, true)?;
        Ok(format!("# pypi:{what}, locked by oz0 plugin test; --relock locks it anew\n{compiled}"))
    }

    /// The closure of requirements, which are lines of PEP 508, as hashed requirements.
    pub(crate) fn lock_requirements(
        &self,
        requirements: &[String],
    ) -> Result<String, EnvironmentError> {
        let what = requirements.join(", ");
        self.say(&format!("locking {what}"));
        let input = requirements.join("\n");
        self.compile_requirements(&format!("lock {what}"), &input, true)
    }

    /// The version of a package of `PyPI` that satisfies `range`, which is one of PEP 440 or empty, and that installs here
    /// with all that it needs.
    pub(crate) fn newest_pypi(&self, name: &str, range: &str) -> Result<String, EnvironmentError> {
        let what = format!("{name}{range}");
        let operation = format!("find a version of {what}");
        self.say(&format!("asking for the version of {what}"));
        let compiled = self.compile_requirements(&operation, &what, false)?;
        let wanted = normal_name(super::without_extras(name));
        compiled
            .lines()
            .filter_map(|line| line.split([' ', ';']).next()?.split_once("=="))
            .find(|(name, _)| normal_name(super::without_extras(name)) == wanted)
            .map(|(_, version)| version.to_owned())
            .ok_or_else(|| EnvironmentError::Unexpected {
                operation,
                program: "uv",
                what: format!("{name} is not in what it found"),
            })
    }

    /// Resolves requirements without running a package's code.
    fn compile_requirements(
        &self,
        operation: &str,
        requirements: &str,
        hashes: bool,
    ) -> Result<String, EnvironmentError> {
        let python = self.python(&format!("to {operation}"))?;
        let folder = tempfile::Builder::new().prefix("oz0-lock-").tempdir().map_err(|source| {
            EnvironmentError::Cache { operation: "create", path: std::env::temp_dir(), source }
        })?;
        let input = folder.path().join("requirements.in");
        write(&input, &format!("{requirements}\n"))?;
        let mut arguments: Vec<&OsStr> = [
            "pip",
            "compile",
            "--quiet",
            "--universal",
            "--only-binary",
            ":all:",
            "--no-header",
            "--no-annotate",
            "--no-emit-index-url",
            "--no-emit-find-links",
            "--python",
        ]
        .map(AsRef::as_ref)
        .to_vec();
        arguments.extend([python.as_os_str(), input.as_os_str()]);
        if hashes {
            arguments.push("--generate-hashes".as_ref());
        }
        self.run_uv(&python, operation, folder.path(), &arguments)
    }

    /// The console script that starts a package: the one of its name, else the only one.
    pub(crate) fn console_script(
        environment: &Path,
        lock: &Arc<SourceFile>,
        name: &str,
    ) -> Result<String, PrepareError> {
        let name = super::without_extras(name);
        let scripts = console_scripts(environment, name).unwrap_or_default();
        super::choose("console script", "pypi", lock, name, scripts)
    }
}

/// The names below `[console_scripts]` in the package's `entry_points.txt`.
fn console_scripts(environment: &Path, name: &str) -> Option<Vec<String>> {
    let packages = fs::read_dir(environment.join("lib"))
        .ok()?
        .flatten()
        .map(|entry| entry.path().join("site-packages"))
        .find(|path| path.is_dir())?;
    let wanted = normal_name(name);
    let information = fs::read_dir(packages).ok()?.flatten().find(|entry| {
        let file = entry.file_name();
        file.to_str()
            .and_then(|file| file.strip_suffix(".dist-info"))
            .and_then(|file| file.rsplit_once('-'))
            .is_some_and(|(package, _)| normal_name(package) == wanted)
    })?;
    let text = fs::read_to_string(information.path().join("entry_points.txt")).ok()?;
    let scripts = text
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[console_scripts]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| Some(line.split_once('=')?.0.trim().to_owned()))
        .collect();
    Some(scripts)
}

/// The platform that an environment is for.
pub(crate) fn platform() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

pub(crate) fn read(path: &Path) -> Result<String, EnvironmentError> {
    fs::read_to_string(path).map_err(|source| EnvironmentError::Cache {
        operation: "read",
        path: path.to_owned(),
        source,
    })
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), EnvironmentError> {
    fs::write(path, text).map_err(|source| EnvironmentError::Cache {
        operation: "write",
        path: path.to_owned(),
        source,
    })
}
