import * as z from 'zod';
import { createDeadline } from '@agent-rental/contract';
import { readArweaveData, type ArweaveData, type ArweaveGateways } from './arweave-gateway.js';
import { ContentRefusal, ContentUnavailableError } from '../reading/content-errors.js';
import type { ContentLimits, ReadContent } from '../reading/read-content.js';

const TIME_MS = 30_000;
const MANIFEST_TYPE = 'application/x.arweave-manifest+json';
const ID = /^[\w-]{43}$/;
/** `type/subtype` of a Content-Type (RFC 9110, section 8.3.1). */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}$/;

const manifest = z.object({ paths: z.record(z.string(), z.object({ id: z.string().regex(ID) })) });

/**
 * Reads `ar://<id>[/path]`: the data of a transaction or a data item, or the file of a path manifest.
 *
 * @throws ContentRefusal, ContentUnavailableError
 */
export async function readArweave(
  from: ArweaveGateways,
  uri: string,
  limits: ContentLimits,
): Promise<ReadContent> {
  const { id, path } = parseAddress(uri);
  const deadline = createDeadline(TIME_MS);
  try {
    const read = (one: string) => readArweaveData(from, one, limits.fileBytes, deadline.signal);
    const first = await read(id);
    const data = path === undefined ? first : await read(targetOf(first, path));
    return { kind: 'file', bytes: data.bytes, mediaType: mediaTypeOf(data) };
  } catch (error) {
    if (deadline.isOver) throw new ContentUnavailableError('Reading the content takes too long.');
    throw error;
  } finally {
    deadline.clear();
  }
}

/** @throws ContentRefusal */
function parseAddress(uri: string): { id: string; path: string | undefined } {
  const [, id = '', rest = ''] = /^ar:\/\/([^/?#]+)(?:\/([^?#]*))?$/.exec(uri) ?? [];
  if (!ID.test(id))
    throw new ContentRefusal('it is not an address of the form ar://<id> or ar://<id>/<path>');
  try {
    return { id, path: rest === '' ? undefined : decodeURIComponent(rest) };
  } catch {
    throw new ContentRefusal('its path is not allowed');
  }
}

/** The id that a path manifest (arweave/paths) gives for a path. @throws ContentRefusal */
function targetOf(data: ArweaveData, path: string): string {
  if (mediaTypeOf(data) !== MANIFEST_TYPE) throw new ContentRefusal('the path leads into a file');
  const nowhere = () => new ContentRefusal('the path leads nowhere');
  let paths: z.output<typeof manifest>['paths'];
  try {
    ({ paths } = manifest.parse(JSON.parse(data.bytes.toString('utf8'))));
  } catch {
    throw nowhere();
  }
  const target = Object.hasOwn(paths, path) ? paths[path] : undefined;
  if (target === undefined) throw nowhere();
  return target.id;
}

/** The owner's declaration. */
function mediaTypeOf({ tags }: ArweaveData): string {
  const said = tags.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? '';
  const type = said.split(';')[0]?.trim().toLowerCase() ?? '';
  return MEDIA_TYPE.test(type) ? type : 'application/octet-stream';
}
