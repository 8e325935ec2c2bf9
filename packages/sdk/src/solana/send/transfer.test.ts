import { findProtocolAddress } from '@agent-rental/program-client';
import { Keypair, SystemProgram } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { keypairSigner } from '../wallets/signer.js';
import { transferSol, type TransferConnection } from './transfer.js';

/** An endpoint that says what a wallet holds, and is asked for nothing else. */
const connection = { getBalance: async () => 0 } as unknown as TransferConnection;
const refusalOf = async (to: string): Promise<string> =>
  transferSol(connection, keypairSigner(Keypair.generate()), to, 1_000n).then(
    () => 'sent',
    (error: unknown) => (error as Error).message,
  );

describe('a transfer', () => {
  it('to an address on the curve without a private key is refused: it would be lost [ID-54]', async () => {
    expect(await refusalOf(SystemProgram.programId.toBase58())).toContain('has no private key');
  });

  it.each([Keypair.generate().publicKey.toBase58(), findProtocolAddress().address.toBase58()])(
    'to a wallet, or an address that a program signs for, goes on to the balance: %s',
    async (to) => {
      expect(await refusalOf(to)).toContain('too little');
    },
  );
});
