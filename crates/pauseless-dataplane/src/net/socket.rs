//! Sockets and their options, with errors instead of -1.

use std::ffi::c_int;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Checks the result of a system call; the error is that of the last call.
pub fn check(status: c_int) -> io::Result<c_int> {
    if status < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(status)
}

/// Opens a socket that is closed in child processes.
pub fn open(domain: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    // SAFETY: no pointers.
    let descriptor = check(unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: the descriptor is new, so nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Sets an option to a plain value.
pub fn set<T: Copy>(socket: &OwnedFd, level: c_int, name: c_int, value: T) -> io::Result<()> {
    let (pointer, size) = ((&raw const value).cast(), mem::size_of::<T>());
    // SAFETY: the kernel reads `size` bytes from `value`, which outlives the call.
    let status = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, pointer, size as u32) };
    check(status).map(drop)
}

/// Reads an option. `T` must be a plain structure of integers.
pub fn get<T: Copy + Default>(socket: &OwnedFd, level: c_int, name: c_int) -> io::Result<T> {
    let mut value = T::default();
    let mut size = mem::size_of::<T>() as libc::socklen_t;
    let pointer = (&raw mut value).cast();
    // SAFETY: the kernel writes at most `size` bytes to `value`, which is made of integers.
    let status =
        unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, pointer, &raw mut size) };
    check(status).map(|_| value)
}

/// The error that is pending at a socket; reading it clears it.
pub fn pending_error(socket: &OwnedFd) -> Option<io::Error> {
    let code = get::<c_int>(socket, libc::SOL_SOCKET, libc::SO_ERROR).ok()?;
    (code != 0).then(|| io::Error::from_raw_os_error(code))
}

/// Binds to an address of a kind that the kernel knows.
pub fn bind<T: Copy>(socket: &OwnedFd, address: T) -> io::Result<()> {
    let (pointer, size) = ((&raw const address).cast(), mem::size_of::<T>());
    // SAFETY: the kernel reads `size` bytes from `address`, which outlives the call.
    let status = unsafe { libc::bind(socket.as_raw_fd(), pointer, size as u32) };
    check(status).map(drop)
}
