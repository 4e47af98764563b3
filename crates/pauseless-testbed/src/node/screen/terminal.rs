//! The terminal itself: borrowed while nodes are shown, and given back as it was.

use std::io::{self, Write};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Size;

/// Whether the terminal shows our page.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// A page of its own on the terminal, without a cursor. What was there comes back when it is dropped.
#[derive(Debug)]
pub struct Screen(());

impl Screen {
    /// Takes the terminal of stdout.
    pub fn enter() -> io::Result<Screen> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                // Otherwise the message would go away with the page.
                restore();
                before(panic);
            }));
        });
        IS_SHOWN.store(true, Ordering::SeqCst);
        write("\x1b[?1049h\x1b[?25l\x1b[2J")?;
        Ok(Screen(()))
    }

    /// Shows `text` instead of what was there.
    pub fn show(&mut self, text: &str) -> io::Result<()> {
        // Lines are overwritten and then cleared to their end, so that nothing flickers.
        let text = text.trim_end_matches('\n').replace('\n', "\x1b[K\r\n");
        write(&format!("\x1b[H{text}\x1b[K\x1b[J"))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back if it is ours. For those who end the process without dropping anything.
pub fn restore() {
    if IS_SHOWN.swap(false, Ordering::SeqCst) {
        // If the terminal is gone there is nothing to give back.
        let _ = write("\x1b[?25h\x1b[?1049l");
    }
}

/// The size of the terminal of stdout; [`Size::LEAST`] where it does not say.
pub fn size() -> Size {
    let found = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let found = found.filter(|size| size.ws_col > 0 && size.ws_row > 0);
    found.map_or(Size::LEAST, |size| Size { columns: size.ws_col.into(), rows: size.ws_row.into() })
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
