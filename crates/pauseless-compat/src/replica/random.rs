//! The random numbers of that simulator: MRG32k3a, whose streams are 2^127 steps apart and whose
//! runs are 2^76 steps apart.

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;
/// Streams are two to this power steps apart.
const STREAM: usize = 127;
/// The first run is two to this power steps into a stream.
const RUN: usize = 76;

type Matrix = [[u64; 3]; 3];

/// A generator somewhere in its sequence.
#[derive(Clone, Debug)]
pub struct Stream {
    first: [u64; 3],
    second: [u64; 3],
}

/// Computes where each stream of random numbers begins.
#[derive(Clone, Debug)]
pub struct Streams {
    /// The matrices of one step to the powers 2^0, 2^1 and so on.
    pub(super) powers: Vec<(Matrix, Matrix)>,
    /// The stream that is opened next.
    next: Stream,
}

impl Streams {
    /// The first `used` streams went to others.
    pub fn new(used: u64) -> Streams {
        let first = [[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]];
        let second = [[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]];
        let mut powers = vec![(first, second)];
        for power in 0..190 {
            let (first, second) = powers[power];
            powers.push((product::<M1>(first, first), product::<M2>(second, second)));
        }
        let mut streams = Streams { powers, next: Stream { first: [1; 3], second: [1; 3] } };
        streams.next = streams.open(used);
        streams
    }

    /// The stream with this number.
    pub fn open(&self, number: u64) -> Stream {
        let mut stream = Stream { first: [1; 3], second: [1; 3] };
        for bit in (0..64).filter(|bit| number >> bit & 1 == 1) {
            stream.advance(&self.powers[STREAM + bit].0, &self.powers[STREAM + bit].1);
        }
        stream.advance(&self.powers[RUN].0, &self.powers[RUN].1);
        stream
    }

    /// Somebody takes a stream and draws nothing that matters.
    pub fn skip(&mut self) {
        self.next.advance(&self.powers[STREAM].0, &self.powers[STREAM].1);
    }

    /// A number from 0 to 1: each draw opens a stream of its own.
    pub fn draw(&mut self) -> f64 {
        let number = self.next.clone().draw();
        self.skip();
        number
    }
}

impl Stream {
    /// The next number from 0 to 1.
    pub fn draw(&mut self) -> f64 {
        let [a, b, c] = self.first;
        let first = (1_403_580 * b + (M1 - 810_728) * (a % M1) % M1) % M1;
        self.first = [b, c, first];
        let [a, b, c] = self.second;
        let second = (527_612 * c + (M2 - 1_370_589) * (a % M2) % M2) % M2;
        self.second = [b, c, second];
        let difference = if first > second { first - second } else { first + M1 - second };
        difference as f64 * (1.0 / (M1 as f64 + 1.0))
    }

    /// Goes on by as many steps as the matrices stand for.
    fn advance(&mut self, first: &Matrix, second: &Matrix) {
        self.first = times::<M1>(first, self.first);
        self.second = times::<M2>(second, self.second);
    }
}

/// All numbers are below the modulus, so that products of two have 64 bits.
fn times<const MODULUS: u64>(matrix: &Matrix, vector: [u64; 3]) -> [u64; 3] {
    matrix.map(|row| (0..3).map(|k| row[k] * vector[k] % MODULUS).sum::<u64>() % MODULUS)
}

fn product<const MODULUS: u64>(a: Matrix, b: Matrix) -> Matrix {
    let columns = [0, 1, 2].map(|column| times::<MODULUS>(&a, b.map(|row| row[column])));
    [0, 1, 2].map(|row| columns.map(|column| column[row]))
}
