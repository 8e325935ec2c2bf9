import type { Receipt } from '@agent-rental/contract';

/** The part of a receipt's evidence that a verification found wrong. */
export type ReceiptPart =
  /** The answer of `GET /v1/runs/:run_id/receipt`: it is not one, or its `receipt` was not signed. */
  | 'answer'
  /** The JWS: its form, its key, or its signature. */
  | 'jws'
  /** The receipt is of another program than the one that the caller named. */
  | 'program'
  /** The log: the run is not final on-chain yet, or the log contradicts the receipt. */
  | 'log'
  /** The transaction: not one, not the one that the log names, or one that failed. */
  | 'transaction'
  /** No authority that the caller named has signed. */
  | 'authority'
  /** The memo says another batch, count or root than the log. */
  | 'memo'
  /** The proof does not lead from the receipt to the root. */
  | 'proof'
  /** The transaction charges no such run, or not this price of this wallet for this listing. */
  | 'charge';

/** The place of a verified run on-chain. */
export type VerifiedLog =
  | { by: 'charge'; signature: string; lamports: bigint }
  | {
      by: 'run_log';
      signature: string;
      batch: bigint;
      count: number;
      leafIndex: number;
      root: string;
      previousRoot: string;
    };

/** The result of a verification: the receipt and its run's place on-chain, or the first wrong part. */
export type ReceiptVerification =
  | { ok: true; receipt: Receipt; log: VerifiedLog; authority: string }
  | { ok: false; part: ReceiptPart; reason: string };

/** Ends a verification; never leaves this folder. */
export class WrongPart extends Error {
  readonly part: ReceiptPart;

  constructor(part: ReceiptPart, reason: string) {
    super(reason);
    this.part = part;
  }
}
