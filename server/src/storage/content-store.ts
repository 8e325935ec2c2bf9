import * as dagJson from '@ipld/dag-json';
import { CID } from 'multiformats/cid';
import { sha256 } from 'multiformats/hashes/sha2';
import type { BlockStore } from './blocks/block-store.js';
import type { ArweaveStore } from './outside/arweave-store.js';
import type { KuboStore } from './outside/kubo-store.js';

/** Keeps public documents under the hash of their content. Published documents are never removed. */
export interface ContentStore {
  /**
   * Stores a JSON document (DAG-JSON, so that equal documents have one form). Gives its URI once every store has confirmed
   * it: `ipfs://` for IPFS content, else `ar://`. A failed call may be repeated.
   *
   * @throws GatewayError when a store outside does not take it.
   */
  putJson(document: unknown): Promise<string>;
  /** Removes a document without references; an absent one is no error. Documents on Arweave stay. */
  remove(uri: string): Promise<void>;
}

/**
 * Keeps documents as blocks of the server and of an IPFS node, on Arweave, or in both kinds of store.
 *
 * @throws Error without any store.
 */
export function createContentStore(
  blocks: BlockStore | undefined,
  ipfsNode?: KuboStore,
  arweave?: ArweaveStore,
): ContentStore {
  if (!blocks && !arweave) throw new Error('Documents need a store.');
  return {
    async putJson(document) {
      const bytes = dagJson.encode(document);
      const cid = CID.create(1, dagJson.code, await sha256.digest(bytes));
      await blocks?.put(cid, bytes);
      await ipfsNode?.put(cid, bytes);
      const address = await arweave?.put(cid, bytes);
      return blocks || address === undefined ? `ipfs://${cid.toString()}` : address;
    },
    async remove(uri) {
      if (!uri.startsWith('ipfs://')) return;
      const cid = CID.parse(uri.slice('ipfs://'.length));
      await blocks?.remove(cid);
      // A copy that stays outside is found by its hash alone, and hurts nothing.
      await ipfsNode?.remove(cid).catch(() => {});
    },
  };
}
