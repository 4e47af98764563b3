//! What only rtnetlink can do: make a veth pair, and remove it.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::socket;

/// A request for a veth pair with one end here and the other in the namespace of `descriptor`.
pub fn veth_message(here: &str, there: &str, descriptor: RawFd) -> Vec<u8> {
    let mut message = Message::new(libc::RTM_NEWLINK, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
    message.link(here);
    let information = message.open(libc::IFLA_LINKINFO);
    message.put(libc::IFLA_INFO_KIND, b"veth");
    let data = message.open(libc::IFLA_INFO_DATA);
    let peer = message.open(VETH_INFO_PEER);
    message.interface();
    message.link(there);
    message.put(libc::IFLA_NET_NS_FD, &descriptor.to_ne_bytes());
    for nest in [peer, data, information] {
        message.close(nest);
    }
    message.finish()
}

/// A request to remove an interface.
pub fn removal_message(name: &str) -> Vec<u8> {
    let mut message = Message::new(libc::RTM_DELLINK, 0);
    message.put(libc::IFLA_IFNAME, format!("{name}\0").as_bytes());
    message.finish()
}

/// Sends a request in the namespace of the calling thread and waits for the answer.
pub fn ask(message: &[u8]) -> io::Result<()> {
    let socket = socket::open(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
    let descriptor = socket.as_raw_fd();
    // SAFETY: the kernel reads the bytes of `message`, which outlives the call.
    let sent = unsafe { libc::send(descriptor, message.as_ptr().cast(), message.len(), 0) };
    socket::check(sent as _)?;
    let mut answer = [0; 4_096];
    // SAFETY: the kernel writes at most as many bytes as `answer` has.
    let got = unsafe { libc::recv(descriptor, answer.as_mut_ptr().cast(), answer.len(), 0) };
    socket::check(got as _)?;
    match answer[HEADER..].first_chunk() {
        _ if (got as usize) < HEADER + 4 => Err(io::ErrorKind::UnexpectedEof.into()),
        // An acknowledgement is an error message with the number zero.
        Some(&code) if i32::from_ne_bytes(code) != 0 => {
            Err(io::Error::from_raw_os_error(-i32::from_ne_bytes(code)))
        }
        _ => Ok(()),
    }
}

/// A message that is being written.
struct Message {
    bytes: Vec<u8>,
}

impl Message {
    fn new(kind: u16, flags: c_int) -> Message {
        let flags = flags | libc::NLM_F_REQUEST | libc::NLM_F_ACK;
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(flags as u16).to_ne_bytes());
        let mut message = Message { bytes };
        message.interface();
        message
    }

    /// Adds an `ifinfomsg` without any settings.
    fn interface(&mut self) {
        self.bytes.extend([0; 16]);
    }

    /// Adds the name, MTU and queues of one end.
    fn link(&mut self, name: &str) {
        self.put(libc::IFLA_IFNAME, format!("{name}\0").as_bytes());
        self.put(libc::IFLA_MTU, &1_500_u32.to_ne_bytes());
        self.put(libc::IFLA_NUM_TX_QUEUES, &1_u32.to_ne_bytes());
        self.put(libc::IFLA_NUM_RX_QUEUES, &1_u32.to_ne_bytes());
    }

    fn put(&mut self, kind: u16, value: &[u8]) {
        let start = self.open(kind);
        self.bytes.extend(value);
        self.close(start);
    }

    /// Begins an attribute and returns its offset.
    fn open(&mut self, kind: u16) -> usize {
        let start = self.bytes.len();
        self.bytes.extend([0, 0]);
        self.bytes.extend(kind.to_ne_bytes());
        start
    }

    fn close(&mut self, start: usize) {
        let length = (self.bytes.len() - start) as u16;
        self.bytes[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn finish(mut self) -> Vec<u8> {
        let length = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes
    }
}

/// The length of an `nlmsghdr`, in bytes.
const HEADER: usize = 16;

// linux/veth.h
const VETH_INFO_PEER: u16 = 1;
