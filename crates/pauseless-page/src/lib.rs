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

/// The bundle that `cargo xtask page --update` made from `web/`.
pub const BUNDLE: Bundle = Bundle {
    script: include_str!("../bundle/page.js"),
    style: include_str!("../bundle/page.css"),
    licences: include_str!("../bundle/licences.txt"),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundle_can_stand_in_a_page_and_names_its_makers() {
        for text in [BUNDLE.script, BUNDLE.style] {
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
            assert!(BUNDLE.licences.contains(holder), "{holder}");
        }
        let grants = BUNDLE.licences.matches("Permission is hereby granted");
        assert_eq!(grants.count(), 4, "each with its terms");
    }
}
