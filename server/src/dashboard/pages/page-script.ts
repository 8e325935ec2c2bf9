import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { PAGE_SCRIPT_PATH } from '@agent-rental/contract';

const text = readFileSync(
  fileURLToPath(new URL('../../../src/dashboard/generated/pages.js', import.meta.url)),
);

/** The script of the pages that need a wallet, as it is sent. */
export const PAGE_SCRIPT = { plain: text, gzip: gzipSync(text) };

/** Where it is; the address changes with it, so that it is never asked for twice. */
export const PAGE_SCRIPT_URL = `${PAGE_SCRIPT_PATH}?v=${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`;
