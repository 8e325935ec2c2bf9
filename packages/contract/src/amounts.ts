const LAMPORTS_PER_SOL = 1_000_000_000n;

/** Renders lamports as SOL for JSON. Exact to the lamport for every price that the program accepts. */
export function solFromLamports(amount: bigint): number {
  const whole = amount / LAMPORTS_PER_SOL;
  const rest = (amount % LAMPORTS_PER_SOL).toString().padStart(9, '0');
  return Number(`${whole}.${rest}`);
}

/** An amount for people and models to read: `0.002 SOL`, exact. @param amount in lamports */
export function formatSol(amount: number | bigint): string {
  const given = BigInt(amount);
  const lamports = given < 0n ? -given : given;
  const fraction = (lamports % LAMPORTS_PER_SOL).toString().padStart(9, '0').replace(/0+$/, '');
  return `${given < 0n ? '-' : ''}${lamports / LAMPORTS_PER_SOL}${fraction === '' ? '' : `.${fraction}`} SOL`;
}

/** A text of the API for people: its amounts in SOL. */
export function inSol(text: string): string {
  return text.replaceAll(/(\d+) lamports/g, (_, amount: string) => formatSol(BigInt(amount)));
}

/** The creator's part of a payment, after the protocol's fee in hundredths of a percent. It rounds like the program. */
export function netLamports(priceLamports: number, feeBps: number): number {
  return priceLamports - Number((BigInt(priceLamports) * BigInt(feeBps)) / 10_000n);
}

/** Reads SOL as lamports, rounded to the nearest lamport. For search bounds, never for money. */
export function lamportsFromSol(sol: number): bigint {
  return BigInt(Math.round(sol * 1e9));
}
