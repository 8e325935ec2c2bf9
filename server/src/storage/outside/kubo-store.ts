import { randomUUID } from 'node:crypto';
import * as dagJson from '@ipld/dag-json';
import { CID } from 'multiformats/cid';
import * as raw from 'multiformats/codecs/raw';
import * as z from 'zod';
import type { OutboundHttp } from '../../platform/outbound-http.js';
import { isBlockOf, MAX_BLOCK_BYTES } from '../blocks/block-store.js';
import { askGateway, GatewayError, readBytes } from '../reading/gateway-requests.js';

const TIMEOUT_MS = 30_000;
const ANSWER_BYTES = 64 * 1024;
/** Names of codecs, as the API takes them. */
const CODEC_NAMES: Readonly<Record<number, string>> = { [raw.code]: 'raw', [dagJson.code]: 'dag-json' };

const stored = z.object({ Key: z.string() });

/** An IPFS node, by the HTTP API of Kubo (docs.ipfs.tech, "RPC API v0"). */
export interface KuboStore {
  /** Stores a block, once the node has given the same bytes back. @throws GatewayError */
  put(cid: CID, bytes: Uint8Array): Promise<void>;
  /** Removes the node's pin of a block; other copies of the block stay. @throws GatewayError */
  remove(cid: CID): Promise<void>;
}

/** @param node base URL of its API, and the bearer token of `API.Authorizations`, where it has one. */
export function createKuboStore(
  outbound: OutboundHttp,
  node: { readonly url: string; readonly token: string | undefined },
): KuboStore {
  const base = `${node.url.replace(/\/+$/, '')}/api/v0`;
  const authorization = node.token === undefined ? {} : { authorization: `Bearer ${node.token}` };
  const call = async (
    path: string,
    maxBytes: number,
    form: { body?: Uint8Array; headers?: Record<string, string> } = {},
  ): Promise<Uint8Array> => {
    const bytes = await askGateway(
      outbound,
      {
        url: `${base}/${path}`,
        method: 'POST',
        headers: { ...authorization, ...form.headers },
        ...(form.body ? { body: form.body } : {}),
        timeoutMs: TIMEOUT_MS,
      },
      (response) => readBytes(response, maxBytes),
    );
    if (bytes === undefined)
      throw new GatewayError('the IPFS node has no such API: IPFS_API_URL leads elsewhere');
    return bytes;
  };

  return {
    async put(cid, bytes) {
      const codec = CODEC_NAMES[cid.code];
      if (codec === undefined) throw new Error(`Codec ${cid.code} is not stored.`);
      const path = `block/put?cid-codec=${codec}&mhtype=sha2-256&pin=true`;
      const answer = parse(stored, await call(path, ANSWER_BYTES, multipart(bytes)));
      if (!CID.parse(answer.Key).equals(cid)) throw new GatewayError('the IPFS node stored something else');
      const back = await call(`block/get?arg=${cid.toString()}&offline=true`, MAX_BLOCK_BYTES);
      if (!(await isBlockOf(cid, back))) throw new GatewayError('the IPFS node gives something else back');
    },
    async remove(cid) {
      await call(`pin/rm?arg=${cid.toString()}`, ANSWER_BYTES);
    },
  };
}

/** An answer in JSON. @throws GatewayError */
function parse<Schema extends z.ZodType>(schema: Schema, bytes: Uint8Array): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch (cause) {
    throw new GatewayError('the IPFS node answers in an unknown form', { cause });
  }
}

/** One file as the body of a form. */
function multipart(bytes: Uint8Array): { body: Uint8Array; headers: Record<string, string> } {
  const boundary = randomUUID();
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="data"; filename="data"\r\ncontent-type: application/octet-stream\r\n\r\n`;
  return {
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}
