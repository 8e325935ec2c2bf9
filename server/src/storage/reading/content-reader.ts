import type { OutboundHttp } from '../../platform/outbound-http.js';
import type { BlockStore } from '../blocks/block-store.js';
import { readArweave } from '../arweave/ar-content.js';
import { ContentRefusal, ContentUnavailableError } from './content-errors.js';
import { readIpfs } from './ipfs-content.js';
import type { ContentLimits, ReadContent } from './read-content.js';

/** Contents that are read at the same time; each may take as many bytes as the limits allow. */
const READS_AT_ONCE = 8;

/** Reads content by its hash. */
export interface ContentReader {
  /**
   * Reads `ipfs://<cid>[/path]`, from our store or else by the operator's gateways, and `ar://<id>[/path]` by Arweave's
   * gateways. Gateways are asked one after the other, and none is trusted. Each block is checked against the hash in its
   * address, and Arweave's data against the signature behind its id.
   *
   * @throws ContentRefusal for an address that cannot be read or leads to nothing; ContentUnavailableError when no
   * gateway answers, or too many contents are read now.
   */
  read(uri: string, limits: ContentLimits): Promise<ReadContent>;
}

export function createContentReader(deps: {
  blocks: BlockStore;
  /** Base URLs of IPFS gateways, in the order in which they are asked. Empty: only our own blocks are read. */
  ipfsGateways: readonly string[];
  /** Base URLs of Arweave gateways, in the order in which they are asked. Empty: `ar://` is refused. */
  arweaveGateways: readonly string[];
  /** Calls public addresses, and the gateways that the operator named wherever they are. */
  outbound: OutboundHttp;
}): ContentReader {
  const { blocks, outbound } = deps;
  const gateways = deps.ipfsGateways.map(withoutSlash);
  const arweave = { gateways: deps.arweaveGateways.map(withoutSlash), outbound };
  let reading = 0;
  return {
    async read(uri, limits) {
      if (reading >= READS_AT_ONCE) throw new ContentUnavailableError('Too many contents are read now.');
      reading += 1;
      try {
        if (uri.startsWith('ipfs://')) return await readIpfs({ blocks, gateways, outbound }, uri, limits);
        if (!uri.startsWith('ar://')) throw new ContentRefusal('only ipfs:// and ar:// addresses are read');
        if (arweave.gateways.length === 0)
          throw new ContentRefusal('ar:// is not read here: the operator has named no gateway of Arweave');
        return await readArweave(arweave, uri, limits);
      } finally {
        reading -= 1;
      }
    },
  };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
