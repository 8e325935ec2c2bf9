//! Anchor's discriminators, computed while compiling from the names themselves.

const ROUND: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
];

/// `sha256(prefix ++ name)[..8]` as a little-endian number. One block: prefix and name have at most 55 bytes.
pub const fn discriminator(prefix: &str, name: &str) -> u64 {
    let (prefix, name) = (prefix.as_bytes(), name.as_bytes());
    let length = prefix.len() + name.len();
    assert!(length < 56, "the name does not fit one sha256 block");

    let mut block = [0u8; 64];
    let mut i = 0;
    while i < length {
        block[i] = if i < prefix.len() { prefix[i] } else { name[i - prefix.len()] };
        i += 1;
    }
    block[length] = 0x80;
    let bits = ((length as u64) << 3).to_be_bytes();
    i = 0;
    while i < 8 {
        block[56 + i] = bits[i];
        i += 1;
    }

    let mut w = [0u32; 64];
    i = 0;
    while i < 16 {
        let at = i << 2;
        w[i] = u32::from_be_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
        i += 1;
    }
    while i < 64 {
        let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
        let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1);
        i += 1;
    }

    let mut h: [u32; 8] =
        [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
    let start = h;
    i = 0;
    while i < 64 {
        let s1 = h[4].rotate_right(6) ^ h[4].rotate_right(11) ^ h[4].rotate_right(25);
        let ch = (h[4] & h[5]) ^ (!h[4] & h[6]);
        let t1 = h[7].wrapping_add(s1).wrapping_add(ch).wrapping_add(ROUND[i]).wrapping_add(w[i]);
        let s0 = h[0].rotate_right(2) ^ h[0].rotate_right(13) ^ h[0].rotate_right(22);
        let maj = (h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]);
        let t2 = s0.wrapping_add(maj);
        h = [t1.wrapping_add(t2), h[0], h[1], h[2], h[3].wrapping_add(t1), h[4], h[5], h[6]];
        i += 1;
    }
    let first = h[0].wrapping_add(start[0]).to_be_bytes();
    let second = h[1].wrapping_add(start[1]).to_be_bytes();
    u64::from_le_bytes([first[0], first[1], first[2], first[3], second[0], second[1], second[2], second[3]])
}

#[cfg(test)]
mod tests {
    use super::discriminator;

    #[test]
    fn gives_the_bytes_that_anchor_gives() {
        // sha256("global:initialize")[..8], known from every Anchor program.
        assert_eq!(discriminator("global:", "initialize").to_le_bytes(), [175, 175, 109, 31, 13, 152, 155, 237]);
        // sha256("account:Vault")[..8]
        assert_eq!(discriminator("account:", "Vault").to_le_bytes(), [211, 8, 232, 43, 2, 152, 117, 119]);
    }
}
