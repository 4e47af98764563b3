//! Where metrics are asked for: HTTP on the loopback interface, apart from the node's own thread.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pauseless_dataplane::report::NodeReport;

/// Answers `GET /metrics`. The node hands over reports and never waits for a reader.
#[derive(Debug)]
pub struct Endpoint {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    reports: Mutex<Arc<Vec<NodeReport>>>,
    readers: AtomicUsize,
    is_closed: AtomicBool,
}

impl Endpoint {
    /// Opens it; the port 0 is whichever is free. Other addresses than those of this machine alone are
    /// refused: whoever can reach the page can read the names of all flows.
    pub fn open(address: SocketAddr) -> io::Result<Endpoint> {
        if !address.ip().is_loopback() {
            let message = format!(
                "{} can be reached from outside; metrics are given on loopback only, such as \
                 127.0.0.1:{}",
                address.ip(),
                address.port()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        thread::Builder::new()
            .name("metrics".to_string())
            .spawn(move || listen(&listener, &theirs))?;
        Ok(Endpoint { address, shared })
    }

    /// The address at which the endpoint listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What readers get from now on.
    pub fn publish(&self, reports: Vec<NodeReport>) {
        let reports = Arc::new(reports);
        // Readers hold the lock for the copy of a pointer.
        let place = self.shared.reports.lock();
        *place.unwrap_or_else(PoisonError::into_inner) = reports;
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.shared.is_closed.store(true, Ordering::Relaxed);
        // The thread waits for somebody to come.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(100));
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_closed.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else {
            // Out of descriptors, most likely: they come back when readers go.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        if shared.readers.fetch_add(1, Ordering::Relaxed) >= READERS_MAX {
            shared.readers.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let theirs = Arc::clone(shared);
        let reader = thread::Builder::new().spawn(move || {
            // A reader that has gone away or says nothing is not our trouble.
            let _ = answer(stream, &theirs);
            theirs.readers.fetch_sub(1, Ordering::Relaxed);
        });
        if reader.is_err() {
            shared.readers.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Reads one request and answers it.
fn answer(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = read_request(&mut stream)?;
    let mut words = request.lines().next().unwrap_or_default().split(' ');
    let (method, target) = (words.next(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();
    let (status, kind, body) = match (method, path) {
        (Some("GET" | "HEAD"), "/metrics") => {
            let reports = shared.reports.lock();
            let reports = Arc::clone(&reports.unwrap_or_else(PoisonError::into_inner));
            ("200 OK", super::CONTENT_TYPE, super::page(&reports))
        }
        _ => {
            ("404 Not Found", "text/plain; charset=utf-8", "metrics are at /metrics\n".to_string())
        }
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if method != Some("HEAD") {
        stream.write_all(body.as_bytes())?;
    }
    Ok(())
}

/// The head of a request, within [`PATIENCE`] however slowly it comes.
fn read_request(stream: &mut TcpStream) -> io::Result<String> {
    let end = Instant::now() + PATIENCE;
    let mut head = Vec::new();
    let mut part = [0; 1_024];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || head.len() > HEAD_MAX {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part)? {
            0 => break,
            n => head.extend_from_slice(&part[..n]),
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// A reader on this machine that needs longer has gone.
const PATIENCE: Duration = Duration::from_secs(2);
/// More at a time are turned away.
const READERS_MAX: usize = 8;
/// Longer requests are none for metrics.
const HEAD_MAX: usize = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::tests;

    fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("somebody listens");
        stream.write_all(request.as_bytes()).expect("it is read");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    #[test]
    fn it_answers_for_metrics_and_nothing_else_while_slow_readers_hang_on() {
        let free = "127.0.0.1:0".parse().expect("an address");
        let endpoint = Endpoint::open(free).expect("a free port");
        endpoint.publish(vec![tests::report()]);
        let address = endpoint.address();
        // They say nothing, or never end.
        let mut hanging = Vec::from_iter((0..4).map(|_| TcpStream::connect(address).expect("it")));
        hanging[0].write_all(b"GET /metrics").expect("it is read");
        let begin = Instant::now();
        let answer = ask(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(begin.elapsed() < PATIENCE, "others are not waited for");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a body");
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains("text/plain; version=0.0.4"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}", body.len())));
        assert_eq!(body, crate::node::metrics::page(&[tests::report()]));
        for other in ["GET / HTTP/1.1\r\n\r\n", "POST /metrics HTTP/1.1\r\n\r\n", "\r\n\r\n"] {
            let answer = ask(address, other);
            assert!(answer.starts_with("HTTP/1.1 404 "), "{other:?}: {answer}");
        }
    }

    #[test]
    fn it_is_for_this_machine_alone() {
        let outside = "0.0.0.0:9464".parse().expect("an address");
        let refused = Endpoint::open(outside).expect_err("it is reachable from outside");
        let message = refused.to_string();
        assert!(message.contains("loopback only, such as 127.0.0.1:9464"));
    }
}
