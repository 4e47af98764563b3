//! The right to make namespaces and interfaces, and how to get it.

use std::error::Error;
use std::fmt;
use std::fs;
use std::io;

use super::socket;

/// Where the right to make networks comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// The process had it from the start.
    Given,
    /// The process is root in a user namespace of its own now, in which AF_XDP is not possible.
    UserNamespace,
}

/// Why this process may not make networks.
#[derive(Debug)]
pub enum Unprivileged {
    /// Other threads are running, and only a process with one thread may make a user namespace.
    Threads,
    /// The kernel does not let users make user namespaces.
    Forbidden(io::Error),
    /// There is a user namespace, but it gives no rights.
    Powerless(io::Error),
}

impl fmt::Display for Unprivileged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this needs root or the capabilities {NEEDED}; ")?;
        match self {
            Unprivileged::Threads => {
                write!(f, "a user namespace is not possible once threads run")
            }
            Unprivileged::Forbidden(error) => {
                write!(f, "a user namespace is refused ({error}): look at ")?;
                write!(f, "kernel.unprivileged_userns_clone, user.max_user_namespaces")
            }
            Unprivileged::Powerless(error) => {
                write!(f, "a user namespace has no rights ({error}): look at ")?;
                write!(f, "kernel.apparmor_restrict_unprivileged_userns")
            }
        }
    }
}

impl Error for Unprivileged {}

/// Makes sure that this process may make network namespaces, interfaces and packet sockets. A
/// process without the right moves to a user namespace of its own, where it is root; call this
/// before threads start.
pub fn become_root() -> Result<Privilege, Unprivileged> {
    if is_privileged() {
        return Ok(Privilege::Given);
    }
    // SAFETY: no pointers, cannot fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: no pointers; the kernel refuses if other threads run.
    let status = unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) };
    socket::check(status).map_err(|error| match error.raw_os_error() {
        Some(libc::EINVAL) => Unprivileged::Threads,
        _ => Unprivileged::Forbidden(error),
    })?;
    // Without this, the kernel does not let an unprivileged user map groups.
    let maps = fs::write("/proc/self/setgroups", "deny")
        .and_then(|()| fs::write("/proc/self/uid_map", format!("0 {user} 1")))
        .and_then(|()| fs::write("/proc/self/gid_map", format!("0 {group} 1")));
    maps.map_err(Unprivileged::Powerless)?;
    if !is_privileged() {
        let refused = io::Error::from_raw_os_error(libc::EPERM);
        return Err(Unprivileged::Powerless(refused));
    }
    Ok(Privilege::UserNamespace)
}

/// Whether the effective capabilities suffice.
fn is_privileged() -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else {
        return false;
    };
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    effective.is_some_and(|mask| mask & NEEDED_MASK == NEEDED_MASK)
}

const NEEDED: &str = "CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN";

// linux/capability.h
const NEEDED_MASK: u64 = 1 << 12 | 1 << 13 | 1 << 21;
