const LAMPORTS_PER_SOL = 1_000_000_000n;

/** Reads an amount of SOL, exactly: at most nine decimals. `undefined` for anything else. */
export function lamportsOf(text: string): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  return BigInt(whole) * LAMPORTS_PER_SOL + BigInt(fraction.padEnd(9, '0'));
}

/** Writes lamports as SOL, exactly. */
export function solOf(lamports: bigint): string {
  const fraction = (lamports % LAMPORTS_PER_SOL).toString().padStart(9, '0').replace(/0+$/, '');
  return `${lamports / LAMPORTS_PER_SOL}${fraction === '' ? '' : `.${fraction}`} SOL`;
}
