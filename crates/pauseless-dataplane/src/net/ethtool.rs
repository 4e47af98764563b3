//! The requests that `ethtool` makes of an interface.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;

use super::interface::{ask, control, flags, request_for};
use super::named;

/// The kind of device behind an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One end of a veth pair inside this machine.
    Veth,
    /// Any other device, with the name of its driver where that is known.
    Other(Option<String>),
}

/// Turns off all offloads, so that frames pass as they are: behind a switch in user space nobody
/// would compute checksums or split segments.
pub fn offloads_off(name: &str) -> io::Result<()> {
    let control = control()?;
    for code in [STXCSUM, SRXCSUM, STSO, SGSO, SGRO] {
        let mut off = Value { code, value: 0 };
        match command(&control, name, &mut off) {
            // An offload that the interface does not support is off.
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {}
            done => done.map_err(|error| named(error, format!("turn offloads of {name} off")))?,
        }
    }
    Ok(())
}

pub(super) fn kind(control: &OwnedFd, name: &str) -> Kind {
    let mut info = DriverInfo { code: GDRVINFO, driver: [0; 32], rest: [0; 160] };
    if command(control, name, &mut info).is_err() {
        return Kind::Other(None);
    }
    let driver = CStr::from_bytes_until_nul(&info.driver).ok();
    match driver.map(|driver| driver.to_string_lossy().into_owned()) {
        Some(driver) if driver == "veth" => Kind::Veth,
        driver => Kind::Other(driver),
    }
}

/// The number of active receive queues; one if the interface does not know.
pub(super) fn queues(control: &OwnedFd, name: &str) -> u32 {
    let mut channels = Channels { code: GCHANNELS, ..Channels::default() };
    match command(control, name, &mut channels) {
        Ok(()) => (channels.receive + channels.combined).max(1),
        Err(_) => 1,
    }
}

/// Whether an interface is connected. Its flags say so too, but later.
pub(crate) fn has_carrier(control: &OwnedFd, name: &str) -> bool {
    let mut carrier = Value { code: GLINK, value: 0 };
    match command(control, name, &mut carrier) {
        Ok(()) => carrier.value != 0,
        Err(_) => flags(control, name).is_ok_and(|flags| flags & libc::IFF_RUNNING != 0),
    }
}

/// Runs an ethtool command; `T` is the structure that its first field, the code, asks for.
fn command<T>(control: &OwnedFd, name: &str, command: &mut T) -> io::Result<()> {
    let mut request = request_for(name)?;
    request.ifr_ifru.ifru_data = (&raw mut *command).cast();
    ask(control, libc::SIOCETHTOOL, &mut request)
}

#[repr(C)]
struct Value {
    code: u32,
    value: u32,
}

#[repr(C)]
struct DriverInfo {
    code: u32,
    driver: [u8; 32],
    rest: [u8; 160],
}

#[repr(C)]
#[derive(Default)]
struct Channels {
    code: u32,
    receive_max: u32,
    send_max: u32,
    other_max: u32,
    combined_max: u32,
    receive: u32,
    send: u32,
    other: u32,
    combined: u32,
}

// linux/ethtool.h
const GDRVINFO: u32 = 0x03;
const GLINK: u32 = 0x0a;
const SRXCSUM: u32 = 0x15;
const STXCSUM: u32 = 0x17;
const STSO: u32 = 0x1f;
const SGSO: u32 = 0x24;
const SGRO: u32 = 0x2c;
const GCHANNELS: u32 = 0x3c;
