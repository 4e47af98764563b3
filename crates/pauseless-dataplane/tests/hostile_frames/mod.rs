//! Frames that mean harm: every valid kind, mutated, cut, prolonged; noise; and floods of PAUSE.

use pauseless_core::flow_control::cbfc::Counters;
use pauseless_core::flow_control::{Control, Signal};
use pauseless_core::id::{Class, FlowId};
use pauseless_core::unit::Bytes;
use pauseless_sim::rng::{Purpose, Stream};
use pauseless_wire::cnp::Cnp;
use pauseless_wire::control::Header;
use pauseless_wire::ip::Ecn;
use pauseless_wire::roce::Data;
use pauseless_wire::{Envelope, MacAddress};

/// The longest frame, without FCS, on a link with an MTU of 9,000.
const LONGEST: usize = 9_014;

/// Makes frames, always the same for the same seed.
pub struct Generator {
    random: Stream,
    frame: [u8; LONGEST],
    made: u64,
}

impl Generator {
    pub fn new(seed: u64) -> Generator {
        Generator { random: Stream::new(seed, Purpose::Phase, 0), frame: [0; LONGEST], made: 0 }
    }

    /// How many were made.
    pub fn made(&self) -> u64 {
        self.made
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    /// Makes the next frame of the sequence.
    pub fn next(&mut self) -> &[u8] {
        self.made += 1;
        let mut length = match self.below(8) {
            0 => self.noise(),
            1 | 2 => self.storm(),
            kind => self.mutant(kind),
        };
        let is_tagged = matches!(self.frame[12..14], [0x81, 0x00] | [0x88, 0xa8]);
        if is_tagged && (14..20).contains(&length) {
            // The kernel drops what is this short behind a tag before anybody sees it.
            length = 20;
        }
        &self.frame[..length]
    }

    /// Random bytes, some of them with a type that promises something.
    fn noise(&mut self) -> usize {
        let length = match self.below(4) {
            0 => self.below(LONGEST + 1),
            1 => self.below(64),
            _ => self.below(1_520),
        };
        for chunk in self.frame[..length].chunks_mut(8) {
            let random = self.random.next_u64().to_le_bytes();
            chunk.copy_from_slice(&random[..chunk.len()]);
        }
        let types = [0x8808u16, 0x88b5, 0x88b6, 0x0800, 0x8100, 0x86dd, 0x88a8];
        let ether_type = types[self.below(types.len())].to_be_bytes();
        if length >= 14 && self.below(2) == 0 {
            self.frame[12..14].copy_from_slice(&ether_type);
        }
        length
    }

    /// A PAUSE, or another message of flow control, for any class.
    fn storm(&mut self) -> usize {
        let class = Class(self.below(8) as u8);
        let random = self.random.next_u64();
        let signal = match self.below(6) {
            0..3 => Signal::Pause { quanta: random as u16 },
            3 => Signal::Stage(random as u16 % 40),
            4 => Signal::Credit { fctbs: random as u32, fccl: (random >> 32) as u32 },
            _ => Signal::Free(Bytes::new(random)),
        };
        let counters = [Counters::Iba, Counters::Wide][self.below(2)];
        let envelope = [Envelope::MacControl, Envelope::Private][self.below(2)];
        let source = MacAddress([2; 6]);
        let header = Header { envelope, source };
        let signal = match (counters, signal) {
            (Counters::Iba, Signal::Credit { fctbs, fccl }) => {
                Signal::Credit { fctbs: fctbs & 0xfff, fccl: fccl & 0xfff }
            }
            (_, other) => other,
        };
        let control = Control { class, signal };
        let written = header.emit(&mut self.frame, control, counters);
        written.expect("it has a frame")
    }

    /// A valid frame, mostly no longer so.
    fn mutant(&mut self, kind: usize) -> usize {
        let mut length = match kind {
            3 => self.storm(),
            4 => self.cnp(),
            _ => self.data(),
        };
        for _ in 0..self.below(4) {
            let place = self.below(length.min(70));
            self.frame[place] = self.random.next_u64() as u8;
        }
        match self.below(8) {
            0 => length = self.below(length + 1),
            1 => length = LONGEST.min(length + self.below(2_000)),
            2 => {
                self.frame.copy_within(12..length, 16);
                self.frame[12..14].copy_from_slice(&[0x81, 0x00]);
                length += 4;
            }
            _ => {}
        }
        length
    }

    fn data(&mut self) -> usize {
        let data = Data {
            source: MacAddress([2; 6]),
            // To the good target, back to where it comes from, or nowhere.
            target: MacAddress::of_flow(FlowId(1 + self.below(3) as u32)),
            class: Class(self.below(8) as u8),
            flow: FlowId(1),
            run: 0,
            number: self.made,
            stamp_ns: self.random.next_u64(),
            ecn: Ecn::Capable0,
        };
        let length = 82 + self.below(1_500);
        data.emit(&mut self.frame[..length]);
        length
    }

    fn cnp(&mut self) -> usize {
        let cnp = Cnp {
            source: MacAddress([2; 6]),
            target: MacAddress::of_answers(FlowId(0)),
            class: Class(0),
            flow: FlowId(0),
            rate_mbps: Some(self.random.next_u64() as u32 | 1),
            is_congested: true,
        };
        let frame = self.frame.first_chunk_mut().expect("it is long enough");
        cnp.emit(frame);
        Cnp::LEN
    }
}
