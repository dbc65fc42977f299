//! The packages that the rule forbids, as data.

use oz0_deps::{Ecosystem, Package, Wanted};

/// A package that no plugin may depend on.
pub(super) struct Forbidden {
    /// Where its name means something.
    pub(super) ecosystem: Ecosystem,
    /// Its name, normalised.
    pub(super) name: &'static str,
    /// What it is a part of, as people call it.
    pub(super) family: &'static str,
    /// The modules that it brings.
    modules: &'static [&'static str],
    /// Its repositories, as `host/owner/name`.
    repositories: &'static [&'static str],
    /// Its images, as `owner/name`, whatever the registry; a name's beginning.
    pub(super) images: &'static [&'static str],
    /// What stands in its folder.
    contents: &'static [&'static str],
    /// Files of the releases that did harm.
    startup_files: &'static [&'static str],
    /// The releases that did harm.
    pub(super) compromised: &'static str,
    /// What to do instead.
    pub(super) instead: &'static str,
}

/// What was in the packages whose releases were compromised in March 2026, and is known from their wheels.
const CONTENTS: &[&str] = &[
    "main.py",
    "router.py",
    "utils.py",
    "cost_calculator.py",
    "_logging.py",
    "proxy",
    "llms",
    "model_prices_and_context_window_backup.json",
];

const INSTEAD: &str = "take it out, and the package that brings it in; call the model with the provider's own SDK, or an \
                       OpenAI-compatible client pointed at the gateway's base URL, and lock again";

const fn pypi(
    name: &'static str,
    modules: &'static [&'static str],
    repositories: &'static [&'static str],
) -> Forbidden {
    Forbidden {
        ecosystem: Ecosystem::PyPi,
        name,
        family: "LiteLLM",
        modules,
        repositories,
        images: &[],
        contents: CONTENTS,
        startup_files: &[],
        compromised: "",
        instead: INSTEAD,
    }
}

/// The packages of `LiteLLM`: those that its releases ask for or bring, one that installs its module (litellm-core), and the npm
/// package of its name. Forks under other names show by the module that is imported.
pub(super) const FORBIDDEN: &[Forbidden] = &[
    Forbidden {
        images: &["berriai/litellm", "litellm/litellm"],
        startup_files: &["litellm_init.pth"],
        compromised: "1.82.7 and 1.82.8",
        ..pypi("litellm", &["litellm", "litellm_cli"], &["github.com/berriai/litellm"])
    },
    pypi("litellm-core", &["litellm"], &[]),
    pypi("litellm-proxy", &["litellm"], &[]),
    pypi("litellm-proxy-extras", &["litellm_proxy_extras"], &[]),
    pypi("litellm-enterprise", &["litellm_enterprise"], &[]),
    Forbidden {
        ecosystem: Ecosystem::Npm,
        contents: &[],
        ..pypi("litellm", &["litellm"], &["github.com/zya/litellmjs"])
    },
];

/// The table as `oz0-deps` looks for it.
pub(super) fn wanted() -> Wanted {
    let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect();
    let package = |forbidden: &Forbidden| Package {
        ecosystem: forbidden.ecosystem,
        name: forbidden.name.to_owned(),
        modules: owned(forbidden.modules),
        repositories: owned(forbidden.repositories),
        contents: owned(forbidden.contents),
        startup_files: owned(forbidden.startup_files),
    };
    Wanted::new(FORBIDDEN.iter().map(package).collect())
}

/// The table's row of a package that was found.
pub(super) fn row(ecosystem: Ecosystem, name: &str) -> &'static Forbidden {
    let is = |row: &&Forbidden| row.ecosystem == ecosystem && row.name == name;
    FORBIDDEN.iter().find(is).unwrap_or(&FORBIDDEN[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_held_to_the_same_names() {
        let names = |ecosystem| {
            let of = FORBIDDEN.iter().filter(move |row| row.ecosystem == ecosystem);
            of.map(|row| row.name).collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(names(Ecosystem::PyPi), oz0_policy::forbidden::PYPI.into());
        assert_eq!(names(Ecosystem::Npm), oz0_policy::forbidden::NPM.into());
    }
}
