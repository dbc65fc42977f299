//! A plugin's folder and manifest: types, loader, source digest.
