import {
  decodeEvents,
  decodeProgramError,
  type MarketplaceEvent,
  type ProgramError,
} from '@agent-rental/program-client';
import {
  ComputeBudgetProgram,
  type Keypair,
  PublicKey,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { callRpc } from './chains/json-rpc.js';
import type { TestChain } from './chains/test-chain.js';

/** A transaction that is in the chain. */
export interface Landed {
  signature: string;
  /** The runtime's error, null on success. */
  err: unknown;
  /** The program's error behind `err`, when it is one. */
  error: ProgramError | null;
}

/** The outcome of a transaction. */
export interface Outcome extends Landed {
  logs: string[];
  events: MarketplaceEvent[];
  units: number;
  feeLamports: number;
  /** Balances of the transaction's accounts after it, in its order. */
  postBalances: number[];
}

/** A signed transaction and the limit of its lifetime. */
export interface SignedTransaction {
  wire: Buffer;
  signature: string;
  blockhash: string;
  lastValidBlockHeight: number;
}

interface Preflight {
  err: unknown;
  logs: string[];
  unitsConsumed: number;
}

const BASE_UNIT_LIMIT = 100_000;
const PREFLIGHT_FAILURE = -32_002;
/** The most signatures that one `getSignatureStatuses` takes. */
const MAX_STATUSES = 256;

/** Sends through a chain's JSON-RPC with unmodified web3.js, and keeps the outcome of each transaction. */
export class TransactionSender {
  readonly #chain: TestChain;
  /** The outcomes of the transactions in their order, for comparison with another chain's. */
  readonly transcript: Outcome[] = [];
  #count = 0;

  constructor(chain: TestChain) {
    this.#chain = chain;
  }

  /** Signs instructions; the first signer pays. */
  async sign(
    instructions: TransactionInstruction[],
    signers: readonly [Keypair, ...Keypair[]],
  ): Promise<SignedTransaction> {
    this.#count += 1;
    const lifetime = await this.#chain.connection.getLatestBlockhash();
    const transaction = new Transaction({ feePayer: signers[0].publicKey, ...lifetime });
    transaction.add(
      ...instructions,
      // Makes each transaction of a slot unique. Costs nothing.
      ComputeBudgetProgram.setComputeUnitLimit({ units: BASE_UNIT_LIMIT + this.#count }),
    );
    transaction.sign(...signers);
    const wire = transaction.serialize({ verifySignatures: false });
    return { wire, signature: bs58.encode(transaction.signature ?? []), ...lifetime };
  }

  /** Sends with preflight and waits for the confirmation. Fails unless it succeeds. */
  async succeed(
    instructions: TransactionInstruction[],
    signers: readonly [Keypair, ...Keypair[]],
  ): Promise<Outcome> {
    const signed = await this.sign(instructions, signers);
    await this.#chain.connection.sendRawTransaction(signed.wire);
    const outcome = await this.#landed(signed.signature);
    if (outcome.err !== null) {
      throw new Error(`Landed and failed:\n${outcome.logs.join('\n')}`);
    }
    return outcome;
  }

  /**
   * Sends a transaction that must fail, with preflight and then without. The chain gives the same error, logs and units
   * both times. Returns the name of the program's error.
   */
  async refusal(
    instructions: TransactionInstruction[],
    signers: readonly [Keypair, ...Keypair[]],
  ): Promise<string> {
    const signed = await this.sign(instructions, signers);
    const preflight = await this.#preflightFailure(signed.wire);
    await this.#chain.connection.sendRawTransaction(signed.wire, { skipPreflight: true });
    const landed = await this.#landed(signed.signature);
    if (JSON.stringify(preflight) !== JSON.stringify(preflightOf(landed))) {
      throw new Error(
        `Preflight: ${JSON.stringify(preflight)}, landed: ${JSON.stringify(preflightOf(landed))}`,
      );
    }
    if (landed.error === null) {
      throw new Error(
        `Not an error of the program: ${JSON.stringify(landed.err)}\n${landed.logs.join('\n')}`,
      );
    }
    return landed.error.name;
  }

  /**
   * Sends all at once without preflight and waits until each has landed. Not in the transcript: which one of two
   * comes first is open.
   */
  async landAll(transactions: readonly SignedTransaction[]): Promise<Landed[]> {
    await Promise.all(
      transactions.map(({ wire }) =>
        this.#chain.connection.sendRawTransaction(wire, { skipPreflight: true, maxRetries: 0 }),
      ),
    );
    return this.#untilLanded(transactions.map(({ signature }) => signature));
  }

  /** Simulates an instruction without a signature; the payer is only named. */
  async simulate(
    instruction: TransactionInstruction,
    payer: PublicKey,
  ): Promise<{ err: unknown; logs: string[]; returnData: Buffer }> {
    const transaction = new Transaction().add(instruction);
    transaction.feePayer = payer;
    transaction.recentBlockhash = PublicKey.default.toBase58();
    const wire = transaction.serialize({ requireAllSignatures: false, verifySignatures: false });
    const answer = await callRpc(this.#chain.rpcUrl, 'simulateTransaction', [
      wire.toString('base64'),
      { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true, commitment: 'confirmed' },
    ]);
    const { value } = answer.result as {
      value: { err: unknown; logs: string[]; returnData: { data: [string, string] } | null };
    };
    return { ...value, returnData: Buffer.from(value.returnData?.data[0] ?? '', 'base64') };
  }

  async #preflightFailure(wire: Buffer): Promise<Preflight> {
    const { error } = await callRpc(this.#chain.rpcUrl, 'sendTransaction', [
      wire.toString('base64'),
      { encoding: 'base64', preflightCommitment: 'confirmed' },
    ]);
    if (error?.code !== PREFLIGHT_FAILURE) {
      throw new Error(`No preflight failure but ${JSON.stringify(error)}`);
    }
    const { err, logs, unitsConsumed } = error.data as Preflight;
    return { err, logs, unitsConsumed };
  }

  async #landed(signature: string): Promise<Outcome> {
    // Polled, not awaited on the websocket. When a signature lands during the subscription, Surfnet never tells.
    // Then web3.js gives up once the blockhash has expired.
    await this.#untilLanded([signature]);
    const outcome = await this.outcome(signature);
    this.transcript.push(outcome);
    return outcome;
  }

  /** Reads a confirmed transaction back. */
  async outcome(signature: string): Promise<Outcome> {
    const landed = await this.#chain.connection.getTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    });
    const meta = landed?.meta;
    if (meta == null) {
      throw new Error(`No transaction ${signature}`);
    }
    const logs = meta.logMessages ?? [];
    return {
      signature,
      err: meta.err,
      error: meta.err === null ? null : decodeProgramError({ err: meta.err, logs }),
      logs,
      events: decodeEvents(logs),
      units: meta.computeUnitsConsumed ?? 0,
      feeLamports: meta.fee,
      postBalances: meta.postBalances,
    };
  }

  async #untilLanded(signatures: readonly string[]): Promise<Landed[]> {
    const landed = new Map<string, Landed>();
    for (;;) {
      const open = signatures.filter((signature) => !landed.has(signature)).slice(0, MAX_STATUSES);
      if (open.length === 0) {
        return signatures.flatMap((signature) => landed.get(signature) ?? []);
      }
      const { value } = await this.#chain.connection.getSignatureStatuses(open);
      for (const [index, signature] of open.entries()) {
        const status = value[index];
        if (status?.confirmationStatus === 'confirmed' || status?.confirmationStatus === 'finalized') {
          const error = status.err === null ? null : decodeProgramError(status.err);
          landed.set(signature, { signature, err: status.err, error });
        }
      }
    }
  }
}

function preflightOf({ err, logs, units }: Outcome): Preflight {
  return { err, logs, unitsConsumed: units };
}
