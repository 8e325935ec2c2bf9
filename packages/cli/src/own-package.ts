import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of this package. */
export const PACKAGE_FOLDER = fileURLToPath(new URL('..', import.meta.url));

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
  marketplace?: string;
};

/** Version of this package. */
export const VERSION = manifest.version;

/** The marketplace of commands that name none: the one that served this package, else one on this machine. */
export const DEFAULT_URL = manifest.marketplace ?? 'http://127.0.0.1:8787';
