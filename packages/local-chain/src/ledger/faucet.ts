import { randomInt } from 'node:crypto';
import {
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import { deriveSecret, type Genesis } from '../storage/genesis.js';
import type { AddressedAccount } from './account-state.js';
import { testUsdcMint, usdcGrant } from './test-usdc.js';

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

  /** Its lamports, and the mint of test USDC, whose authority it is. */
  initialAccounts(minimumBalance: (dataBytes: number) => bigint): AddressedAccount[] {
    const purse = {
      address: this.#keypair.publicKey.toBytes(),
      account: {
        lamports: TOTAL_SUPPLY_LAMPORTS,
        owner: SystemProgram.programId.toBytes(),
        executable: false,
        data: new Uint8Array(),
      },
    };
    return [purse, testUsdcMint(this.#keypair.publicKey, minimumBalance)];
  }

  payment(recipient: Uint8Array, lamports: number, blockhash: string): Uint8Array {
    const from = this.#keypair.publicKey;
    const toPubkey = new PublicKey(recipient);
    return this.#signed([SystemProgram.transfer({ fromPubkey: from, toPubkey, lamports })], blockhash);
  }

  /** Test USDC, in its smallest unit. */
  usdcGrant(wallet: Uint8Array, amount: number, blockhash: string): Uint8Array {
    return this.#signed(usdcGrant(this.#keypair.publicKey, new PublicKey(wallet), amount), blockhash);
  }

  #signed(instructions: TransactionInstruction[], blockhash: string): Uint8Array {
    const own = this.#keypair.publicKey;
    const message = new TransactionMessage({
      payerKey: own,
      recentBlockhash: blockhash,
      instructions: [
        ...instructions,
        // A transfer to itself makes each transaction unique: equal requests within one slot must not be one transaction.
        SystemProgram.transfer({ fromPubkey: own, toPubkey: own, lamports: randomInt(1, MAX_NONCE) }),
      ],
    });
    const transaction = new VersionedTransaction(message.compileToLegacyMessage());
    transaction.sign([this.#keypair]);
    return transaction.serialize();
  }
}
