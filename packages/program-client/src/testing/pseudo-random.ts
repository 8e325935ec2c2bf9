/** Numbers from 0 to 2^32 - 1 that look random and are the same in every run. */
export function* pseudoRandom(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    // The low bits of such a generator repeat early; the high ones are mixed in.
    yield (state ^ (state >>> 15)) >>> 0;
  }
}
