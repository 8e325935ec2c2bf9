import type { Receipt } from '@agent-rental/contract';

/** The first wrong part of a receipt's evidence. */
export type ReceiptPart =
  /** The answer of `GET /v1/runs/:run_id/receipt`: malformed, or its `receipt` was not signed. */
  | 'answer'
  /** The JWS: its form, its key, or its signature. */
  | 'jws'
  /** The receipt names another program than the caller. */
  | 'program'
  /** The log: the run is not final on-chain yet, or the log contradicts the receipt. */
  | 'log'
  /** The transaction: malformed, failed, or not the transaction of the log. */
  | 'transaction'
  /** None of the caller's authorities has signed the transaction. */
  | 'authority'
  /** The memo has another batch, count or root than the log. */
  | 'memo'
  /** The proof does not lead from the receipt to the root. */
  | 'proof'
  /** The transaction does not charge this run, or charges another price, wallet or listing. */
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
