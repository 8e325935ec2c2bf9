import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { CONTENT_PATH } from '@agent-rental/contract';
import * as dagJson from '@ipld/dag-json';
import { CarWriter } from '@ipld/car';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CID } from 'multiformats/cid';
import { identity } from 'multiformats/hashes/identity';
import { ApiError } from '../../errors/api-error.js';
import { CorruptBlockError, isCheckable, type BlockStore } from '../blocks/block-store.js';
import { fileContent, nodeOf, UnreadableNodeError } from '../unixfs.js';
import { answerForm, UnknownFormError, type AnswerForm } from './answer-form.js';
import {
  answerBlocks,
  blocksOf,
  ContentTooLargeError,
  MAX_ANSWER_BYTES,
  MAX_PATH_STEPS,
  MissingContentError,
  resolvePath,
  type NamedBlock,
} from './content-dag.js';

const JSON_CODE = 0x02_00;
/** The empty block that clients ask a gateway for, to see whether it is one (trustless gateway specification, 4.1). */
const PROBE = 'bafkqaaa';
/** Enough to see whether a file is text. */
const LOOKED_AT_BYTES = 4_096;

/** Content is bytes of strangers: it is shown as text, or saved, and never run, framed, or taken for a page of the service. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  vary: 'Accept',
};
/** What an address names never changes. */
const FOR_EVER = 'public, max-age=29030400, immutable';
const EXPOSED = ['ETag', 'Content-Disposition', 'X-Ipfs-Path', 'X-Ipfs-Roots'];

interface Asked {
  readonly reply: FastifyReply;
  readonly request: FastifyRequest;
  readonly store: BlockStore;
  readonly path: string;
  readonly resolved: { cid: CID; roots: CID[]; blocks: NamedBlock[] };
}

/**
 * Serves the server's own content as a trustless gateway does (specs.ipfs.tech, "Trustless Gateway"): blocks and CARs, which a
 * client checks by itself, and files and JSON for browsers. It reads nothing from elsewhere.
 */
export function contentRoutes(app: FastifyInstance, { blocks: store }: { blocks: BlockStore }): void {
  const handle = async (request: FastifyRequest, reply: FastifyReply) => {
    const params = request.params as { cid: string; '*'?: string };
    const steps = (params['*'] ?? '').split('/').filter((step) => step !== '');
    if (steps.length > MAX_PATH_STEPS) throw new ApiError('invalid_request', 'The path has too many steps.');
    try {
      const root = parseRoot(params.cid);
      const form = answerForm(request.query as Record<string, unknown>, request.headers.accept);
      const resolved = await resolvePath(store, root, steps);
      const path = ['/ipfs', params.cid, ...steps.map(encodeURIComponent)].join('/');
      return await answer(form, { reply, request, store, path, resolved });
    } catch (error) {
      throw toApiError(error);
    }
  };
  for (const path of [CONTENT_PATH, `${CONTENT_PATH}/*`]) app.get(path, { config: { auth: 'none' } }, handle);
}

function parseRoot(text: string): CID {
  let cid: CID;
  try {
    cid = CID.parse(text);
  } catch {
    throw new ApiError('invalid_request', 'That is no content identifier (CID).');
  }
  // Content inside of an address would be content of the caller, under the name of this service.
  if (!isCheckable(cid) || (cid.multihash.code === identity.code && cid.toString() !== PROBE)) {
    throw new ApiError('invalid_request', 'Only content with a SHA-256 or SHA-512 hash is here.');
  }
  return cid;
}

async function answer(form: AnswerForm, asked: Asked): Promise<FastifyReply> {
  const { cid } = asked.resolved;
  const { read } = answerBlocks(asked.store);
  switch (form.kind) {
    case 'raw': {
      const bytes = await read(cid);
      return send(asked, {
        tag: `"${cid.toString()}.raw"`,
        type: 'application/vnd.ipld.raw',
        saveAs: `${cid.toString()}.bin`,
        body: Buffer.from(bytes),
      });
    }
    case 'car': {
      // An answer that has started can only break off: what is not here at all is told before.
      await read(cid);
      const { scope, withRepeats } = form;
      const variant = createHash('sha256').update(`${asked.path} ${scope} ${withRepeats}`).digest('hex');
      return send(asked, {
        tag: `W/"${cid.toString()}.car.${variant.slice(0, 16)}"`,
        type: `application/vnd.ipld.car; version=1; order=dfs; dups=${withRepeats ? 'y' : 'n'}`,
        saveAs: `${cid.toString()}.car`,
        body: () => Readable.from(carOf(cid, blocksOf(asked.store, asked.resolved, form))),
      });
    }
    case 'json':
      if (cid.code !== dagJson.code && cid.code !== JSON_CODE) {
        throw new ApiError('invalid_request', 'The content is no JSON document.', {
          next: 'Ask for ?format=raw or ?format=car.',
        });
      }
      return send(asked, {
        tag: `"${cid.toString()}.${form.mediaType === 'application/json' ? 'json' : 'dag-json'}"`,
        type: form.mediaType,
        body: Buffer.from(await read(cid)),
      });
    case 'file':
      return sendFile(asked);
    default:
      return form satisfies never;
  }
}

async function sendFile(asked: Asked): Promise<FastifyReply> {
  const { cid } = asked.resolved;
  const { read } = answerBlocks(asked.store);
  const node = nodeOf(cid, await read(cid));
  switch (node.kind) {
    case 'directory':
      throw new ApiError('invalid_request', 'That is no file.', {
        next: 'Name a file inside, or ask for ?format=car.',
      });
    case 'document':
      return send(asked, {
        tag: `"${cid.toString()}"`,
        type: 'application/json',
        body: Buffer.from(node.bytes),
      });
    case 'file':
      break;
    default:
      return node satisfies never;
  }
  if (node.sizeBytes > MAX_ANSWER_BYTES) {
    throw new ContentTooLargeError(`it is larger than ${MAX_ANSWER_BYTES} bytes`);
  }
  const isText = await looksLikeText(fileContent(cid, read));
  return send(asked, {
    tag: `"${cid.toString()}"`,
    type: isText ? 'text/plain; charset=utf-8' : 'application/octet-stream',
    ...(isText ? {} : { saveAs: `${cid.toString()}.bin` }),
    length: Number(node.sizeBytes),
    body: () => Readable.from(fileContent(cid, read)),
  });
}

/** Whether a file begins as a text in UTF-8 does. */
async function looksLikeText(content: AsyncIterable<Uint8Array>): Promise<boolean> {
  const start: Uint8Array[] = [];
  let size = 0;
  for await (const part of content) {
    start.push(part.subarray(0, LOOKED_AT_BYTES - size));
    size += part.length;
    if (size >= LOOKED_AT_BYTES) break;
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(start), { stream: true });
    return !text.includes('\0');
  } catch {
    return false;
  }
}

function send(
  { request, reply, path, resolved }: Asked,
  content: { tag: string; type: string; saveAs?: string; length?: number; body: Buffer | (() => Readable) },
): FastifyReply {
  const { tag, type, saveAs, length, body } = content;
  const exposed = [reply.getHeader('access-control-expose-headers'), ...EXPOSED].filter(Boolean).join(', ');
  reply.headers({
    ...HEADERS,
    'cache-control': FOR_EVER,
    etag: tag,
    'x-ipfs-path': path,
    'x-ipfs-roots': resolved.roots.map((cid) => cid.toString()).join(','),
    'access-control-expose-headers': exposed,
  });
  if (isSame(request.headers['if-none-match'], tag)) return reply.code(304).send();
  reply.header('content-type', type);
  reply.header('content-disposition', saveAs === undefined ? 'inline' : `attachment; filename="${saveAs}"`);
  // To HEAD the framework sends the length of these bytes, and not the bytes.
  if (Buffer.isBuffer(body)) return reply.send(body);
  if (length !== undefined) reply.header('content-length', length);
  return reply.send(request.method === 'HEAD' ? Readable.from([]) : body());
}

/** RFC 9110, section 13.1.2: a list of tags, compared weakly. */
function isSame(given: string | undefined, tag: string): boolean {
  const weak = (text: string) => text.trim().replace(/^W\//, '');
  return (given ?? '').split(',').some((one) => one.trim() === '*' || weak(one) === weak(tag));
}

/** The bytes of a CAR. */
async function* carOf(root: CID, blocks: AsyncIterable<NamedBlock>): AsyncGenerator<Uint8Array> {
  const { writer, out } = CarWriter.create([root]);
  const filled = (async () => {
    try {
      for await (const block of blocks) await writer.put(block);
      return undefined;
    } catch (error) {
      return error;
    } finally {
      await writer.close();
    }
  })();
  yield* out;
  const failure = await filled;
  if (failure !== undefined) throw failure as Error;
}

function toApiError(error: unknown): unknown {
  if (error instanceof UnknownFormError) return new ApiError('invalid_request', `${error.message}.`);
  if (error instanceof UnreadableNodeError)
    return new ApiError('invalid_request', 'That is no file.', {
      next: 'Ask for ?format=raw or ?format=car.',
    });
  if (error instanceof MissingContentError) {
    return new ApiError('not_found', `There is no such content: ${error.message}.`, {
      next: 'Only what this service stored itself is here.',
    });
  }
  if (error instanceof ContentTooLargeError) {
    return new ApiError('invalid_request', `The content is not served in one answer: ${error.message}.`, {
      next: 'Ask for its blocks, one by one, with ?format=raw.',
    });
  }
  if (error instanceof CorruptBlockError)
    return new ApiError('not_found', 'There is no such content: what is stored was changed.', {
      cause: error,
    });
  return error;
}
