import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Arweave from 'arweave';
import type { JWKInterface } from 'arweave/node/lib/wallet.js';
import { isDataOfItem, idOf, type DataItemHeader } from './data-item.js';

/** A gateway's content of an id: `/tx/<id>` for a transaction, a node of the index for a data item. */
export interface Held {
  readonly transaction?: object;
  readonly node?: object;
  readonly data: Buffer;
}

/** A new key of an Arweave wallet. */
export function newArweaveKey(): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength: 4096 }).privateKey;
}

/** Signs a transaction as Arweave's own client does. */
export async function signTransaction(
  key: KeyObject,
  data: Buffer,
  tags: readonly { name: string; value: string }[] = [],
): Promise<{ id: string; held: Held }> {
  const client = Arweave.init({});
  const jwk = key.export({ format: 'jwk' }) as JWKInterface;
  const made = await client.createTransaction({ data, last_tx: 'A'.repeat(64), reward: '1' }, jwk);
  for (const { name, value } of tags) made.addTag(name, value);
  await client.transactions.sign(made, jwk);
  return { id: made.id, held: { transaction: { ...made.toJSON(), data: '' }, data } };
}

/** Answers as an ar.io gateway: `/tx`, `/raw`, `/<id>` and `/graphql`. */
export async function answerAsGateway(
  held: ReadonlyMap<string, Held>,
  url: string,
  body: string,
  response: ServerResponse,
): Promise<void> {
  const json = (value: unknown) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (url === '/graphql') {
    const { variables } = JSON.parse(body) as { variables: { ids: string[] } };
    const nodes = variables.ids.flatMap((id) => held.get(id)?.node ?? []);
    return json({ data: { transactions: { edges: nodes.map((node) => ({ node })) } } });
  }
  const [, id = ''] = /^\/(?:tx\/|raw\/)?([\w-]{43})$/.exec(url) ?? [];
  const one = held.get(id);
  if (one === undefined) return void response.writeHead(404).end('Not Found');
  if (!url.startsWith('/tx/')) return void response.writeHead(200).end(one.data);
  return one.transaction ? json(one.transaction) : void response.writeHead(404).end('Not Found.');
}

/**
 * Takes a data item as a bundler does (`POST /tx/arweave`): reads its binary form, refuses one whose signature is wrong, and
 * hands it to a gateway.
 */
export async function answerAsBundler(
  request: IncomingMessage,
  response: ServerResponse,
  take: (id: string, held: Held) => void,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (request.method !== 'POST' || request.url !== '/v1/tx/arweave') {
    return void response.writeHead(404).end();
  }
  const { header, data } = parseItem(Buffer.concat(chunks));
  const id = idOf(header.signature);
  if (!(await isDataOfItem(id, header, data))) return void response.writeHead(400).end('Invalid Data Item!');
  const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  const node = {
    id,
    anchor: '',
    signature: base64url(header.signature),
    recipient: '',
    owner: { key: base64url(header.owner) },
    tags: header.tags,
  };
  take(id, { node, data });
  return void response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ id, timestamp: 1, winc: '0', version: '0.2.0', deadlineHeight: 1 }));
}

/** The parts of an item that an RSA key signed, without target and anchor (ANS-104, section 1.3). */
function parseItem(bytes: Buffer): { header: DataItemHeader; data: Buffer } {
  if (bytes.readUInt16LE(0) !== 1 || bytes[1_026] !== 0 || bytes[1_027] !== 0)
    throw new Error('another item');
  const count = Number(bytes.readBigUInt64LE(1_028));
  const tagBytes = Number(bytes.readBigUInt64LE(1_036));
  let at = 1_044;
  const long = (): number => {
    let value = 0;
    let shift = 1;
    for (let more = true; more; shift *= 128) {
      const byte = bytes[at] ?? 0;
      at += 1;
      value += (byte & 127) * shift;
      more = byte >= 128;
    }
    return value / 2;
  };
  const word = (): string => {
    const length = long();
    at += length;
    return bytes.toString('utf8', at - length, at);
  };
  if (long() !== count) throw new Error('another number of tags');
  const tags = Array.from({ length: count }, () => ({ name: word(), value: word() }));
  if (long() !== 0 || at !== 1_044 + tagBytes) throw new Error('another size of tags');
  const nothing = Buffer.alloc(0);
  const header = {
    signature: bytes.subarray(2, 514),
    owner: bytes.subarray(514, 1_026),
    target: nothing,
    anchor: nothing,
    tags,
  };
  return { header, data: bytes.subarray(at) };
}
