import type { Leadership } from '../database/leadership.js';
import { requireMigrated } from '../database/migrate.js';
import type { DiskSpace } from '../platform/disk-space.js';
import { createChangeConfirmations, createOriginsOf } from '../identity/index.js';
import { consoleRoutes } from '../operator/console/index.js';
import type { Drain } from '../platform/drain.js';
import {
  createOperationsRepository,
  createReadiness,
  operationsRoutes,
  type Metrics,
} from '../operations/index.js';
import type { UsdcTill } from '../pay-per-call/index.js';
import type { AppParts } from './app-parts.js';
import type { ListingsAndFiles } from './listings-and-files.js';
import type { HttpPart } from './http.js';
import type { Protocol } from './chain/protocol.js';
import type { Registration } from './registration.js';
import type { SettlementPart } from './settlement.js';
import type { Sandboxes } from './sandboxes/sandboxes.js';

/** Adds the routes that operators use, metrics and readiness, and gives the metrics their sources. */
export function addOperations(
  { config, database, chain, diskSpace, keys }: AppParts,
  parts: {
    metrics: Metrics;
    leadership: Leadership;
    protocol: Protocol;
    sandboxes: Sandboxes;
    listingsAndFiles: ListingsAndFiles;
    settlement: SettlementPart;
    registration: Registration;
    httpPart: HttpPart;
    drain: Drain;
    usdcTill: UsdcTill | undefined;
  },
): void {
  const { metrics, protocol, sandboxes, listingsAndFiles, drain } = parts;
  const { db, pool } = database;
  const counts = createOperationsRepository(db);
  metrics.watch({
    openCharges: () => counts.openCharges(),
    slotsTaken: () => counts.slotsTaken(),
    runsWaiting: () => counts.runsWaiting(),
    runLog: () => counts.runLog(),
    deliveriesWaiting: () => counts.deliveriesWaiting(),
    sandboxes: sandboxes.statsByPool,
    connections: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    isLeader: () => parts.leadership.isLeader(),
    indexAgeSeconds: () => listingsAndFiles.indexer.ageSeconds(),
    reconcilerAgeSeconds: () => parts.settlement.reconciler.ageSeconds(),
    rpc: () => chain.endpointStats(),
    funds: () => protocol.funds.state(),
    openPayments: () => counts.openPayments(),
    till: () => parts.usdcTill?.state(),
  });
  const readiness = createReadiness(
    {
      database: () => counts.requireAnswer(),
      migrations: () => requireMigrated(db),
      ...(diskSpace ? { disk: () => requireRoom(diskSpace) } : {}),
      chain: async () => void (await chain.blockHeight('current')),
      protocol: protocol.requireAuthority,
      sandboxes: () => {
        const { idle, active } = sandboxes.stats();
        if (idle + active === 0) throw new Error('No sandbox can be started.');
      },
    },
    () => drain.draining,
    () => ({ ...rpcDetails(chain), ...fundsDetails(protocol) }),
  );
  const { http, identity } = parts.httpPart;
  operationsRoutes(http, {
    metrics,
    metricsToken: config.metricsToken,
    openOnLoopback: config.databaseUrl === undefined,
    readiness,
  });
  consoleRoutes(http, {
    db,
    chain,
    keys,
    run: parts.registration.run,
    operatorWallets: config.operatorWallets,
    confirmations: createChangeConfirmations(identity.challenges, createOriginsOf(config.publicUrl)),
    readiness,
    protocol: protocol.protocol,
  });
}

function requireRoom(diskSpace: DiskSpace): void {
  if (!diskSpace.hasRoom()) throw new Error('The disk is nearly full.');
}

/** How many of several RPC endpoints are in use; nothing where there is only one. */
function rpcDetails(chain: AppParts['chain']): Readonly<Record<string, unknown>> {
  const { endpoints } = chain.endpointStats();
  if (endpoints.length === 0) return {};
  return {
    rpc_endpoints: { in_use: endpoints.filter(({ isInUse }) => isInUse).length, of: endpoints.length },
  };
}

/** The last read balances of authority and treasury, which are public. */
function fundsDetails({ funds }: Protocol): Readonly<Record<string, unknown>> {
  const state = funds.state();
  if (state === undefined) return {};
  return {
    funds: {
      per_task_runs: state.missing === undefined ? 'accepted' : 'refused',
      authority_lamports: Number(state.authorityLamports),
      authority_reserve_lamports: Number(state.authorityReserveLamports),
      treasury_lamports: Number(state.treasuryLamports),
      treasury_minimum_lamports: Number(state.treasuryMinimumLamports),
    },
  };
}
