//! Where an edge keeps what it keeps, and what is done with that while no edge of this folder runs, or beside one.

use std::path::Path;

use oz0_edge::{Backup, BundlesAt, Edge, Migration, Options, StoreAt};

use crate::error::LocalError;
use crate::folder::DataFolder;

/// Where an edge's store and bundles are; in its data folder where nobody says otherwise.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// The store.
    pub store: StoreAt,
    /// The bundles.
    pub bundles: BundlesAt,
}

impl Kept {
    pub(crate) fn options(&self, folder: &DataFolder) -> Options {
        Options {
            store: self.store.clone(),
            bundles: self.bundles.clone(),
            key: folder.key().cloned(),
            ..Options::new(folder.root())
        }
    }

    /// Brings the store's schema to what this oz0 reads.
    ///
    /// # Errors
    ///
    /// [`LocalError::Store`], also where an edge runs on the folder.
    pub async fn migrate(&self, folder: &DataFolder) -> Result<Migration, LocalError> {
        folder.make()?;
        Ok(Edge::migrate(&self.options(folder)).await?)
    }

    /// Writes the store and its bundles into a new file, also while an edge runs on them.
    ///
    /// # Errors
    ///
    /// [`LocalError::Store`] where there is no store, or the file is there.
    pub async fn back_up(&self, folder: &DataFolder, file: &Path) -> Result<Backup, LocalError> {
        Ok(Edge::back_up(&self.options(folder), file).await?)
    }

    /// Brings a backup into a store that is not there yet, and writes an admin token into the folder.
    ///
    /// # Errors
    ///
    /// [`LocalError::Store`] where the backup is not whole, or something is where it goes.
    pub async fn restore(&self, folder: &DataFolder, file: &Path) -> Result<Backup, LocalError> {
        folder.make()?;
        Ok(Edge::restore(&self.options(folder), file).await?)
    }
}
