import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
  marketplace?: string;
};

/** Version of this package. */
export const VERSION = manifest.version;

/** The default of AGENT_RENTAL_URL: the marketplace that served this package, else one on this machine. */
export const DEFAULT_URL = manifest.marketplace ?? 'http://127.0.0.1:8787';
