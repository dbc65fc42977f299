//! The packages that no plugin may bring in (OZ-S012), by their names: what a lock is held to wherever one is made or installed
//! from. The linter's rule knows them by more than their names.

/// On the Python Package Index, normalised.
pub const PYPI: [&str; 5] =
    ["litellm", "litellm-core", "litellm-proxy", "litellm-proxy-extras", "litellm-enterprise"];

/// On npm's registry.
pub const NPM: [&str; 1] = ["litellm"];
