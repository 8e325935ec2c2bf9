import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { PAY_SCRIPT_PATH } from '@agent-rental/contract';

const text = readFileSync(fileURLToPath(new URL('../../../src/dashboard/generated/pay.js', import.meta.url)));

/** The script of the rental's page, as it is sent. */
export const PAY_SCRIPT = { plain: text, gzip: gzipSync(text) };

/** Where it is; the address changes with it, so that it is never asked for twice. */
export const PAY_SCRIPT_URL = `${PAY_SCRIPT_PATH}?v=${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`;
