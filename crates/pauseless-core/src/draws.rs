//! The random numbers of ns-3's older simulators, for comparisons with them.
//!
//! **Models** what a program gets that makes a new uniform variable for each number, as those do: each
//! variable has a stream of its own of L'Ecuyer's MRG32k3a, and is asked once. All switches of a
//! network draw from the one sequence of first numbers of these streams.
//!
//! **Source** L'Ecuyer, "Good parameters and implementations for combined multiple recursive random
//! number generators" (1999), and the distances 2^127 between streams and 2^76 between substreams of
//! L'Ecuyer, Simard, Chen and Kelton (2002).
//!
//! **Deviates** in nothing that is known.
//!
//! **Not modelled** other seeds and runs than ns-3's first ones. The order of draws is the order of
//! events, so a run that uses this cannot be divided.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};

/// One sequence that many machines draw from, in the order in which they do.
#[derive(Clone, Debug)]
pub struct Draws {
    /// Both components of the state of the next stream. Atomic because machines may be sent to other
    /// threads, not because several draw at once.
    state: Arc<[AtomicU64; 6]>,
}

type Vector = [u64; 3];
type Matrix = [Vector; 3];

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;
const A1: Matrix = [[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]];
const A2: Matrix = [[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]];
const STREAM1: Matrix = power_of_two(A1, 127, M1);
const STREAM2: Matrix = power_of_two(A2, 127, M2);
const SUBSTREAM1: Matrix = power_of_two(A1, 76, M1);
const SUBSTREAM2: Matrix = power_of_two(A2, 76, M2);

impl Draws {
    /// The sequence from stream number `first` on, with seed 1 and run 1.
    pub fn from_stream(first: u64) -> Draws {
        let mut a = times(&SUBSTREAM1, [1; 3], M1);
        let mut b = times(&SUBSTREAM2, [1; 3], M2);
        for _ in 0..first {
            a = times(&STREAM1, a, M1);
            b = times(&STREAM2, b, M2);
        }
        let state = [a[0], a[1], a[2], b[0], b[1], b[2]];
        Draws {
            state: Arc::new(state.map(AtomicU64::new)),
        }
    }

    /// The next number, between 0 and 1.
    pub fn draw(&self) -> f64 {
        let get = |at: usize| self.state[at].load(Ordering::Relaxed);
        let (a, b) = ([get(0), get(1), get(2)], [get(3), get(4), get(5)]);
        let next_a = times(&STREAM1, a, M1);
        let next_b = times(&STREAM2, b, M2);
        for (place, value) in self.state.iter().zip(next_a.into_iter().chain(next_b)) {
            place.store(value, Ordering::Relaxed);
        }
        let first = (1_403_580 * a[1] + (M1 - 810_728) * a[0] % M1) % M1;
        let second = (527_612 * b[2] + (M2 - 1_370_589) * b[0] % M2) % M2;
        let mixed = match first > second {
            true => first - second,
            false => first + M1 - second,
        };
        mixed as f64 * (1.0 / (M1 as f64 + 1.0))
    }
}

const fn times(matrix: &Matrix, vector: Vector, modulus: u64) -> Vector {
    let mut product = [0; 3];
    let mut row = 0;
    while row < 3 {
        let mut column = 0;
        while column < 3 {
            // Each factor has 32 bits.
            let term = matrix[row][column] * vector[column] % modulus;
            product[row] = (product[row] + term) % modulus;
            column += 1;
        }
        row += 1;
    }
    product
}

/// `matrix` to the power of two to the `exponent`.
const fn power_of_two(matrix: Matrix, exponent: u32, modulus: u64) -> Matrix {
    let mut power = matrix;
    let mut step = 0;
    while step < exponent {
        let mut square = [[0; 3]; 3];
        let mut column = 0;
        while column < 3 {
            let vector = [power[0][column], power[1][column], power[2][column]];
            let image = times(&power, vector, modulus);
            square[0][column] = image[0];
            square[1][column] = image[1];
            square[2][column] = image[2];
            column += 1;
        }
        power = square;
        step += 1;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distances_between_streams_are_the_published_ones() {
        // Table of A1^(2^127) and A1^(2^76) in the paper of 2002.
        assert_eq!(STREAM1[0], [2_427_906_178, 3_580_155_704, 949_770_784]);
        assert_eq!(SUBSTREAM1[0], [82_758_667, 1_871_391_091, 4_127_413_238]);
    }

    #[test]
    fn numbers_go_on_where_another_sequence_begins() {
        let draws = Draws::from_stream(0);
        draws.draw();
        draws.draw();
        let later = Draws::from_stream(2);
        let twin = draws.clone();
        assert_eq!(twin.draw(), later.draw());
        let next = draws.draw();
        assert_eq!(next, later.draw());
        assert!((0.0..1.0).contains(&next));
    }
}
