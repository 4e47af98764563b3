//! Which buffers can never move again where a packet may go on by any of several ports.
//!
//! A switch that chooses the port anew whenever it looks at the head of an input queue lets a packet
//! go on as soon as one of its ports has room. So a buffer is stuck only if all that it waits for is
//! stuck: what is left over when everything that can drain has been taken away, a knot.
//! [`crate::deadlock`] is about packets that are committed to one egress.
//!
//! **Not modelled**: how many bytes have to leave before a buffer has room. One packet that leaves is
//! taken to be enough, as it is where buffers and flow control count packets.

use alloc::vec;
use alloc::vec::Vec;

/// What has to happen before a buffer has room again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits<'w> {
    /// Nothing: it has room, or what fills it drains without anybody's help.
    ForNothing,
    /// One of these buffers, by number, has to have room: those to which the ports of the packet at
    /// its head lead. If there are none it is stuck.
    ForAnyOf(&'w [u32]),
}

/// Marks the buffers that never have room again, whatever becomes of all others.
pub fn stuck(buffers: &[Waits<'_>]) -> Vec<bool> {
    // Those that wait for each buffer, as lists one after the other.
    let mut starts = vec![0usize; buffers.len() + 1];
    for waits in buffers {
        if let Waits::ForAnyOf(awaited) = waits {
            for buffer in *awaited {
                starts[*buffer as usize + 1] += 1;
            }
        }
    }
    for at in 0..buffers.len() {
        starts[at + 1] += starts[at];
    }
    let mut fill = starts.clone();
    let mut waiting = vec![0; starts[buffers.len()]];
    let mut is_stuck = vec![true; buffers.len()];
    let mut moving = Vec::new();
    for (number, waits) in buffers.iter().enumerate() {
        match waits {
            Waits::ForNothing => {
                is_stuck[number] = false;
                moving.push(number);
            }
            Waits::ForAnyOf(awaited) => {
                for buffer in *awaited {
                    waiting[fill[*buffer as usize]] = number;
                    fill[*buffer as usize] += 1;
                }
            }
        }
    }
    while let Some(number) = moving.pop() {
        for &other in &waiting[starts[number]..starts[number + 1]] {
            if is_stuck[other] {
                is_stuck[other] = false;
                moving.push(other);
            }
        }
    }
    is_stuck
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_of_single_ports_is_stuck_and_one_way_out_of_it_dissolves_all() {
        let ring = [[1], [2], [0]];
        let mut waits = Vec::from_iter(ring.iter().map(|next| Waits::ForAnyOf(next)));
        assert_eq!(stuck(&waits), [true; 3]);
        // A fourth buffer has room, and one head may go there as well.
        waits.push(Waits::ForNothing);
        assert_eq!(stuck(&waits), [true, true, true, false]);
        waits[1] = Waits::ForAnyOf(&[2, 3]);
        assert_eq!(stuck(&waits), [false; 4]);
    }

    #[test]
    fn who_waits_for_a_knot_alone_is_stuck_with_it() {
        let waits = [
            Waits::ForAnyOf(&[1]),
            Waits::ForAnyOf(&[0]),
            Waits::ForAnyOf(&[0, 1]),
            Waits::ForAnyOf(&[0, 4]),
            Waits::ForNothing,
            Waits::ForAnyOf(&[]),
        ];
        assert_eq!(stuck(&waits), [true, true, true, false, false, true]);
    }
}
