//! Figures as PNG files.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// Dots per inch of a picture that is to be printed.
pub const PRINT_DPI: f32 = 300.0;

/// The picture of an SVG document as a PNG file. Words are in the font that comes with us, so that
/// the picture is the same on every machine.
pub fn png(svg: &str, dots_per_inch: f32) -> Result<Vec<u8>, String> {
    let options = Options { fontdb: Arc::clone(&FONTS), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    // An SVG has 96 units to the inch.
    let scale = dots_per_inch / 96.0;
    let pixels = |length: f32| (length * scale).ceil() as u32;
    let (width, height) = (pixels(tree.size().width()), pixels(tree.size().height()));
    let mut picture = Pixmap::new(width, height).ok_or("a picture without pixels")?;
    let transform = Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut picture.as_mut());
    picture.encode_png().map_err(|error| error.to_string())
}

/// The font that comes with us, and no other.
pub(super) static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(dejavu::sans_condensed::regular().to_vec());
    fonts.load_font_data(dejavu::sans_condensed::bold().to_vec());
    let family = fonts.faces().next().and_then(|face| face.families.first());
    let family = family.map(|(name, _)| name.clone());
    fonts.set_sans_serif_family(family.unwrap_or_default());
    Arc::new(fonts)
});
