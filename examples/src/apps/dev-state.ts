import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecuteBody } from '@agent-rental/contract';

/** The addresses and files of the marketplace on this machine (`npm start`). */
interface DevState {
  base_url: string;
  mcp_url: string;
  /** The local chain's RPC endpoint. */
  rpc_url: string;
  /** Its marketplace program. */
  program_id: string;
  /** Keypair files of ready-made wallets. */
  wallets: { creator: string; renter: string };
  /** The renter's API key. */
  api_key_file: string;
  /** The example agents, which the renter has rented. */
  listings: { id: string; title: string; sample_task: string; sample_request_file: string }[];
}

/**
 * Reads `.agent-rental/dev.json`, or what `AGENT_RENTAL_STATE` names: that file or its folder.
 *
 * @throws Error when no marketplace has been started.
 */
export async function readDevState(): Promise<DevState> {
  const given = process.env['AGENT_RENTAL_STATE'] || '.agent-rental';
  const path = given.endsWith('.json') ? given : join(given, 'dev.json');
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const hint = 'Start the marketplace with npm start, and run this in the same folder.';
    throw new Error(`${path} cannot be read. ${hint}`, { cause: error });
  });
  return JSON.parse(text) as DevState;
}

/** The id of an example agent's listing, and a request for it that works. */
export async function sampleRequest(
  state: DevState,
  agent: 'expense-reconciler' | 'source-reviewer' | 'contract-dates',
): Promise<ExecuteBody & { input: Record<string, string> }> {
  const listing = state.listings.find(({ id }) => id.startsWith(`${agent}-`));
  if (listing === undefined) throw new Error(`The agent ${agent} is not published here.`);
  return JSON.parse(await readFile(listing.sample_request_file, 'utf8')) as Awaited<
    ReturnType<typeof sampleRequest>
  >;
}

/** Writes a line to standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
