import type { ContentBlock } from '@modelcontextprotocol/server';
import { dataUrl } from './data-url.js';
import { runUri } from './resources.js';

/** Most files that are taken out of one output. */
const MAX_FILES = 20;

/** An output and its files. */
interface SplitOutput {
  /** The output with the address of each file in the file's place. */
  readonly value: unknown;
  readonly files: readonly ContentBlock[];
}

/** Takes the files out of an output. So a client shows pictures and plays sounds, and no model reads base64. */
export function splitFiles(output: unknown, runId: string): SplitOutput {
  const files: ContentBlock[] = [];
  const take = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const file = files.length < MAX_FILES ? dataUrl(value) : undefined;
      if (file === undefined) return value;
      const uri = `${runUri(runId)}#file-${files.length + 1}`;
      files.push(block(uri, file.mediaType, file.data));
      return uri;
    }
    if (Array.isArray(value)) return value.map(take);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, take(item)]));
  };
  return { value: take(output), files };
}

function block(uri: string, mimeType: string, data: string): ContentBlock {
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType };
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType };
  const isText = mimeType.startsWith('text/') || mimeType === 'application/json';
  const content = isText ? { text: Buffer.from(data, 'base64').toString('utf8') } : { blob: data };
  return { type: 'resource', resource: { uri, mimeType, ...content } };
}
