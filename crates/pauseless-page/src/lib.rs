#![doc = include_str!("../README.md")]

/// All that is put into a page.
#[derive(Clone, Copy, Debug)]
pub struct Bundle {
    /// The script, to be put at the end of a page.
    pub script: &'static str,
    /// The style sheet that the script needs.
    pub style: &'static str,
    /// The licences of the libraries in it, which have to go with them.
    pub licences: &'static str,
}

/// The bundle, if there was an npm to make it.
pub const BUNDLE: Option<Bundle> = include!(concat!(env!("OUT_DIR"), "/bundle.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundle_can_stand_in_a_page_and_names_its_makers() {
        let Some(bundle) = BUNDLE else {
            // Without npm there is nothing to look at; `cargo xtask ci` insists on it.
            return;
        };
        for text in [bundle.script, bundle.style] {
            let lower = text.to_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("</style"));
            assert!(!lower.contains("<!--") && !lower.contains("@import"));
        }
        // Two libraries, and what one of them contains.
        let holders = [
            "Leon Sorokin",
            "Cytoscape Consortium",
            "OpenJS Foundation",
            "Jeremy Ashkenas",
            "Xueqiao Xu",
        ];
        for holder in holders {
            assert!(bundle.licences.contains(holder), "{holder}");
        }
        let grants = bundle.licences.matches("Permission is hereby granted");
        assert_eq!(grants.count(), 4, "each with its terms");
    }
}
