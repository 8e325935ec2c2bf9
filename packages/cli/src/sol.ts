const LAMPORTS_PER_SOL = 1_000_000_000n;

/** Reads an amount of SOL, exactly: at most nine decimals. `undefined` for anything else. */
export function lamportsOf(text: string): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  return BigInt(whole) * LAMPORTS_PER_SOL + BigInt(fraction.padEnd(9, '0'));
}
