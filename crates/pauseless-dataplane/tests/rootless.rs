//! A user without rights gets a network of veth pairs and packet sockets.
//!
//! Not a test of the usual kind: only a process with a single thread may make a user namespace.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use pauseless_dataplane::link::{self, Backend, Link};
use pauseless_dataplane::net::{self, Namespace, Privilege, Unprivileged};

fn main() {
    if std::env::args().any(|argument| argument == CHILD) {
        return as_nobody();
    }
    let mut child = Command::new("/proc/self/exe");
    child.arg(CHILD).uid(NOBODY).gid(NOBODY);
    match child.status() {
        Ok(status) => assert!(status.success(), "the rootless run failed: {status}"),
        // Only root may become somebody else; then we are without rights already.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => as_nobody(),
        Err(error) => panic!("cannot start it: {error}"),
    }
}

fn as_nobody() {
    let home = Namespace::here().expect("everybody is somewhere");
    let inside = home.enter(|| 5).expect("no right is needed to stay");
    assert_eq!(inside, 5);
    match net::become_root() {
        Ok(privilege) => assert_eq!(privilege, Privilege::UserNamespace),
        Err(problem @ (Unprivileged::Forbidden(_) | Unprivileged::Powerless(_))) => {
            eprintln!("not tested here: {problem}");
            return;
        }
        Err(problem) => panic!("{problem}"),
    }
    assert_eq!(net::become_root().expect("rights"), Privilege::Given);
    let back = home.enter(|| ()).expect_err("root in here is nobody there");
    assert_eq!(back.kind(), io::ErrorKind::PermissionDenied);
    let places = [(); 2].map(|()| Namespace::new().expect("a namespace"));
    net::veth(places[0].end("left"), places[1].end("right")).expect("a veth pair");
    let open = |place: &Namespace, name| {
        let opened = place.enter(|| link::open(name, Backend::Auto));
        opened.and_then(|opened| opened).expect("a link").link
    };
    let (mut left, mut right) = (open(&places[0], "left"), open(&places[1], "right"));
    cross(&mut *left, &mut *right);
    let refused = places[0].enter(|| link::open("left", Backend::Xdp));
    let refused = refused.expect("the namespace is there").map(|_| ());
    let message = refused.expect_err("AF_XDP needs real rights").to_string();
    assert!(message.contains("left"), "{message}");
    println!("rootless: 1000 frames crossed; {message}");
}

fn cross(left: &mut dyn Link, right: &mut dyn Link) {
    let mut numbers = Vec::new();
    for number in 0..1_000_u16 {
        let mut frame = [0x02; 60];
        frame[14..16].copy_from_slice(&number.to_be_bytes());
        assert!(left.send(&frame));
        left.flush().expect("the interface works");
        let take = &mut |frame: link::Received<'_>| {
            numbers.push(u16::from_be_bytes([frame.bytes[14], frame.bytes[15]]));
        };
        right.receive(8, take).expect("the interface works");
    }
    assert!(numbers.into_iter().eq(0..1_000), "all in order");
}

const CHILD: &str = "--as-nobody";
const NOBODY: u32 = 65_534;
