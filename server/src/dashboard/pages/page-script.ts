import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompress, brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { PAGE_SCRIPT_PATH } from '@agent-rental/contract';

const text = readFileSync(
  fileURLToPath(new URL('../../../src/dashboard/generated/pages.js', import.meta.url)),
);
const gzip = gzipSync(text);
/** A quick one at first: the smallest, a tenth smaller, takes a second. */
let brotli = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
let isCompressing = false;

/** The script of the pages that need a wallet, as a client takes it. The first request starts the smallest form of it. */
export function pageScript(acceptEncoding: string | string[] | undefined): {
  body: Buffer;
  encoding?: 'br' | 'gzip';
} {
  const accepted = String(acceptEncoding);
  if (!isCompressing) {
    isCompressing = true;
    brotliCompress(text, (error, compressed) => {
      if (!error) brotli = compressed;
    });
  }
  if (/\bbr\b/.test(accepted)) return { body: brotli, encoding: 'br' };
  return /\bgzip\b/.test(accepted) ? { body: gzip, encoding: 'gzip' } : { body: text };
}

/** Where it is; the address changes with it, so that it is never asked for twice. */
export const PAGE_SCRIPT_URL = `${PAGE_SCRIPT_PATH}?v=${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`;
