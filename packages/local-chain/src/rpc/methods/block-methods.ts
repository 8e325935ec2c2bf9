import bs58 from 'bs58';
import * as z from 'zod';
import type { ChainMoment } from '../../ledger/chain-clock.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { LandedTransaction } from '../../ledger/transactions/transaction-history.js';
import { rpcMethod, type RpcMethods } from '../dispatcher.js';
import type { Json } from '../json.js';
import {
  contextConfig,
  countParam,
  encodingAlone,
  historyContext,
  TRANSACTION_DEFAULTS,
  transactionFields,
  type ContextConfig,
} from '../params.js';
import { invalidParams, RpcError } from '../rpc-error.js';
import { blockTransactionJson } from '../views/transaction-view.js';

const MAX_SLOT_RANGE = 500_000;
/** The parent blockhash of the first block. */
const NO_BLOCKHASH = bs58.encode(new Uint8Array(32));

const blockConfig = z
  .union([
    encodingAlone,
    z.object({
      ...transactionFields,
      transactionDetails: z.enum(['full', 'accounts', 'signatures', 'none']).nullish(),
      rewards: z.boolean().nullish(),
    }),
  ])
  .nullish()
  .transform((config) => ({ transactionDetails: null, rewards: null, ...TRANSACTION_DEFAULTS, ...config }));

/** Methods about blocks. Every slot has one; it is there once the slot has passed, when nothing more can come into it. */
export function blockMethods(ledger: Ledger): RpcMethods {
  const available = (slot: number, config: ContextConfig): void => {
    if (slot > lastBlock(ledger.now(), config)) {
      throw new RpcError('blockNotAvailable', `Block not available for slot ${slot}`);
    }
  };
  const slots = (start: number, end: number): number[] => {
    if (end - start > MAX_SLOT_RANGE) {
      throw invalidParams(`Slot range too large; max ${MAX_SLOT_RANGE}`);
    }
    return Array.from({ length: Math.max(0, end - start + 1) }, (_, index) => start + index);
  };

  return {
    getBlock: rpcMethod(z.tuple([countParam, blockConfig]), ([slot, config]) => {
      available(slot, config);
      return {
        blockhash: ledger.blockhashes.hashOf(slot),
        previousBlockhash: slot === 0 ? NO_BLOCKHASH : ledger.blockhashes.hashOf(slot - 1),
        parentSlot: Math.max(0, slot - 1),
        blockHeight: slot,
        blockTime: Math.floor(ledger.startOf(slot) / 1000),
        ...blockContent(ledger.history.inSlot(slot), config),
        ...(config.rewards === false ? {} : { rewards: [] }),
      };
    }),

    getBlocks: rpcMethod(
      z.union([
        z.tuple([countParam, contextConfig]).transform(([start, config]) => ({ start, end: null, config })),
        z
          .tuple([countParam, countParam.nullish(), contextConfig])
          .transform(([start, end, config]) => ({ start, end: end ?? null, config })),
      ]),
      ({ start, end, config }) => {
        const last = lastBlock(ledger.now(), config);
        return slots(start, end === null ? last : Math.min(end, last));
      },
    ),

    getBlocksWithLimit: rpcMethod(
      z.tuple([
        countParam,
        countParam.max(MAX_SLOT_RANGE, `Limit too large; max ${MAX_SLOT_RANGE}`),
        contextConfig,
      ]),
      ([start, limit, config]) => slots(start, Math.min(start + limit - 1, lastBlock(ledger.now(), config))),
    ),
  };
}

/** The newest block at a commitment. The slot that is now is still being filled. */
function lastBlock(moment: ChainMoment, config: ContextConfig | null | undefined): number {
  return Math.min(historyContext(moment, config).slot, moment.slot - 1);
}

function blockContent(
  landed: LandedTransaction[],
  config: z.output<typeof blockConfig>,
): { [key: string]: Json } {
  const details = config.transactionDetails ?? 'full';
  if (details === 'none') return {};
  if (details === 'signatures') return { signatures: landed.map(({ signature }) => bs58.encode(signature)) };
  const encoding = details === 'accounts' ? 'accounts' : (config.encoding ?? 'json');
  const version = config.maxSupportedTransactionVersion ?? null;
  return { transactions: landed.map((transaction) => blockTransactionJson(transaction, encoding, version)) };
}
