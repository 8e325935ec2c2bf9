import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { ReadyExamples } from './examples/examples.js';

/** The values of a running embedded server that scripts need. */
export interface DevFile {
  base_url: string;
  mcp_url: string;
  rpc_url: string;
  ws_url: string;
  program_id: string;
  wallets: { creator: string; renter: string } | null;
  api_key_file: string | null;
  listings: ReadyExamples['listings'];
}

const pathIn = (stateDir: string) => join(stateDir, 'dev.json');

/** Writes `dev.json` once the server is ready, readable by its owner alone. */
export async function writeDevFile(stateDir: string, content: DevFile): Promise<string> {
  const path = pathIn(stateDir);
  await writeFile(`${path}.tmp`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.tmp`, path);
  return path;
}

const known = z.object({ base_url: z.url(), rpc_url: z.url(), program_id: z.string() });

/** Reads how a running embedded server is reached; undefined where none is ready on that state folder. */
export async function readDevFile(stateDir: string): Promise<z.output<typeof known> | undefined> {
  const text = await readFile(pathIn(stateDir), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : known.parse(JSON.parse(text));
}

/** Removes it, so that its presence means a server that was ready. */
export async function removeDevFile(stateDir: string): Promise<void> {
  await rm(pathIn(stateDir), { force: true });
}
