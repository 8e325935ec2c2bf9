import { readFileSync } from 'node:fs';
import {
  arweaveKeyOf,
  createArweaveStore,
  createContentReader,
  createContentStore,
  createDatabaseBlocks,
  createFolderBlocks,
  createKuboStore,
} from '../storage/index.js';
import type { StorageConfig } from '../config/index.js';
import { countReads, type Metrics } from '../operations/index.js';
import { createOutboundHttp, type OutboundHttp } from '../platform/outbound-http.js';
import type { AppParts } from './app-parts.js';

/** Public content under the hash of its bytes: stored, served and read. */
export type Content = ReturnType<typeof composeContent>;

/**
 * Composes the content stores. The embedded default is one server and keeps its blocks in a folder. With DATABASE_URL
 * they are in the database, so every replica serves them.
 */
export function composeContent({ config, database, contentFolder }: AppParts, metrics: Metrics) {
  const blocks =
    config.databaseUrl === undefined ? createFolderBlocks(contentFolder) : createDatabaseBlocks(database.db);
  const outbound = createOutboundHttp(originsOf(config.storage));
  const { storage } = config;
  return {
    blocks,
    store: createContentStore(
      storage.keepsBlocks ? blocks : undefined,
      storage.ipfsNode && createKuboStore(outbound, storage.ipfsNode),
      arweaveStore(storage, outbound),
    ),
    reader: countReads(createContentReader({ blocks, ...storage, outbound }), metrics),
    close: () => outbound.close(),
  };
}

/** The origins that the operator named. They may be private; redirects from them to other private addresses are refused. */
function originsOf(storage: StorageConfig): ReadonlySet<string> {
  const { ipfsGateways, arweaveGateways, ipfsNode, arweave } = storage;
  const named = [...ipfsGateways, ...arweaveGateways, ipfsNode?.url, arweave?.bundlerUrl];
  return new Set(named.flatMap((url) => (url === undefined ? [] : [new URL(url).origin])));
}

/** @throws Error when the key file holds no usable key. */
function arweaveStore({ arweave, arweaveGateways }: StorageConfig, outbound: OutboundHttp) {
  if (arweave === undefined) return undefined;
  const { bundlerUrl, keyFile } = arweave;
  const key = arweaveKeyOf(readFileSync(keyFile, 'utf8'));
  return createArweaveStore({ gateways: arweaveGateways, outbound }, { bundlerUrl, key });
}
