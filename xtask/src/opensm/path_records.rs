//! Asks the subnet manager for the service level of every path, as adapters do before they send.
//!
//! `saquery` does so for one path only when ibsim is below: the answer to a question for all paths
//! is cut after the first datagram. So this speaks ibsim's datagrams itself: a connection by a
//! control message of 80 bytes, then management datagrams of 256 bytes behind a header of 32.

use std::collections::BTreeMap;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use super::tables::Adapters;

/// The service level by source and target address.
pub type Levels = BTreeMap<(u16, u16), u8>;

/// Asks from the adapter `node` for the paths between all addresses of different adapters.
pub fn ask(socket: &str, node: &str, adapters: &Adapters) -> io::Result<Levels> {
    let id = std::process::id();
    let control = bound(&format!("{socket}:ctl{id}"))?;
    control.connect_addr(&address(&format!("{socket}:ctl"))?)?;
    control.set_read_timeout(Some(TIMEOUT))?;
    let data = bound(&format!("{socket}:in{id}"))?;
    data.set_read_timeout(Some(TIMEOUT))?;
    let client = connect(&control, id, node)?;
    data.connect_addr(&address(&format!("{socket}:out{client}"))?)?;
    let levels = ask_all(&data, adapters);
    // ibsim must not write to a socket that is gone.
    control.send(&message(DISCONNECT, client, &[]))?;
    levels
}

fn ask_all(data: &UnixDatagram, adapters: &Adapters) -> io::Result<Levels> {
    let mut levels = Levels::new();
    let mut paths = adapters.paths();
    let mut pending = BTreeMap::new();
    let (mut number, mut timeouts) = (0_u64, 0);
    loop {
        while pending.len() < WINDOW {
            let Some(path) = paths.next() else { break };
            number += 1;
            pending.insert(number, path);
            data.send(&question(adapters.manager, number, path.0, path.1))?;
        }
        if pending.is_empty() {
            return Ok(levels);
        }
        let mut answer = [0; HEADER + MAD];
        if let Err(error) = data.recv(&mut answer) {
            timeouts += 1;
            if timeouts > 5 || error.kind() != io::ErrorKind::WouldBlock {
                return Err(io::Error::other(format!("opensm does not answer: {error}")));
            }
            for (&number, &(source, target)) in &pending {
                data.send(&question(adapters.manager, number, source, target))?;
            }
            continue;
        }
        let mad = &answer[HEADER..];
        let number = u64::from(u32::from_be_bytes(mad[12..16].try_into().expect("four bytes")));
        let Some(path) = pending.remove(&number) else { continue };
        // A path that opensm does not know, such as one without a route, has no level.
        if mad[4..6] == [0, 0] {
            levels.insert(path, mad[RECORD + 53] & 15);
        }
    }
}

/// A question of an adapter: get the path record for this source and target.
fn question(manager: u16, number: u64, source: u16, target: u16) -> [u8; HEADER + MAD] {
    let mut packet = [0; HEADER + MAD];
    packet[0..2].copy_from_slice(&manager.to_be_bytes());
    // Queue pair 1 at both ends, and the length.
    packet[11] = 1;
    packet[15] = 1;
    packet[24..32].copy_from_slice(&(MAD as u64).to_be_bytes());
    let mad = &mut packet[HEADER..];
    // Version 1, class 3 (subnet administration) in version 2, get.
    mad[..4].copy_from_slice(&[1, 3, 2, 1]);
    mad[8..16].copy_from_slice(&number.to_be_bytes());
    mad[16..18].copy_from_slice(&PATH_RECORD.to_be_bytes());
    mad[48..56].copy_from_slice(&LIDS_ONLY.to_be_bytes());
    mad[RECORD + 40..RECORD + 42].copy_from_slice(&target.to_be_bytes());
    mad[RECORD + 42..RECORD + 44].copy_from_slice(&source.to_be_bytes());
    packet
}

/// Attaches to the adapter, and gives the number that ibsim has for this client.
fn connect(control: &UnixDatagram, id: u32, node: &str) -> io::Result<u32> {
    let mut about = [0; 44];
    about[..4].copy_from_slice(&id.to_ne_bytes());
    about[12..12 + node.len()].copy_from_slice(node.as_bytes());
    control.send(&message(CONNECT, 0, &about))?;
    let mut answer = [0; CONTROL];
    control.recv(&mut answer)?;
    let word = |at: usize| u32::from_ne_bytes(answer[at..at + 4].try_into().expect("four bytes"));
    if word(8) != CONNECT {
        return Err(io::Error::other(format!("ibsim refuses a client at {node}")));
    }
    Ok(word(16))
}

fn message(kind: u32, client: u32, about: &[u8]) -> [u8; CONTROL] {
    let mut message = [0; CONTROL];
    let words = [MAGIC, client, kind, about.len() as u32];
    for (at, word) in words.into_iter().enumerate() {
        message[4 * at..4 * at + 4].copy_from_slice(&word.to_ne_bytes());
    }
    message[16..16 + about.len()].copy_from_slice(about);
    message
}

fn bound(name: &str) -> io::Result<UnixDatagram> {
    UnixDatagram::bind_addr(&address(name)?)
}

/// An abstract name; ibsim counts the zero behind it as part of the name.
fn address(name: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{name}\0"))
}

const MAGIC: u32 = 0xdead_beef;
const CONNECT: u32 = 1;
const DISCONNECT: u32 = 2;
/// Bytes of a control message, of the header of a datagram, and of the datagram.
const CONTROL: usize = 80;
const HEADER: usize = 32;
const MAD: usize = 256;
/// Where the record begins in a datagram of subnet administration.
const RECORD: usize = 56;
const PATH_RECORD: u16 = 0x35;
/// The component mask of a question that names the addresses of target and source.
const LIDS_ONLY: u64 = 0x30;
/// Questions on the way at once. The queue of a socket of this kind has room for ten.
const WINDOW: usize = 8;
const TIMEOUT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_both_addresses() {
        let packet = question(0x28c, 7, 0x0102, 0x0304);
        assert_eq!(packet[..16], [2, 0x8c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(packet[24..36], [0, 0, 0, 0, 0, 0, 1, 0, 1, 3, 2, 1]);
        assert_eq!(packet[HEADER + 15..HEADER + 18], [7, 0, 0x35]);
        assert_eq!(packet[HEADER + 55], 0x30);
        assert_eq!(packet[HEADER + RECORD + 40..HEADER + RECORD + 44], [3, 4, 1, 2]);
    }
}
