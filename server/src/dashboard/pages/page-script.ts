import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompress, gzipSync } from 'node:zlib';
import { PAGE_SCRIPT_PATH } from '@agent-rental/contract';

const text = readFileSync(
  fileURLToPath(new URL('../../../src/dashboard/generated/pages.js', import.meta.url)),
);
const gzip = gzipSync(text);
let brotli: Buffer | undefined;
let isCompressing = false;

/**
 * The script of the pages that need a wallet, as a client takes it. Brotli is a sixth smaller than gzip and takes a second, so
 * the first request begins it, and those until its end get gzip.
 */
export function pageScript(acceptEncoding: string | string[] | undefined): {
  body: Buffer;
  encoding?: 'br' | 'gzip';
} {
  const accepted = String(acceptEncoding);
  if (!isCompressing) {
    isCompressing = true;
    brotliCompress(text, (_, compressed) => (brotli = compressed));
  }
  if (brotli !== undefined && /\bbr\b/.test(accepted)) return { body: brotli, encoding: 'br' };
  return /\bgzip\b/.test(accepted) ? { body: gzip, encoding: 'gzip' } : { body: text };
}

/** Where it is; the address changes with it, so that it is never asked for twice. */
export const PAGE_SCRIPT_URL = `${PAGE_SCRIPT_PATH}?v=${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`;
