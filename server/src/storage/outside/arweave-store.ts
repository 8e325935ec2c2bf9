import { createPrivateKey, type KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { CID } from 'multiformats/cid';
import { createDeadline } from '@agent-rental/contract';
import { dataFrom, type ArweaveGateways } from '../arweave/arweave-gateway.js';
import { signDataItem, type SignedDataItem } from '../arweave/data-item.js';
import { askGateway, GatewayError, readBytes } from '../reading/gateway-requests.js';

const UPLOAD_TIMEOUT_MS = 30_000;
const ANSWER_BYTES = 64 * 1024;
/** How long gateways may take to get the bundler's item; then the waiting job tries again. */
const WAIT_MS = 60_000;
const ASK_EVERY_MS = 2_000;
const KEY_BITS = 4096;

/** Keeps documents on Arweave for good. */
export interface ArweaveStore {
  /**
   * Stores a document and gives its `ar://` address, once a gateway has given the same bytes back. Equal documents have one
   * address, and a failed call may be made again.
   *
   * @throws GatewayError
   */
  put(cid: CID, bytes: Uint8Array): Promise<string>;
}

/** The key of an Arweave wallet, from the text of its key file. @throws Error that names the fault. */
export function arweaveKeyOf(jwk: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: JSON.parse(jwk), format: 'jwk' });
  } catch (cause) {
    throw new Error('ARWEAVE_KEY_FILE holds no private key in JSON (JWK).', { cause });
  }
  if (key.asymmetricKeyType !== 'rsa' || key.asymmetricKeyDetails?.modulusLength !== KEY_BITS)
    throw new Error(`ARWEAVE_KEY_FILE is not an RSA key of ${KEY_BITS} bits.`);
  return key;
}

/**
 * Sends documents as signed data items (ANS-104) to a bundler, by the call that Turbo and Irys share.
 *
 * @param bundlerUrl the address before `/tx/arweave`.
 */
export function createArweaveStore(
  { gateways, outbound }: ArweaveGateways,
  { bundlerUrl, key }: { readonly bundlerUrl: string; readonly key: KeyObject },
  { waitMs = WAIT_MS, askEveryMs = ASK_EVERY_MS } = {},
): ArweaveStore {
  const url = `${bundlerUrl.replace(/\/+$/, '')}/tx/arweave`;

  const isStored = async ({ id }: SignedDataItem, bytes: Uint8Array): Promise<boolean> => {
    const deadline = createDeadline(UPLOAD_TIMEOUT_MS);
    const { signal } = deadline;
    try {
      for (const gateway of gateways) {
        try {
          for await (const given of dataFrom(gateway, id, bytes.length, { outbound, signal }))
            if (Buffer.compare(given, bytes) === 0) return true;
        } catch (error) {
          if (!(error instanceof GatewayError) && !deadline.isOver) throw error;
        }
      }
      return false;
    } finally {
      deadline.clear();
    }
  };

  const upload = async (item: SignedDataItem): Promise<void> => {
    const request = {
      url,
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: item.bytes,
      timeoutMs: UPLOAD_TIMEOUT_MS,
    } as const;
    const answer = await askGateway(outbound, request, (response) => readBytes(response, ANSWER_BYTES));
    if (answer === undefined)
      throw new GatewayError('the bundler has no such call: ARWEAVE_BUNDLER_URL leads elsewhere');
    if (taken(answer) !== item.id) throw new GatewayError('the bundler does not confirm the data item');
  };

  return {
    async put(cid, bytes) {
      const item = await signDataItem(key, bytes, [
        { name: 'Content-Type', value: 'application/json' },
        { name: 'IPFS-CID', value: cid.toString() },
      ]);
      const address = `ar://${item.id}`;
      // A job that is tried again sends nothing twice.
      if (await isStored(item, bytes)) return address;
      await upload(item);
      const until = performance.now() + waitMs;
      while (!(await isStored(item, bytes))) {
        if (performance.now() > until) throw new GatewayError('no Arweave gateway has the bundled item yet');
        await delay(askEveryMs);
      }
      return address;
    },
  };
}

/** The id that a bundler says it took. */
function taken(answer: Uint8Array): unknown {
  try {
    return (Object(JSON.parse(Buffer.from(answer).toString('utf8'))) as { id?: unknown }).id;
  } catch {
    return undefined;
  }
}
