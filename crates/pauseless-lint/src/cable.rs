//! A cable of which both ends were read.

use crate::switch::{Port, Switch};

/// One end of a cable.
#[derive(Clone, Copy, Debug)]
pub struct End<'d> {
    /// The switch that it is plugged into.
    pub switch: &'d Switch<'d>,
    /// The port that it is plugged into.
    pub port: &'d Port<'d>,
}

impl End<'_> {
    /// Switch and port, such as `leaf0:Ethernet4`.
    pub fn name(&self) -> String {
        format!("{}:{}", self.switch.name, self.port.name)
    }
}

/// A cable between two switches.
#[derive(Clone, Copy, Debug)]
pub struct Cable<'d> {
    /// The end at the switch that was read first.
    pub a: End<'d>,
    /// The end at the other switch.
    pub b: End<'d>,
}

impl<'d> Cable<'d> {
    /// The cable from either end: first as it is, then turned round.
    pub fn both(self) -> [Cable<'d>; 2] {
        [self, Cable { a: self.b, b: self.a }]
    }
}
