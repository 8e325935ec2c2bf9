import { ComputeBudgetProgram, Keypair, type Connection, type PublicKey } from '@solana/web3.js';
import { lighthouse } from './lighthouse.js';
import type { WalletKind } from './test-wallet.js';

/** `AssertAccountInfoMulti`: the account belongs to the system program. */
const isOfSystem = (account: PublicKey) => lighthouse(Buffer.from('060401030000', 'hex'), account);

/** `AssertAccountInfo`: the account has a lamport or more. */
const hasLamports = (account: PublicKey) =>
  lighthouse(Buffer.from('050400010000000000000004', 'hex'), account);

/**
 * Wallets like known ones, and how many assertions each adds:
 *
 * - Phantom adds assertions before and after, as on mainnet in August 2026 (x402-foundation/x402#3318). Here it also takes the
 *   newest blockhash.
 * - Solflare adds two after (x402-foundation/x402#991), and a limit and price of compute units before (Jac0xb/lighthouse#55).
 * - A Ledger adds nothing, and signs messages in an envelope.
 */
export function walletKinds(
  connection: Connection,
): Record<'Phantom' | 'Solflare' | 'Ledger', WalletKind & { assertions: number }> {
  return {
    Phantom: {
      assertions: 4,
      signsIn: true,
      change: async (message) => {
        const { payerKey: wallet, instructions } = message;
        // An account without another part in the transaction, as a token account of the wallet.
        const other = Keypair.generate().publicKey;
        instructions.unshift(hasLamports(wallet), isOfSystem(wallet), isOfSystem(other));
        instructions.push(hasLamports(wallet));
        message.recentBlockhash = (await connection.getLatestBlockhash()).blockhash;
      },
    },
    Solflare: {
      assertions: 2,
      change: ({ payerKey: wallet, instructions }) => {
        instructions.unshift(
          ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }),
          ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 100_000 }),
        );
        instructions.push(isOfSystem(wallet), hasLamports(wallet));
      },
    },
    Ledger: { assertions: 0, isLedger: true },
  };
}
