import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { call, type Answer } from '@agent-rental/test/support/http';
import { askChain } from '@agent-rental/test/support/replicas/market-chain';
import { paidBy, requiredBy, type Accepted } from '@agent-rental/test/support/pay-per-call/x402-client';
import type { WayToWork } from '../world/agent.js';
import type { FaultMarket, Listing } from '../world/market.js';

export const GRANTED_UNITS = 20_000_000n;

const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const ASSOCIATED_TOKEN_PROGRAM = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

/** The address of a wallet's tokens. */
export function tokenAccountOf(owner: PublicKey, mint: PublicKey): PublicKey {
  const seeds = [owner.toBuffer(), TOKEN_PROGRAM.toBuffer(), mint.toBuffer()];
  return PublicKey.findProgramAddressSync(seeds, ASSOCIATED_TOKEN_PROGRAM)[0];
}

/** A wallet with USDC that wants one run, from an address that no other payer has. */
export class Payer {
  readonly wallet = Keypair.generate();
  readonly #market: FaultMarket;
  readonly #body: { agent_id: string; task: string };
  readonly #headers: Record<string, string>;

  /** @param way how the agent works on its task */
  constructor(market: FaultMarket, listing: Listing, number: number, way: WayToWork = 'answer') {
    this.#market = market;
    this.#body = { agent_id: listing.id, task: `${way} ${number}` };
    this.#headers = { 'x-forwarded-for': `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}` };
  }

  async begin(): Promise<void> {
    const { chain } = this.#market;
    const params = [this.wallet.publicKey.toBase58(), Number(GRANTED_UNITS)] as unknown as object[];
    await askChain(chain, 'localchain_airdropUsdc', ...params);
  }

  /** The call, with further headers. */
  request(headers: Record<string, string> = {}) {
    return { body: this.#body, headers: { ...this.#headers, ...headers } };
  }

  /** Sends the call. Undefined where the connection broke. */
  async send(headers: Record<string, string> = {}): Promise<Answer | undefined> {
    return call(this.#market.served, 'POST', '/v1/execute', this.request(headers)).catch(() => undefined);
  }

  /** The header of a payment by a 402; undefined where USDC is not asked for now. */
  async pay({ headers }: Answer, change: (accepted: Accepted) => Accepted = (same) => same) {
    if (!headers.has('payment-required')) return undefined;
    const [accepted] = requiredBy({ headers }).accepts;
    if (!accepted) throw new Error('The 402 accepts nothing.');
    const { blockhash } = await this.#market.connection.getLatestBlockhash();
    const transaction = this.#sign(change(accepted), blockhash);
    return paidBy({ x402Version: 2, accepted, payload: { transaction } });
  }

  #sign({ amount, asset, payTo, extra }: Accepted, recentBlockhash: string): string {
    const own = this.wallet.publicKey;
    const mint = new PublicKey(asset);
    const data = Buffer.alloc(10);
    data[0] = 12;
    data.writeBigUInt64LE(BigInt(amount), 1);
    data[9] = 6;
    const transfer = new TransactionInstruction({
      programId: TOKEN_PROGRAM,
      data,
      keys: [
        { pubkey: tokenAccountOf(own, mint), isSigner: false, isWritable: true },
        { pubkey: mint, isSigner: false, isWritable: false },
        { pubkey: tokenAccountOf(new PublicKey(payTo), mint), isSigner: false, isWritable: true },
        { pubkey: own, isSigner: true, isWritable: false },
      ],
    });
    const message = new TransactionMessage({
      payerKey: new PublicKey(extra.feePayer),
      recentBlockhash,
      instructions: [
        ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
        transfer,
        new TransactionInstruction({ programId: MEMO_PROGRAM, keys: [], data: Buffer.from(extra.memo) }),
      ],
    });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    transaction.sign([this.wallet]);
    return Buffer.from(transaction.serialize()).toString('base64');
  }
}
