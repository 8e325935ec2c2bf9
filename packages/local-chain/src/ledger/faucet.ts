import { randomInt } from 'node:crypto';
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { deriveSecret, type Genesis } from '../storage/genesis.js';
import type { AddressedAccount } from './account-state.js';

/**
 * All lamports of a new chain: nine million SOL. Less than 2^53, so that every balance is exact in JavaScript clients,
 * which read lamports as numbers.
 */
export const TOTAL_SUPPLY_LAMPORTS = 9_000_000_000_000_000n;

/** The limit of one `requestAirdrop`: 1,000 SOL. */
export const MAX_AIRDROP_LAMPORTS = 1_000_000_000_000;

const MAX_NONCE = 2 ** 32;

export class Faucet {
  readonly #keypair: Keypair;

  constructor(genesis: Genesis) {
    this.#keypair = Keypair.fromSeed(deriveSecret(genesis, 'faucet'));
  }

  initialAccount(): AddressedAccount {
    return {
      address: this.#keypair.publicKey.toBytes(),
      account: {
        lamports: TOTAL_SUPPLY_LAMPORTS,
        owner: SystemProgram.programId.toBytes(),
        executable: false,
        data: new Uint8Array(),
      },
    };
  }

  payment(recipient: Uint8Array, lamports: number, blockhash: string): Uint8Array {
    const from = this.#keypair.publicKey;
    const message = new TransactionMessage({
      payerKey: from,
      recentBlockhash: blockhash,
      instructions: [
        SystemProgram.transfer({ fromPubkey: from, toPubkey: new PublicKey(recipient), lamports }),
        // A transfer to itself makes each transaction unique: equal requests within one slot must not be one transaction.
        SystemProgram.transfer({ fromPubkey: from, toPubkey: from, lamports: randomInt(1, MAX_NONCE) }),
      ],
    });
    const transaction = new VersionedTransaction(message.compileToLegacyMessage());
    transaction.sign([this.#keypair]);
    return transaction.serialize();
  }
}
