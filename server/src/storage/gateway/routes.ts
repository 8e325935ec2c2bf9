import { Readable } from 'node:stream';
import { CONTENT_PATH } from '@agent-rental/contract';
import { CarWriter } from '@ipld/car';
import * as dagJson from '@ipld/dag-json';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CID } from 'multiformats/cid';
import { identity } from 'multiformats/hashes/identity';
import { ApiError } from '../../errors/api-error.js';
import { CorruptBlockError, isCheckable, type BlockStore } from '../blocks/block-store.js';

/** The empty block, which clients ask for to recognize a gateway (trustless gateway specification, 4.1). */
const PROBE = 'bafkqaaa';

/** The media type of each form, by its name in `?format=`. */
const FORMATS = {
  raw: 'application/vnd.ipld.raw',
  car: 'application/vnd.ipld.car',
  json: 'application/json',
  'dag-json': 'application/vnd.ipld.dag-json',
} as const;
type Format = keyof typeof FORMATS;
const FORMAT_NAMES = Object.keys(FORMATS) as Format[];

/** Strangers wrote the content: a browser shows or saves it, and runs nothing of it. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  vary: 'Accept',
  // An address names the same bytes for ever.
  'cache-control': 'public, max-age=29030400, immutable',
};
const EXPOSED = ['ETag', 'Content-Disposition', 'X-Ipfs-Path', 'X-Ipfs-Roots'];

/**
 * Serves the server's own documents as a trustless gateway does (specs.ipfs.tech, "Trustless Gateway"). Each document is one
 * block, so a CAR has one block at every scope. The route reads nothing from elsewhere.
 */
export function contentRoutes(app: FastifyInstance, { blocks }: { blocks: BlockStore }): void {
  app.get(CONTENT_PATH, { config: { auth: 'none' } }, async (request, reply) => {
    const cid = parseRoot((request.params as { cid: string }).cid);
    const format = parseFormat(request) ?? (cid.code === dagJson.code ? 'json' : 'raw');
    const bytes = await readBlock(blocks, cid);
    if (format !== 'raw' && format !== 'car' && cid.code !== dagJson.code) {
      throw new ApiError('invalid_request', 'The content is no JSON document.', {
        next: 'Ask for ?format=raw or ?format=car.',
      });
    }
    return send(request, reply, { cid, format, bytes });
  });
}

function parseRoot(text: string): CID {
  let cid: CID;
  try {
    cid = CID.parse(text);
  } catch {
    throw new ApiError('invalid_request', 'That is no content identifier (CID).');
  }
  // An identity address would show its author's bytes under the name of this service.
  if (!isCheckable(cid) || (cid.multihash.code === identity.code && cid.toString() !== PROBE)) {
    throw new ApiError('invalid_request', 'Only content with a SHA-256 or SHA-512 hash is here.');
  }
  return cid;
}

/** `?format=` counts more than `Accept` (trustless gateway specification, section 2.2). A browser names neither. */
function parseFormat({ query, headers }: FastifyRequest): Format | undefined {
  const asked = query as Readonly<Record<string, unknown>>;
  const ranges = (headers.accept ?? '').slice(0, 2_000).toLowerCase().split(',');
  const [type, ...parameters] =
    ranges
      .map((range) => range.split(';').map((part) => part.trim()))
      .find(([name]) => FORMAT_NAMES.some((one) => FORMATS[one] === name)) ?? [];
  const name = asked['format'] ?? FORMAT_NAMES.find((one) => FORMATS[one] === type);
  if (name === undefined) return undefined;
  const format = FORMAT_NAMES.find((one) => one === name);
  if (format === undefined)
    throw new ApiError('invalid_request', 'format is one of raw, car, json, dag-json.');
  if (format === 'car') requireCar(asked, parameters);
  return format;
}

/** @throws ApiError for a CAR that this gateway does not make. */
function requireCar(query: Readonly<Record<string, unknown>>, parameters: readonly string[]): void {
  const given = (name: string) =>
    query[`car-${name}`] ?? parameters.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
  const known = [
    ['version', given('version'), ['1']],
    ['order', given('order'), ['dfs', 'unk']],
    ['dups', given('dups'), ['y', 'n']],
    ['dag-scope', query['dag-scope'], ['block', 'entity', 'all']],
  ] as const;
  for (const [name, value, values] of known) {
    if (value !== undefined && !values.some((one) => one === value))
      throw new ApiError('invalid_request', `The ${name} of a CAR is one of ${values.join(', ')}.`);
  }
}

async function readBlock(blocks: BlockStore, cid: CID): Promise<Uint8Array> {
  if (cid.multihash.code === identity.code) return cid.multihash.digest;
  const bytes = await blocks.get(cid).catch((error: unknown) => {
    if (!(error instanceof CorruptBlockError)) throw error;
    throw new ApiError('not_found', 'There is no such content: the stored bytes were changed.', {
      cause: error,
    });
  });
  if (bytes !== undefined) return bytes;
  throw new ApiError('not_found', 'There is no such content.', {
    next: 'Ask another gateway: this service serves only its own documents.',
  });
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { cid, format, bytes }: { cid: CID; format: Format; bytes: Uint8Array },
): FastifyReply {
  const tag = `"${cid.toString()}.${format}"`;
  const exposed = [reply.getHeader('access-control-expose-headers'), ...EXPOSED].filter(Boolean).join(', ');
  reply.headers({
    ...HEADERS,
    etag: tag,
    'x-ipfs-path': `/ipfs/${(request.params as { cid: string }).cid}`,
    'x-ipfs-roots': cid.toString(),
    'access-control-expose-headers': exposed,
  });
  if (isSame(request.headers['if-none-match'], tag)) return reply.code(304).send();
  const isCar = format === 'car';
  reply.header('content-type', isCar ? `${FORMATS.car}; version=1; order=dfs; dups=n` : FORMATS[format]);
  const name = format === 'raw' ? `${cid.toString()}.bin` : `${cid.toString()}.car`;
  const isSaved = isCar || format === 'raw';
  reply.header('content-disposition', isSaved ? `attachment; filename="${name}"` : 'inline');
  if (!isCar) return reply.send(Buffer.from(bytes));
  return reply.send(request.method === 'HEAD' ? Readable.from([]) : carOf(cid, bytes));
}

/** RFC 9110, section 13.1.2: a list of tags, compared weakly. */
function isSame(given: string | undefined, tag: string): boolean {
  const weak = (text: string) => text.trim().replace(/^W\//, '');
  return (given ?? '').split(',').some((one) => one.trim() === '*' || weak(one) === weak(tag));
}

/** A CAR of one block. An identity address holds its own bytes, so its CAR has none. */
function carOf(cid: CID, bytes: Uint8Array): Readable {
  const { writer, out } = CarWriter.create([cid]);
  const puts = cid.multihash.code === identity.code ? [] : [writer.put({ cid, bytes })];
  void Promise.all([...puts, writer.close()]);
  return Readable.from(out);
}
