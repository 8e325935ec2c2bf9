import { formatSol } from '@agent-rental/contract';

const LAMPORTS_PER_SOL = 1_000_000_000n;

/** An amount for a model to read: `2000000 lamports (0.002 SOL)`, exact. */
export function lamportsText(amount: number | bigint): string {
  return `${amount} lamports (${formatSol(amount)})`;
}

/** Converts a model's amount of SOL to lamports, never rounded up; `undefined` for an invalid amount. */
export function lamportsOfSol(sol: number): bigint | undefined {
  if (!(sol >= 0 && sol <= 1_000_000)) return undefined;
  // Use the decimal digits: 0.1 means a tenth, not the nearest binary number.
  const text = sol.toFixed(9);
  const [whole = '0', fraction = ''] = text.split('.');
  const nearest = BigInt(whole) * LAMPORTS_PER_SOL + BigInt(fraction);
  return Number(text) > sol ? nearest - 1n : nearest;
}
