import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { publish, rent } from '@agent-rental/sdk/solana';
import { until } from '@agent-rental/test/support/busy-marketplace';
import { newStateDir, removeStateDir, startMarketplace } from '@agent-rental/test/support/marketplace';
import { newParticipant, type Participant } from '@agent-rental/test/support/participant';
import type { PublicTool } from '../list-tools.js';
import { ECHO_MARK } from './judge-calls.js';

/** As many as the service lets one wallet publish, and its airdrop pays for. */
const LISTINGS_EACH = 25;
const PRICE_LAMPORTS = 100_000;

/** A tool that the service did not publish, with its error. */
export interface Unpublished {
  readonly tool: string;
  readonly error: string;
}

/** A tool as a listing. */
interface EchoListing {
  readonly agentId: string;
  readonly tool: PublicTool;
}

type Published = EchoListing | Unpublished;

/** A marketplace whose agents return their input, and a renter that has rented all of them. */
export interface EchoMarket {
  readonly mcpUrl: string;
  readonly token: string;
  readonly listings: readonly EchoListing[];
  readonly unpublished: readonly Unpublished[];
  /** The input that arrived with a task. */
  readonly arrived: ReadonlyMap<string, unknown>;
  stop(): Promise<void>;
}

/** Starts a marketplace as `npm start` runs it, and publishes each tool as a listing with its schema as it is. */
export async function openEchoMarket(tools: readonly PublicTool[]): Promise<EchoMarket> {
  const arrived = new Map<string, unknown>();
  const agent = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { task, input } = JSON.parse(body) as { task: string; input?: unknown };
      arrived.set(task, input);
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ [ECHO_MARK]: task, input: input ?? null }));
    });
  }).listen(0, '127.0.0.1');
  await once(agent, 'listening');
  const origin = `http://127.0.0.1:${(agent.address() as AddressInfo).port}`;
  const stateDir = await newStateDir();
  const closeAgent = async (): Promise<void> => {
    agent.close();
    agent.closeAllConnections();
    await once(agent, 'close');
  };
  // Names the address of the agent as one that the service may call.
  const env = { MODEL_BASE_URL: `${origin}/v1`, MODEL_NAME: 'none' };
  const marketplace = await startMarketplace(stateDir, env);
  const stop = async (): Promise<void> => {
    await marketplace.stop();
    await closeAgent();
    await removeStateDir(stateDir);
  };
  try {
    const renter = await newParticipant(marketplace);
    const groups = Array.from({ length: Math.ceil(tools.length / LISTINGS_EACH) }, (_, group) =>
      tools.slice(group * LISTINGS_EACH, (group + 1) * LISTINGS_EACH),
    );
    const published = await Promise.all(
      groups.map(async (group) => {
        const creator = await newParticipant(marketplace);
        return inTurn(group, async (tool): Promise<Published> => {
          try {
            const agentId = await publishEcho(creator, tool, origin);
            await rent(renter.client, renter.signer, agentId, { max_price_lamports: PRICE_LAMPORTS });
            return { agentId, tool };
          } catch (error) {
            return { tool: tool.name, error: String(error) };
          }
        });
      }),
    );
    const all = published.flat();
    const listings = all.filter((one) => 'agentId' in one);
    const unpublished = all.filter((one) => 'error' in one);
    const mcpUrl = `${marketplace.dev.base_url}/mcp`;
    return { mcpUrl, token: renter.token, listings, unpublished, arrived, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function publishEcho(
  { client, signer }: Participant,
  { inputSchema }: PublicTool,
  origin: string,
): Promise<string> {
  const { job_id: jobId } = await client.registerAgent({
    name: 'echo',
    category: 'research',
    description: 'Returns its input.',
    model: { provider: 'self_hosted', endpoint_url: origin },
    entrypoint_url: `${origin}/agent`,
    input_schema: inputSchema,
    output_schema: { type: 'object' },
    listing: { rental_model: 'one_time', price_lamports: PRICE_LAMPORTS, sample_output: ['{}'] },
  });
  const agentId = await until(async () => {
    const job = await client.getJob(jobId);
    if (job.status === 'failed') throw new Error(JSON.stringify(job.error));
    return job.result?.listing_id;
  });
  // More agents than a wallet gets probes for in a day.
  await publish(client, signer, agentId, { unverified: true });
  return agentId;
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
