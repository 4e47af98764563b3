//! The random numbers of that simulator: MRG32k3a, whose streams are 2^127 steps apart and whose
//! runs are 2^76 steps apart.

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;

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
    next: u64,
}

impl Streams {
    /// The first `used` streams went to others.
    pub fn new(used: u64) -> Streams {
        let first = [[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]];
        let second = [[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]];
        let mut powers = vec![(first, second)];
        for power in 0..190 {
            let (first, second) = powers[power];
            powers.push((product(first, first, M1), product(second, second, M2)));
        }
        Streams { powers, next: used }
    }

    /// The stream with this number.
    pub fn open(&self, number: u64) -> Stream {
        let mut stream = Stream { first: [1; 3], second: [1; 3] };
        self.advance(&mut stream, number, 127);
        self.advance(&mut stream, 1, 76);
        stream
    }

    /// Somebody takes a stream and draws nothing that matters.
    pub fn skip(&mut self) {
        self.next += 1;
    }

    /// A number from 0 to 1: each draw opens a stream of its own.
    pub fn draw(&mut self) -> f64 {
        self.next += 1;
        self.open(self.next - 1).draw()
    }

    fn advance(&self, stream: &mut Stream, count: u64, power: usize) {
        for bit in (0..64).filter(|bit| count >> bit & 1 == 1) {
            let (first, second) = &self.powers[power + bit];
            stream.first = times(first, stream.first, M1);
            stream.second = times(second, stream.second, M2);
        }
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
}

fn times(matrix: &Matrix, vector: [u64; 3], modulus: u64) -> [u64; 3] {
    matrix.map(|row| {
        let sum = (0..3).map(|k| u128::from(row[k]) * u128::from(vector[k]));
        (sum.sum::<u128>() % u128::from(modulus)) as u64
    })
}

fn product(a: Matrix, b: Matrix, modulus: u64) -> Matrix {
    let columns = [0, 1, 2].map(|column| times(&a, b.map(|row| row[column]), modulus));
    [0, 1, 2].map(|row| columns.map(|column| column[row]))
}
