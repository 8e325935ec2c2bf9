import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import bs58 from 'bs58';
import * as z from 'zod';
import { addressKey } from '../../ledger/account-state.js';
import type { Ledger } from '../../ledger/ledger.js';
import { rpcMethod, type RpcMethods } from '../dispatcher.js';
import { countParam, signatureParam } from '../params.js';

/** Year 9999: beyond it no date can be shown. */
const MAX_UNIX_TIMESTAMP = 253_402_300_799;
const MAX_WARP_SLOTS = 1_000_000_000;
const MAX_DROPPED = 10_000;

/** Methods for tests that no real cluster offers: time travel, forks and memory use. Present only with `testHooks: true`. */
export function testHookMethods(ledger: Ledger): RpcMethods {
  return {
    /**
     * Moves the chain's clock forward to a Unix time in seconds, or by a number of slots. The new time is the beginning of
     * the first slot from then on.
     */
    localchain_warp: rpcMethod(
      z.tuple([
        z.union([
          z.object({ unixTimestamp: z.int().min(0).max(MAX_UNIX_TIMESTAMP) }),
          z.object({ slots: z.int().min(1).max(MAX_WARP_SLOTS) }),
        ]),
      ]),
      ([to]) => {
        const target = 'slots' in to ? ledger.startOf(ledger.now().slot + to.slots) : to.unixTimestamp * 1000;
        const moment = ledger.warpTo(target);
        return { slot: moment.slot, unixTimestamp: Math.floor(moment.unixMs / 1000) };
      },
    ),

    /**
     * Takes unfinalized transactions back, as when a cluster leaves a minority fork: those named, or all since a slot.
     * Later ones that were not selected are executed again. Answers with the signatures that are gone.
     */
    localchain_fork: rpcMethod(
      z.tuple([
        z.union([
          z.object({ dropSignatures: z.array(signatureParam).max(MAX_DROPPED) }),
          z.object({ sinceSlot: countParam }),
        ]),
      ]),
      ([which]) => {
        const named = 'dropSignatures' in which ? new Set(which.dropSignatures.map(addressKey)) : null;
        const dropped = ledger.fork((landed) =>
          'sinceSlot' in which
            ? landed.slot >= which.sinceSlot
            : named?.has(addressKey(landed.signature)) === true,
        );
        return { dropped: dropped.map(({ signature }) => bs58.encode(signature)) };
      },
    ),

    /** Moves the chain from tower to Alpenglow. A start of the chain has its option again. */
    localchain_migrate: rpcMethod(z.tuple([]), () => ({ slot: ledger.migrate().slot })),

    /** Bytes in use after a garbage collection: without it, the number depends on the last collection. */
    localchain_memory: rpcMethod(z.tuple([]), () => {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      collect();
      collect();
      const { rss, heapUsed, external } = process.memoryUsage();
      return { rss, heapUsed, external };
    }),
  };
}
