//! AF_XDP: the quickest way to a real interface, with no library beside us.
//!
//! An interface is tried in three ways, the best first: zero-copy, where its hardware writes to our
//! memory; copies made by its driver; copies made behind it. The reasons of refusals are kept.
//!
//! Where copies are made, a driver that drops a frame instead of asking to try again loses it: veth does
//! when 256 frames wait at the far end. The loss is counted. A packet socket would keep the frame.

mod attached;
mod background;
mod program;
mod ring;

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::outage::Outage;
use super::{Link, Losses, Received};
use crate::net::{self, Namespace, socket};
use attached::{Attached, BIND_TRIES, WakeUp};
use background::Background;

/// How frames are exchanged with an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The hardware writes to our memory and reads from it.
    ZeroCopy,
    /// The driver copies between its memory and ours.
    Copy,
    /// The kernel copies behind the driver, which every driver allows.
    Skb,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::ZeroCopy => "zero-copy",
            Mode::Copy => "copy mode",
            Mode::Skb => "skb mode",
        })
    }
}

/// The options of an AF_XDP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The only mode to use; `None` tries all, the best first.
    pub mode: Option<Mode>,
    /// The most frames between the kernel and us, rounded up to a power of two.
    pub ring: usize,
    /// The longest frame that is expected, without FCS.
    pub largest: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { mode: None, ring: 2_048, largest: 1_792 }
    }
}

/// A link over an AF_XDP socket.
///
/// The kernel takes tens of milliseconds to close such a socket and to open one. After a failure of the
/// interface another thread does both, so that the other ports of a node do not wait.
#[derive(Debug)]
pub struct XdpLink {
    options: Options,
    mode: Mode,
    refusals: Vec<String>,
    /// The bound socket; `None` while the interface is gone.
    attached: Option<Attached>,
    /// The thread that closes the old socket, or opens a new one.
    background: Option<Background<io::Result<Found>>>,
    /// When to try again after a refusal, and how long to wait after the next one.
    retry: (Instant, Duration),
    index: i32,
    site: Arc<Site>,
    /// The losses of closed sockets, and of frames that were dropped.
    losses: Losses,
    outage: Outage,
}

/// The result of a background task: `None` if it has closed the old socket, else the number of the
/// interface and a new one.
type Found = Option<(i32, Attached)>;

/// The interface and its namespace.
#[derive(Debug)]
struct Site {
    interface: String,
    place: Namespace,
    /// A socket that keeps the interface promiscuous, and by which its state is read.
    watch: OwnedFd,
}

impl XdpLink {
    /// Opens `interface` of the namespace that the calling thread is in. The link stays in that
    /// namespace whoever uses it.
    pub fn open(interface: &str, options: Options) -> io::Result<XdpLink> {
        let what = |error| net::named(error, format!("open {interface} with AF_XDP"));
        let watch = socket::open(libc::AF_PACKET, libc::SOCK_RAW, 0).map_err(what)?;
        let index = net::index(&watch, interface).map_err(what)?;
        one_queue(interface).map_err(what)?;
        net::promiscuous(&watch, index).map_err(what)?;
        let (attached, mode, refusals) = attach(index, options, BIND_TRIES).map_err(what)?;
        Ok(XdpLink {
            options,
            mode,
            refusals,
            attached: Some(attached),
            background: None,
            retry: (Instant::now(), RETRY_FIRST),
            index,
            site: Arc::new(Site {
                interface: interface.to_owned(),
                place: Namespace::here().map_err(what)?,
                watch,
            }),
            losses: Losses::default(),
            outage: Outage::new(interface),
        })
    }

    /// The mode that was found to work.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Why better modes were refused.
    pub fn refusals(&self) -> &[String] {
        &self.refusals
    }

    /// Handles a failure of the interface: the queued frames are lost. The socket is closed, since
    /// the frames in its rings cannot be called back.
    fn fail(&mut self, error: io::Error) -> io::Error {
        if let Some(mut attached) = self.attached.take() {
            for Losses { receive, send } in [attached.losses(), attached.pending()] {
                self.losses.receive += receive;
                self.losses.send += send;
            }
            self.retry = (Instant::now(), RETRY_FIRST);
            self.background = Background::start(move || {
                drop(attached);
                Ok(None)
            })
            .ok();
        }
        self.outage.begin(error)
    }

    /// Checks the interface when there is nothing else to do.
    fn look(&mut self) -> io::Result<()> {
        let Some(attached) = &self.attached else {
            self.reattach();
            return Ok(());
        };
        // Reading the error clears it; otherwise a poll of the descriptor would return at once.
        match socket::pending_error(&attached.socket) {
            Some(error) => Err(self.fail(error)),
            None if !self.outage.seems_running(&self.site.watch, self.index) => {
                Err(self.fail(io::ErrorKind::NetworkDown.into()))
            }
            None => Ok(()),
        }
    }

    /// Opens the interface again if it is back, or was made anew under the same name.
    fn reattach(&mut self) {
        if self.background.as_ref().is_some_and(|background| !background.is_done()) {
            return;
        }
        match self.background.take().and_then(Background::result) {
            Some(Ok(Some((index, attached)))) => {
                self.index = index;
                self.attached = Some(attached);
                return self.outage.end();
            }
            Some(Err(_)) => self.back_off(),
            _ => {}
        }
        if Instant::now() < self.retry.0 {
            return;
        }
        let Some(index) = self.outage.index(&self.site.watch) else {
            return;
        };
        if !self.outage.is_up(&self.site.watch) {
            return;
        }
        let options = Options { mode: Some(self.mode), ..self.options };
        let (site, is_new) = (self.site.clone(), index != self.index);
        let work = move || {
            let attached = site.open(index, options, is_new)?;
            Ok(Some((index, attached)))
        };
        self.background = Background::start(work).ok();
        if self.background.is_none() {
            self.back_off();
        }
    }

    fn back_off(&mut self) {
        let (_, wait) = self.retry;
        self.retry = (Instant::now() + wait, (wait * 2).min(RETRY_LAST));
    }
}

impl Site {
    /// Opens the interface, which has this number now, once more.
    fn open(&self, index: i32, options: Options, is_new: bool) -> io::Result<Attached> {
        if !net::has_carrier(&self.watch, &self.interface) {
            return Err(io::ErrorKind::NetworkDown.into());
        }
        let (attached, ..) = self.place.enter(|| attach(index, options, 1))??;
        // The count of an old interface only grows.
        if is_new {
            net::promiscuous(&self.watch, index)?;
        }
        Ok(attached)
    }
}

impl Link for XdpLink {
    fn receive(&mut self, most: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize> {
        let attached = self.attached.as_mut();
        let count = attached.map_or(0, |attached| attached.receive(most, take));
        if count == 0 {
            if self.outage.is_due() {
                self.look()?;
            }
            self.outage.result()?;
        }
        Ok(count)
    }

    fn send(&mut self, frame: &[u8]) -> bool {
        match &mut self.attached {
            Some(attached) if frame.len() <= attached.largest() => attached.push(frame),
            _ => {
                self.losses.send += 1;
                true
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        while let Some(attached) = &mut self.attached {
            match attached.kick() {
                WakeUp::All | WakeUp::Later => return Ok(()),
                WakeUp::Dropped => {
                    self.losses.send += 1;
                    // The kernel returns this for a full queue, and for an unplugged cable.
                    if !self.outage.is_running(&self.site.watch, self.index) {
                        return Err(self.fail(io::ErrorKind::NetworkDown.into()));
                    }
                }
                WakeUp::Down(error) => return Err(self.fail(error)),
            }
        }
        self.outage.result()
    }

    fn backlog(&self) -> usize {
        self.attached.as_ref().map_or(0, Attached::backlog)
    }

    fn losses(&mut self) -> Losses {
        let now = self.attached.as_ref().map(Attached::losses);
        let Losses { receive, send } = now.unwrap_or_default();
        Losses { receive: self.losses.receive + receive, send: self.losses.send + send }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        let attached = self.attached.as_ref();
        attached.map(|attached| attached.socket.as_fd())
    }
}

/// Tries the allowed modes; returns the one that works and why the others do not.
fn attach(index: i32, options: Options, tries: u32) -> io::Result<(Attached, Mode, Vec<String>)> {
    let mut refusals = Vec::new();
    let mut kind = io::ErrorKind::Other;
    for mode in [Mode::ZeroCopy, Mode::Copy, Mode::Skb] {
        if options.mode.is_some_and(|only| only != mode) {
            continue;
        }
        match Attached::open(index, mode, options, tries) {
            Ok(attached) => return Ok((attached, mode, refusals)),
            Err(error) => {
                kind = error.kind();
                refusals.push(format!("{mode}: {error}"));
            }
        }
    }
    Err(io::Error::new(kind, refusals.join("; ")))
}

/// Refuses an interface with several queues: the socket is bound to the first one and sees nothing
/// of the others.
fn one_queue(interface: &str) -> io::Result<()> {
    let queues = net::queues(interface)?;
    if queues == 1 {
        return Ok(());
    }
    let fix = format!("try `ethtool -L {interface} combined 1` or `rx 1`");
    let problem = format!("it has {queues} receive queues and AF_XDP would see only one; {fix}");
    Err(io::Error::new(io::ErrorKind::Unsupported, problem))
}

/// The time to the first retry after a refusal; it doubles with each further one.
const RETRY_FIRST: Duration = Duration::from_millis(16);
const RETRY_LAST: Duration = Duration::from_millis(1_024);
