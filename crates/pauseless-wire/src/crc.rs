//! The cyclic redundancy checks of RoCE and InfiniBand.

/// The CRC-32 of Ethernet, least significant bit first, as RoCE's ICRC has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crc32(u32);

impl Default for Crc32 {
    fn default() -> Crc32 {
        Crc32(u32::MAX)
    }
}

impl Crc32 {
    /// Adds more bytes, sixteen at a time.
    #[must_use]
    pub fn update(self, bytes: &[u8]) -> Crc32 {
        let mut state = self.0;
        let (blocks, rest) = bytes.as_chunks::<16>();
        for block in blocks {
            let mut block = *block;
            for (octet, mixed) in block.iter_mut().zip(state.to_le_bytes()) {
                *octet ^= mixed;
            }
            state = 0;
            for (octet, table) in block.into_iter().zip(TABLES.iter().rev()) {
                state ^= table[usize::from(octet)];
            }
        }
        for octet in rest {
            let index = (state as u8) ^ octet;
            state = TABLES[0][usize::from(index)] ^ (state >> 8);
        }
        Crc32(state)
    }

    /// The CRC of all bytes so far.
    pub fn finish(self) -> u32 {
        !self.0
    }
}

/// `TABLES[n][octet]` is the effect of an octet on the state when `n` octets follow it.
static TABLES: [[u32; 256]; 16] = tables();

const fn tables() -> [[u32; 256]; 16] {
    let mut tables = [[0; 256]; 16];
    let mut octet = 0;
    while octet < 256 {
        let mut value = octet as u32;
        let mut bit = 0;
        while bit < 8 {
            // The polynomial 0x04c11db7 with its bits reversed.
            value = (value >> 1) ^ if value & 1 != 0 { 0xedb8_8320 } else { 0 };
            bit += 1;
        }
        tables[0][octet] = value;
        octet += 1;
    }
    let mut order = 1;
    while order < 16 {
        let mut octet = 0;
        while octet < 256 {
            let before = tables[order - 1][octet];
            tables[order][octet] = tables[0][(before & 0xff) as usize] ^ (before >> 8);
            octet += 1;
        }
        order += 1;
    }
    tables
}

/// The CRC-16 of InfiniBand's link packets: generator x^16 + x^12 + x^3 + x + 1, least significant bit
/// first, started with ones and inverted at the end, as the VCRC is.
//= iba 7.8 lpcrc
pub fn crc16(bytes: &[u8]) -> u16 {
    let mut state = u16::MAX;
    for octet in bytes {
        state ^= u16::from(*octet);
        for _ in 0..8 {
            // The polynomial 0x100b with its bits reversed.
            state = (state >> 1) ^ if state & 1 != 0 { 0xd008 } else { 0 };
        }
    }
    !state
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-32 that every catalogue has.
    #[test]
    fn crc32_of_the_nine_digits() {
        let crc = Crc32::default().update(b"123456789");
        assert_eq!(crc.finish(), 0xcbf4_3926);
        let long = [0x5a; 100];
        let whole = Crc32::default().update(&long);
        for cut in 0..long.len() {
            let parts = Crc32::default().update(&long[..cut]).update(&long[cut..]);
            assert_eq!(parts, whole, "{cut}");
        }
        assert_eq!(whole.finish(), 0x9748_744c);
    }

    /// Long division, bit by bit, as the definition has it.
    //= iba 7.8 lpcrc type=test
    #[test]
    fn crc16_is_the_remainder_of_the_division() {
        for bytes in [[0u8; 4], [0x12, 0x34, 0x56, 0x78], [0xff; 4]] {
            let mut remainder = 0xffffu32;
            for bit in 0..32 {
                let next = (bytes[bit / 8] >> (bit % 8)) & 1;
                let top = (remainder >> 15) & 1;
                remainder = (remainder << 1) & 0xffff;
                if top ^ u32::from(next) != 0 {
                    remainder ^= 0x100b;
                }
            }
            let expected = !(remainder as u16).reverse_bits();
            assert_eq!(crc16(&bytes), expected);
        }
    }
}
