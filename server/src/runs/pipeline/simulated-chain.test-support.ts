import { CHARGE_WINDOW_BITS, chargesOf, decodeInstruction } from '@agent-rental/program-client';
import {
  Keypair,
  VersionedTransaction,
  type MessageV0,
  type PublicKey,
  type SignatureStatus,
  type TransactionError,
} from '@solana/web3.js';
import bs58 from 'bs58';
import type { Chain } from '../../chain/index.js';

/** How many blocks a blockhash is good for. */
const BLOCKHASH_LIFE = 150n;
const INSUFFICIENT_BALANCE = 6003;
const RUN_ALREADY_CONSUMED = 6100;

/** One charge, by `consume_query` or as one of a `consume_queries`. */
interface Consumption {
  at: { instruction: number; place: number | undefined };
  runId: string;
  sequence: bigint;
  priceLamports: bigint;
}

interface Landed {
  consumptions: Consumption[];
  error: TransactionError | null;
}

interface Balance {
  lamports: bigint;
  highestSequence: bigint;
  used: Set<bigint>;
}

interface Waiting {
  signature: string;
  lastValidBlockHeight: number;
  resolve(status: SignatureStatus | null): void;
}

/**
 * A chain with one prepaid balance, whose blocks come, become final and are dropped when a test says so. It applies
 * `consume_query` as the program does: all charges of a transaction or none, each sequence once.
 */
export class SimulatedChain {
  #height = 1n;
  #finalizedHeight = 1n;
  /** Grows with everything that happens, also with forks, as the index of the chain has it. */
  #slot = 1n;
  #balance: Balance;
  #finalizedBalance: Balance;
  readonly #blocks = new Map<string, Landed>();
  readonly #final = new Map<string, Landed>();
  #sent = new Map<string, VersionedTransaction>();
  readonly #lastValid = new Map<string, bigint>();
  /** Runs whose charge was in a block, also in one that a fork took back. */
  readonly #everCharged = new Set<string>();
  #waiting: Waiting[] = [];
  forks = 0;
  /** Whether the renter has ever taken money out of the balance, so that charges may fail. */
  wasReclaimed = false;

  constructor(lamports: bigint) {
    this.#balance = { lamports, highestSequence: 0n, used: new Set() };
    this.#finalizedBalance = copyOf(this.#balance);
  }

  /** The chain as one replica sees it, until it ends. */
  seenBy(replica: { isOver: boolean }): Partial<Chain> {
    const alive =
      <A extends unknown[], R>(call: (...given: A) => R) =>
      async (...given: A): Promise<Awaited<R>> => {
        if (replica.isOver) throw new Error('This process has ended.');
        return await call(...given);
      };
    return {
      latestBlockhash: alive(() => this.#newBlockhash()),
      simulate: alive((message: MessageV0) => this.#simulate(message)),
      send: alive((signedBytes: Uint8Array) => this.#send(signedBytes)),
      statuses: alive((signatures: string[]) => signatures.map((signature) => this.#statusOf(signature))),
      blockHeight: alive((commitment) => (commitment === 'finalized' ? this.#finalizedHeight : this.#height)),
      logsOf: alive(() => []),
      waitForConfirmation: alive((signature: string, lastValidBlockHeight: number) =>
        this.#wait(signature, lastValidBlockHeight),
      ),
    };
  }

  /** A block with the transactions that were sent: all of them, or the first so many. */
  produceBlock(most = Number.POSITIVE_INFINITY): void {
    this.#height += 1n;
    this.#slot += 1n;
    for (const [signature, { message }] of [...this.#sent].slice(0, most)) {
      this.#sent.delete(signature);
      if (!this.#isValid(message.recentBlockhash)) continue;
      const consumptions = consumptionsOf(message as MessageV0);
      const { error, after } = apply(this.#balance, consumptions);
      if (!error) {
        this.#balance = after;
        for (const { runId } of consumptions) this.#everCharged.add(runId);
      }
      this.#blocks.set(signature, { consumptions, error });
    }
    this.#tellWaiting();
  }

  /** No fork can take back the present blocks. */
  finalize(): void {
    this.#slot += 1n;
    for (const [signature, landed] of this.#blocks) this.#final.set(signature, landed);
    this.#blocks.clear();
    this.#finalizedBalance = copyOf(this.#balance);
    this.#finalizedHeight = this.#height;
  }

  /** A fork takes back every block that is not final. Its transactions are forgotten. */
  fork(): void {
    if (this.#blocks.size > 0) this.forks += 1;
    this.#slot += 1n;
    this.#blocks.clear();
    this.#balance = copyOf(this.#finalizedBalance);
  }

  /** The endpoint forgets sent transactions that are in no block. */
  forgetSent(): void {
    this.#sent.clear();
  }

  /** So many blocks pass that every blockhash is too old, and are final. A sent transaction that is in no block never lands. */
  expire(): void {
    this.#sent.clear();
    this.#height += BLOCKHASH_LIFE + 1n;
    this.finalize();
    this.#tellWaiting();
  }

  /** The renter takes all out of the balance. */
  reclaim(): void {
    this.wasReclaimed = true;
    this.#balance.lamports = 0n;
    this.#finalizedBalance.lamports = 0n;
    this.#slot += 1n;
  }

  topUp(lamports: bigint): void {
    this.#balance.lamports += lamports;
    this.#finalizedBalance.lamports += lamports;
    this.#slot += 1n;
  }

  /** All that wait for a transaction have waited long enough. */
  giveUp(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(null);
  }

  /** How often a run was charged. */
  chargesOf(runId: string, on: 'any block' | 'final blocks' = 'any block'): number {
    const landed = [...this.#final.values(), ...(on === 'any block' ? this.#blocks.values() : [])];
    return landed
      .filter(({ error }) => error === null)
      .flatMap(({ consumptions }) => consumptions)
      .filter((consumption) => consumption.runId === runId).length;
  }

  /** Whether a charge of the run was in a block at some time. */
  wasEverCharged(runId: string): boolean {
    return this.#everCharged.has(runId);
  }

  /** The balance as the index stores it. */
  indexed(): { balance_lamports: bigint; highest_sequence: bigint; window_bits: Buffer; slot: bigint } {
    const { lamports, highestSequence, used } = this.#balance;
    const bits = Buffer.alloc(32);
    for (const sequence of used) {
      const behind = Number(highestSequence - sequence);
      if (behind < 256) bits[behind >> 3] = (bits[behind >> 3] ?? 0) | (1 << (behind & 7));
    }
    return {
      balance_lamports: lamports,
      highest_sequence: highestSequence,
      window_bits: bits,
      slot: this.#slot,
    };
  }

  #newBlockhash(): Awaited<ReturnType<Chain['latestBlockhash']>> {
    const blockhash = Keypair.generate().publicKey.toBase58();
    const lastValid = this.#height + BLOCKHASH_LIFE;
    this.#lastValid.set(blockhash, lastValid);
    return { blockhash, lastValidBlockHeight: Number(lastValid), lifeSeconds: 60 };
  }

  #isValid(blockhash: string): boolean {
    return (this.#lastValid.get(blockhash) ?? 0n) >= this.#height;
  }

  #simulate(message: MessageV0): { error: TransactionError | null; logs: string[] } {
    return { error: apply(this.#balance, consumptionsOf(message)).error, logs: [] };
  }

  #send(signedBytes: Uint8Array): void {
    const transaction = VersionedTransaction.deserialize(signedBytes);
    const signature = bs58.encode(transaction.signatures[0] ?? new Uint8Array());
    if (this.#blocks.has(signature) || this.#final.has(signature)) return;
    if (this.#isValid(transaction.message.recentBlockhash)) this.#sent.set(signature, transaction);
  }

  #statusOf(signature: string): SignatureStatus | null {
    const [final, block] = [this.#final.get(signature), this.#blocks.get(signature)];
    const landed = final ?? block;
    if (!landed) return null;
    const confirmationStatus = final ? 'finalized' : 'confirmed';
    return { slot: 1, confirmations: null, err: landed.error, confirmationStatus };
  }

  #wait(signature: string, lastValidBlockHeight: number): Promise<SignatureStatus | null> {
    return new Promise((resolve) => {
      this.#waiting.push({ signature, lastValidBlockHeight, resolve });
      this.#tellWaiting();
    });
  }

  #tellWaiting(): void {
    this.#waiting = this.#waiting.filter(({ signature, lastValidBlockHeight, resolve }) => {
      const status = this.#statusOf(signature);
      if (status === null && this.#height <= BigInt(lastValidBlockHeight)) return true;
      resolve(status);
      return false;
    });
  }
}

function copyOf({ lamports, highestSequence, used }: Balance): Balance {
  return { lamports, highestSequence, used: new Set(used) };
}

/** The effect of a transaction on the balance. */
function apply(
  before: Balance,
  consumptions: readonly Consumption[],
): { error: TransactionError | null; after: Balance } {
  const after = copyOf(before);
  for (const { sequence, priceLamports, at } of consumptions) {
    // Of several in one instruction, the place from 1 is above the 16 bits of the code.
    const place = at.place === undefined ? 0 : at.place + 1;
    const refuse = (code: number) => ({
      error: { InstructionError: [at.instruction, { Custom: code + place * 0x1_0000 }] },
      after,
    });
    const isTooOld = sequence + CHARGE_WINDOW_BITS <= after.highestSequence;
    if (after.used.has(sequence) || isTooOld) return refuse(RUN_ALREADY_CONSUMED);
    if (after.lamports < priceLamports) return refuse(INSUFFICIENT_BALANCE);
    after.lamports -= priceLamports;
    after.used.add(sequence);
    if (sequence > after.highestSequence) after.highestSequence = sequence;
  }
  return { error: null, after };
}

function consumptionsOf(message: MessageV0): Consumption[] {
  return message.compiledInstructions.flatMap(({ data, accountKeyIndexes }, instruction) => {
    const accounts = accountKeyIndexes.map((index) => message.staticAccountKeys[index] as PublicKey);
    const call = decodeInstruction(data, accounts);
    return chargesOf(call).map(({ runId, sequence, priceLamports }, place) => ({
      runId: Buffer.from(runId)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
      sequence,
      priceLamports,
      at: { instruction, place: call?.name === 'consume_queries' ? place : undefined },
    }));
  });
}
