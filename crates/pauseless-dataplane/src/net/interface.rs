//! Interfaces of the namespace that the calling thread is in.

use std::ffi::{c_int, c_ulong};
use std::fs;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, OwnedFd};

use super::{ethtool, named, socket};

/// Whether there is an interface of this name.
pub fn interface_exists(name: &str) -> bool {
    control().is_ok_and(|control| index(&control, name).is_ok())
}

/// Takes an interface up or down.
pub fn set_up(name: &str, is_up: bool) -> io::Result<()> {
    let verb = if is_up { "up" } else { "down" };
    set_flag(name, libc::IFF_UP, is_up).map_err(|error| named(error, format!("take {name} {verb}")))
}

/// Lets an interface take frames for all addresses, or for its own.
pub fn set_promiscuous(name: &str, is_promiscuous: bool) -> io::Result<()> {
    set_flag(name, libc::IFF_PROMISC, is_promiscuous)
        .map_err(|error| named(error, format!("make {name} promiscuous")))
}

/// Sets the MTU of an interface.
pub fn set_mtu(name: &str, mtu: u32) -> io::Result<()> {
    let mut request = request_for(name)?;
    request.ifr_ifru.ifru_mtu = mtu as c_int;
    ask(&control()?, libc::SIOCSIFMTU, &mut request)
        .map_err(|error| named(error, format!("set the MTU of {name} to {mtu}")))
}

/// The address of an interface.
pub fn address(name: &str) -> io::Result<[u8; 6]> {
    let mut request = request_for(name)?;
    ask(&control()?, libc::SIOCGIFHWADDR, &mut request)
        .map_err(|error| named(error, format!("read the address of {name}")))?;
    // SAFETY: the kernel has filled in the address, and any bits are a valid array of bytes.
    let address = unsafe { request.ifr_ifru.ifru_hwaddr };
    let [a, b, c, d, e, f, ..] = address.sa_data;
    Ok([a, b, c, d, e, f].map(|octet| octet as u8))
}

/// Sets the address of an interface.
pub fn set_address(name: &str, address: [u8; 6]) -> io::Result<()> {
    let mut request = request_for(name)?;
    let mut data = [0; 14];
    data[..6].copy_from_slice(&address.map(|octet| octet as _));
    request.ifr_ifru.ifru_hwaddr = libc::sockaddr { sa_family: libc::ARPHRD_ETHER, sa_data: data };
    ask(&control()?, libc::SIOCSIFHWADDR, &mut request)
        .map_err(|error| named(error, format!("set the address of {name}")))
}

/// The kind of device behind an interface.
pub fn kind(name: &str) -> io::Result<ethtool::Kind> {
    let control = control()?;
    index(&control, name).map_err(|error| named(error, format!("find the interface {name}")))?;
    Ok(ethtool::kind(&control, name))
}

/// The number of active receive queues: frames may arrive in any of them.
pub fn queues(name: &str) -> io::Result<u32> {
    let control = control()?;
    index(&control, name).map_err(|error| named(error, format!("find the interface {name}")))?;
    Ok(ethtool::queues(&control, name))
}

/// Keeps IPv6 from sending frames of its own. Where the kernel has no IPv6, or does not allow this,
/// nothing is done: nodes drop and count unknown frames.
pub(super) fn quiet(name: &str) {
    let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
}

/// A socket for requests about interfaces.
pub(super) fn control() -> io::Result<OwnedFd> {
    socket::open(libc::AF_UNIX, libc::SOCK_DGRAM, 0)
}

/// The number of an interface in the namespace of `socket`.
pub(crate) fn index(socket: &OwnedFd, name: &str) -> io::Result<c_int> {
    let mut request = request_for(name)?;
    ask(socket, libc::SIOCGIFINDEX, &mut request).map_err(|error| match error.raw_os_error() {
        Some(libc::ENODEV) => io::Error::new(io::ErrorKind::NotFound, "no such interface"),
        _ => error,
    })?;
    // SAFETY: the kernel has filled in the number.
    Ok(unsafe { request.ifr_ifru.ifru_ifindex })
}

/// The flags of an interface in the namespace of `socket`.
pub(crate) fn flags(socket: &OwnedFd, name: &str) -> io::Result<c_int> {
    let mut request = request_for(name)?;
    ask(socket, libc::SIOCGIFFLAGS, &mut request)?;
    // SAFETY: the kernel has filled in the flags.
    Ok(c_int::from(unsafe { request.ifr_ifru.ifru_flags }))
}

/// Makes the interface with this number promiscuous as long as `socket`, a packet socket, is open.
pub(crate) fn promiscuous(socket: &OwnedFd, index: c_int) -> io::Result<()> {
    let membership = libc::packet_mreq {
        mr_ifindex: index,
        mr_type: libc::PACKET_MR_PROMISC as _,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    socket::set(socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, membership)
}

fn set_flag(name: &str, flag: c_int, is_set: bool) -> io::Result<()> {
    let control = control()?;
    let before = flags(&control, name)?;
    let after = if is_set { before | flag } else { before & !flag };
    let mut request = request_for(name)?;
    request.ifr_ifru.ifru_flags = after as i16;
    ask(&control, libc::SIOCSIFFLAGS, &mut request)
}

/// An empty request about an interface.
pub(super) fn request_for(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: a structure of integers, arrays and null pointers may be all zero.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    if name.is_empty() || name.len() >= request.ifr_name.len() {
        let problem = format!("`{name}` is no name of an interface: 1 to 15 characters");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as _;
    }
    Ok(request)
}

/// Sends a request about an interface.
pub(super) fn ask(socket: &OwnedFd, code: c_ulong, request: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: all codes used here take a pointer to an `ifreq`; what it points to is alive.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), code as _, &raw mut *request) };
    socket::check(status).map(drop)
}
