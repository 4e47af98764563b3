//! Where metrics are asked for: HTTP on the loopback interface, apart from the node's own thread.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    /// Those who are being answered, the oldest first.
    readers: Mutex<VecDeque<Arc<TcpStream>>>,
    is_closed: AtomicBool,
}

impl Endpoint {
    /// Opens it; the port 0 is whichever is free. Other addresses than those of this machine alone are
    /// refused: whoever can reach the page can read the names of all flows.
    pub fn open(address: SocketAddr) -> io::Result<Endpoint> {
        Endpoint::check(address)?;
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        thread::Builder::new()
            .name("metrics".to_string())
            .spawn(move || listen(&listener, &theirs))?;
        Ok(Endpoint { address, shared })
    }

    /// Whether it may be opened at this address, as far as can be said without opening it.
    pub fn check(address: SocketAddr) -> io::Result<()> {
        if address.ip().is_loopback() {
            return Ok(());
        }
        let message = format!(
            "{} can be reached from outside; metrics are given on loopback only, such as \
             127.0.0.1:{}",
            address.ip(),
            address.port()
        );
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
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
        let stream = Arc::new(stream);
        shared.admit(&stream);
        let (theirs, reader) = (Arc::clone(shared), Arc::clone(&stream));
        let started = thread::Builder::new().spawn(move || {
            // A reader that has gone away or says nothing is not our trouble.
            let _ = answer(&reader, &theirs);
            theirs.forget(&reader);
        });
        if started.is_err() {
            shared.forget(&stream);
        }
    }
}

impl Shared {
    /// Makes room for a reader. If there are too many, the one that takes longest has to go, which is
    /// none that asks and reads at once.
    fn admit(&self, stream: &Arc<TcpStream>) {
        let mut readers = self.readers();
        if readers.len() >= READERS_MAX {
            let slowest = readers.pop_front();
            // If it has gone by itself, so much the better.
            let _ = slowest.map(|stream| stream.shutdown(Shutdown::Both));
        }
        readers.push_back(Arc::clone(stream));
    }

    fn forget(&self, stream: &Arc<TcpStream>) {
        self.readers().retain(|other| !Arc::ptr_eq(other, stream));
    }

    fn readers(&self) -> MutexGuard<'_, VecDeque<Arc<TcpStream>>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads one request and answers it.
fn answer(mut stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = read_request(stream)?;
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
fn read_request(mut stream: &TcpStream) -> io::Result<String> {
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
/// Of more at a time, the oldest are turned away.
const READERS_MAX: usize = 32;
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
    fn however_many_are_slow_nobody_who_asks_is_turned_away() {
        let free = "127.0.0.1:0".parse().expect("an address");
        let endpoint = Endpoint::open(free).expect("a free port");
        endpoint.publish(vec![tests::report()]);
        let address = endpoint.address();
        let mut slow = Vec::new();
        let mut hang = |count: usize| {
            for _ in 0..count {
                let mut stream = TcpStream::connect(address).expect("somebody listens");
                stream.write_all(b"GET /metr").expect("it is read");
                slow.push(stream);
            }
        };
        hang(40);
        for _ in 0..20 {
            let begin = Instant::now();
            let answer = ask(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
            assert!(begin.elapsed() < PATIENCE, "others are not waited for");
            hang(10);
        }
        assert!(endpoint.shared.readers().len() <= READERS_MAX);
    }

    #[test]
    fn it_is_for_this_machine_alone() {
        let outside = "0.0.0.0:9464".parse().expect("an address");
        let refused = Endpoint::open(outside).expect_err("it is reachable from outside");
        let message = refused.to_string();
        assert!(message.contains("loopback only, such as 127.0.0.1:9464"));
    }
}
