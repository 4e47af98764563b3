//! A wire in memory, for tests and for runs without the kernel.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use super::{Link, Losses, Received};

type Line = Arc<Mutex<VecDeque<Vec<u8>>>>;

/// One end of a wire in memory.
#[derive(Debug)]
pub struct MemoryLink {
    incoming: Line,
    outgoing: Line,
    /// The most frames on the wire in each direction.
    depth: usize,
    waiting: VecDeque<Vec<u8>>,
}

/// Both ends of a wire that holds at most `depth` frames in each direction.
pub fn pair(depth: usize) -> (MemoryLink, MemoryLink) {
    let (there, back) = (Line::default(), Line::default());
    let end = |incoming: &Line, outgoing: &Line| MemoryLink {
        incoming: incoming.clone(),
        outgoing: outgoing.clone(),
        depth,
        waiting: VecDeque::new(),
    };
    (end(&there, &back), end(&back, &there))
}

impl Link for MemoryLink {
    fn receive(&mut self, most: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize> {
        for count in 0..most {
            let frame =
                self.incoming.lock().expect("nothing panics while it holds the lock").pop_front();
            let Some(frame) = frame else {
                return Ok(count);
            };
            take(Received { bytes: &frame, length: frame.len(), stamp: None });
        }
        Ok(most)
    }

    fn send(&mut self, frame: &[u8]) -> bool {
        if self.waiting.len() >= self.depth {
            return false;
        }
        self.waiting.push_back(frame.to_vec());
        true
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut outgoing = self.outgoing.lock().expect("nothing panics while it holds the lock");
        let fits = self.depth.saturating_sub(outgoing.len()).min(self.waiting.len());
        outgoing.extend(self.waiting.drain(..fits));
        Ok(())
    }

    fn backlog(&self) -> usize {
        self.waiting.len()
    }

    fn losses(&mut self) -> Losses {
        Losses::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(link: &mut MemoryLink) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        let take = &mut |frame: Received<'_>| frames.push(frame.bytes.to_vec());
        link.receive(10, take).expect("a link in memory does not fail");
        frames
    }

    #[test]
    fn frames_cross_in_order_and_a_full_wire_makes_the_rest_wait() {
        let (mut a, mut b) = pair(2);
        assert!(a.send(&[1]) && a.send(&[2]) && !a.send(&[3]));
        assert!(received(&mut b).is_empty(), "nothing was flushed");
        a.flush().expect("a link in memory does not fail");
        assert!(a.send(&[3]));
        a.flush().expect("a link in memory does not fail");
        assert_eq!(a.backlog(), 1);
        assert_eq!(received(&mut b), [[1], [2]]);
        a.flush().expect("a link in memory does not fail");
        assert_eq!((received(&mut b), a.backlog()), (vec![vec![3]], 0));
        assert!(received(&mut a).is_empty());
    }
}
