import bs58 from 'bs58';
import * as z from 'zod';
import { SLOTS_PER_EPOCH } from '../../ledger/bank.js';
import { TOTAL_SUPPLY_LAMPORTS } from '../../ledger/faucet.js';
import type { Ledger } from '../../ledger/ledger.js';
import { rpcMethod, type RpcMethods } from '../dispatcher.js';
import {
  API_VERSION,
  contextConfig,
  contextFields,
  countParam,
  readContext,
  withContext,
} from '../params.js';
import { RpcError } from '../rpc-error.js';

const noParams = z.tuple([]);

export function clusterMethods(ledger: Ledger): RpcMethods {
  const currentSlot = rpcMethod(
    z.tuple([contextConfig]),
    ([config]) => readContext(ledger.now(), config).slot,
  );
  const identity = bs58.encode(ledger.identity);

  return {
    getSlot: currentSlot,

    // Every slot has a block.
    getBlockHeight: currentSlot,

    getBlockTime: rpcMethod(z.tuple([countParam]), ([slot]) => {
      if (slot > ledger.now().slot) {
        throw new RpcError('blockNotAvailable', `Block not available for slot ${slot}`);
      }
      return Math.floor(ledger.startOf(slot) / 1000);
    }),

    getEpochInfo: rpcMethod(z.tuple([contextConfig]), ([config]) => {
      const { slot } = readContext(ledger.now(), config);
      return {
        absoluteSlot: slot,
        blockHeight: slot,
        epoch: Math.floor(slot / SLOTS_PER_EPOCH),
        slotIndex: slot % SLOTS_PER_EPOCH,
        slotsInEpoch: SLOTS_PER_EPOCH,
        transactionCount: ledger.history.count,
      };
    }),

    getEpochSchedule: rpcMethod(noParams, () => ({
      slotsPerEpoch: SLOTS_PER_EPOCH,
      leaderScheduleSlotOffset: SLOTS_PER_EPOCH,
      warmup: false,
      firstNormalEpoch: 0,
      firstNormalSlot: 0,
    })),

    getVersion: rpcMethod(noParams, () => ({ 'solana-core': API_VERSION, 'feature-set': 0 })),

    getHealth: rpcMethod(noParams, () => 'ok'),

    getGenesisHash: rpcMethod(noParams, () => bs58.encode(ledger.genesisHash)),

    // Agave 4.3: null on a cluster that has not moved to Alpenglow.
    getAgGenesisCert: rpcMethod(noParams, () =>
      ledger.consensus === 'alpenglow'
        ? { migrated: { slot: 0, blockId: bs58.encode(ledger.genesisHash) } }
        : null,
    ),

    getIdentity: rpcMethod(noParams, () => ({ identity })),

    getSlotLeader: rpcMethod(z.tuple([contextConfig]), () => identity),

    getSupply: rpcMethod(z.tuple([z.object(contextFields).loose().nullish()]), ([config]) => {
      const context = readContext(ledger.now(), config);
      const total = TOTAL_SUPPLY_LAMPORTS;
      return withContext(context, {
        total,
        circulating: total,
        nonCirculating: 0,
        nonCirculatingAccounts: [],
      });
    }),
  };
}
