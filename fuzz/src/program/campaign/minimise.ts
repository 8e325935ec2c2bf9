/**
 * Shortens a sequence that goes wrong: cuts out pieces, large ones first, for as long as what is left still does.
 *
 * @param goesWrong true for sequences that show the fault
 */
export function minimise<T>(sequence: readonly T[], goesWrong: (sequence: readonly T[]) => boolean): T[] {
  let kept = [...sequence];
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < kept.length;) {
      const without = [...kept.slice(0, at), ...kept.slice(at + size)];
      if (goesWrong(without)) {
        kept = without;
      } else {
        at += size;
      }
    }
  }
  return kept;
}
