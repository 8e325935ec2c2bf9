const LAMPORTS_PER_SOL = 1_000_000_000n;

/** An amount for a model to read: `2000000 lamports (0.002 SOL)`, exact. */
export function lamportsText(amount: number): string {
  const lamports = BigInt(amount);
  const fraction = (lamports % LAMPORTS_PER_SOL).toString().padStart(9, '0').replace(/0+$/, '');
  const sol = `${lamports / LAMPORTS_PER_SOL}${fraction === '' ? '' : `.${fraction}`}`;
  return `${lamports} lamports (${sol} SOL)`;
}
