import * as z from 'zod';
import type { OutboundHttp } from '../../platform/outbound-http.js';
import { ContentRefusal, ContentUnavailableError } from '../reading/content-errors.js';
import { AnswerTooLargeError, askGateway, GatewayError, readBytes } from '../reading/gateway-requests.js';
import { isDataOfItem, type DataItemHeader, type Tag } from './data-item.js';
import { checkTransaction } from './transaction.js';

/** Data of Arweave that was checked against its id. */
export interface ArweaveData {
  readonly bytes: Buffer;
  readonly tags: readonly Tag[];
}

/** Gateways of Arweave, and how they are called. */
export interface ArweaveGateways {
  /** Base URLs without a slash at the end, in the order in which they are asked. */
  readonly gateways: readonly string[];
  readonly outbound: OutboundHttp;
}

const HEADER_BYTES = 64 * 1024;
const HEADER_TIMEOUT_MS = 8_000;
const DATA_TIMEOUT_MS = 15_000;

const QUERY =
  'query($ids:[ID!]){transactions(ids:$ids){edges{node{id anchor signature recipient owner{key} tags{name value}}}}}';
const text = z.string().max(8_192);
const found = z.object({
  data: z.object({
    transactions: z.object({
      edges: z.array(
        z.object({
          node: z.object({
            id: text,
            anchor: text.nullish(),
            signature: text,
            recipient: text.nullish(),
            owner: z.object({ key: text }),
            tags: z.array(z.object({ name: text, value: text })).max(512),
          }),
        }),
      ),
    }),
  }),
});

/** One gateway's answer for an id. */
type Outcome = ArweaveData | 'missing' | 'mismatch' | 'too_large';

/**
 * Reads the data of a transaction or a data item from one gateway after the other, until one gives data that fits the id.
 *
 * @throws ContentRefusal for absent content, for content that does not match its id, and above `maxBytes`;
 * ContentUnavailableError where a gateway that might have it did not answer.
 */
export async function readArweaveData(
  { gateways, outbound }: ArweaveGateways,
  id: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<ArweaveData> {
  const outcomes = new Set<Outcome>();
  let failure: unknown;
  for (const gateway of gateways) {
    try {
      const outcome = await readFrom(gateway, id, maxBytes, { outbound, signal });
      if (typeof outcome === 'object') return outcome;
      outcomes.add(outcome);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      failure ??= error;
    }
  }
  if (outcomes.has('too_large')) throw tooLarge(maxBytes);
  if (failure !== undefined)
    throw new ContentUnavailableError('No Arweave gateway gives the content.', { cause: failure });
  throw new ContentRefusal(
    outcomes.has('mismatch')
      ? 'the content there does not match the id in the address'
      : 'there is no such content in the stores that are read here',
  );
}

/**
 * A gateway's data for an id, unchecked. A gateway that shows paths of a manifest at `/<id>` has its bytes at
 * `/raw/<id>`.
 *
 * @throws GatewayError
 */
export async function* dataFrom(
  gateway: string,
  id: string,
  maxBytes: number,
  { outbound, signal }: { outbound: OutboundHttp; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  let failure: unknown;
  for (const path of [`raw/${id}`, id]) {
    try {
      const request = { url: `${gateway}/${path}`, timeoutMs: DATA_TIMEOUT_MS, signal };
      const bytes = await askGateway(outbound, request, (response) => readBytes(response, maxBytes));
      if (bytes !== undefined) yield bytes;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure as Error;
}

async function readFrom(
  gateway: string,
  id: string,
  maxBytes: number,
  call: { outbound: OutboundHttp; signal: AbortSignal },
): Promise<Outcome> {
  const transaction = await checkTransaction(id, await transactionFrom(gateway, id, call));
  // Its size is signed, so that this gateway need not be believed.
  if (transaction !== undefined && transaction.sizeBytes > BigInt(maxBytes)) throw tooLarge(maxBytes);
  const item = transaction === undefined ? await itemFrom(gateway, id, call) : undefined;
  const tags = transaction?.tags ?? item?.tags;
  if (tags === undefined) return 'missing';
  let outcome: Outcome = 'missing';
  try {
    for await (const bytes of dataFrom(gateway, id, maxBytes, call)) {
      const isRight =
        transaction === undefined
          ? item !== undefined && (await isDataOfItem(id, item, bytes))
          : await transaction.isDataOf(bytes);
      if (isRight) return { bytes: Buffer.from(bytes), tags };
      outcome = 'mismatch';
    }
  } catch (error) {
    if (error instanceof AnswerTooLargeError) return 'too_large';
    throw error;
  }
  return outcome;
}

async function transactionFrom(
  gateway: string,
  id: string,
  { outbound, signal }: { outbound: OutboundHttp; signal: AbortSignal },
): Promise<unknown> {
  const request = { url: `${gateway}/tx/${id}`, timeoutMs: HEADER_TIMEOUT_MS, signal };
  try {
    return await askGateway(outbound, request, readJson);
  } catch (error) {
    // For a data item some gateways answer with an error or a plain word here; the index is asked next.
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** A data item as the index of a gateway knows it. @throws GatewayError */
async function itemFrom(
  gateway: string,
  id: string,
  { outbound, signal }: { outbound: OutboundHttp; signal: AbortSignal },
): Promise<DataItemHeader | undefined> {
  const given = await askGateway(
    outbound,
    {
      url: `${gateway}/graphql`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: QUERY, variables: { ids: [id] } }),
      timeoutMs: HEADER_TIMEOUT_MS,
      signal,
    },
    readJson,
  );
  if (given === undefined) return undefined;
  const parsed = found.safeParse(given);
  if (!parsed.success) throw new GatewayError('its index answers in an unknown form');
  const node = parsed.data.data.transactions.edges.find((edge) => edge.node.id === id)?.node;
  if (node === undefined) return undefined;
  const bytes = (value: string | null | undefined) => Buffer.from(value ?? '', 'base64url');
  return {
    signature: bytes(node.signature),
    owner: bytes(node.owner.key),
    target: bytes(node.recipient),
    anchor: bytes(node.anchor),
    tags: node.tags,
  };
}

async function readJson(response: Response): Promise<unknown> {
  const bytes = await readBytes(response, HEADER_BYTES);
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (cause) {
    throw new GatewayError('it answers with something else than JSON', { cause });
  }
}

function tooLarge(maxBytes: number): ContentRefusal {
  return new ContentRefusal(`it is larger than ${maxBytes} bytes`);
}
