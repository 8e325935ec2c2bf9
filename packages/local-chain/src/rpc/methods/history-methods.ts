import bs58 from 'bs58';
import * as z from 'zod';
import type { ChainMoment } from '../../ledger/chain-clock.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { LandedTransaction } from '../../ledger/transactions/transaction-history.js';
import { rpcMethod, type RpcMethods } from '../dispatcher.js';
import type { Json } from '../json.js';
import {
  addressParam,
  contextConfig,
  contextFields,
  countParam,
  encodingAlone,
  historyContext,
  readContext,
  signatureParam,
  TRANSACTION_DEFAULTS,
  transactionFields,
  withContext,
  type Commitment,
} from '../params.js';
import { memoOf, statusJson, transactionJson } from '../views/transaction-view.js';

const MAX_STATUSES = 256;
const MAX_SIGNATURES = 1_000;
/** Older statuses are found only with `searchTransactionHistory`. */
const RECENT_STATUS_SLOTS = 300;

const transactionConfig = z
  .union([encodingAlone, z.object(transactionFields)])
  .nullish()
  .transform((config) => ({ ...TRANSACTION_DEFAULTS, ...config }));

export function historyMethods(ledger: Ledger): RpcMethods {
  return {
    getTransaction: rpcMethod(z.tuple([signatureParam, transactionConfig]), ([signature, config]) => {
      const context = historyContext(ledger.now(), config);
      const landed = ledger.history.find(signature);
      if (landed === null || landed.slot > context.slot) return null;
      const version = config.maxSupportedTransactionVersion ?? null;
      return transactionJson(landed, config.encoding ?? 'json', version);
    }),

    getSignatureStatuses: rpcMethod(
      z.tuple([
        z.array(signatureParam).max(MAX_STATUSES, `Too many inputs provided; max ${MAX_STATUSES}`),
        z.object({ searchTransactionHistory: z.boolean().nullish() }).nullish(),
      ]),
      ([signatures, config]) => {
        const moment = ledger.now();
        const oldest = config?.searchTransactionHistory === true ? 0 : moment.slot - RECENT_STATUS_SLOTS;
        const statuses = signatures.map((signature) => {
          const landed = ledger.history.find(signature);
          return landed === null || landed.slot < oldest ? null : signatureStatus(landed, moment);
        });
        return withContext({ slot: moment.slot }, statuses);
      },
    ),

    getSignaturesForAddress: rpcMethod(
      z.tuple([
        addressParam,
        z
          .object({
            ...contextFields,
            limit: z.int().min(1).max(MAX_SIGNATURES).nullish(),
            before: signatureParam.nullish(),
            until: signatureParam.nullish(),
          })
          .nullish(),
      ]),
      ([address, config]) => {
        const moment = ledger.now();
        const context = historyContext(moment, config);
        const page = {
          limit: config?.limit ?? MAX_SIGNATURES,
          before: config?.before ?? undefined,
          until: config?.until ?? undefined,
          maxSlot: context.slot,
        };
        return ledger.history.mentioning(address, page).map((landed) => ({
          signature: bs58.encode(landed.signature),
          slot: landed.slot,
          err: landed.outcome.err,
          memo: memoOf(landed),
          blockTime: Math.floor(landed.unixMs / 1000),
          confirmationStatus: confirmationStatus(landed, moment),
        }));
      },
    ),

    getTransactionCount: rpcMethod(z.tuple([contextConfig]), ([config]) => {
      readContext(ledger.now(), config);
      return ledger.history.count;
    }),

    getFirstAvailableBlock: rpcMethod(z.tuple([]), () => 0),

    minimumLedgerSlot: rpcMethod(z.tuple([]), () => 0),

    getBlockCommitment: rpcMethod(z.tuple([countParam]), () => ({ commitment: null, totalStake: 0 })),
  };
}

function signatureStatus(landed: LandedTransaction, moment: ChainMoment): Json {
  const { err } = landed.outcome;
  return {
    slot: landed.slot,
    confirmations: landed.slot <= moment.rootSlot ? null : moment.slot - landed.slot,
    err,
    status: statusJson(err),
    confirmationStatus: confirmationStatus(landed, moment),
  };
}

function confirmationStatus(
  { slot }: LandedTransaction,
  { rootSlot, confirmedSlot }: ChainMoment,
): Commitment {
  if (slot <= rootSlot) return 'finalized';
  return slot <= confirmedSlot ? 'confirmed' : 'processed';
}
