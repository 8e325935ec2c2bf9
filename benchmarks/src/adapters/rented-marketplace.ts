import { findRunningPostgres } from '@agent-rental/server/testing';
import { publish, rent } from '@agent-rental/sdk/solana';
import { Pool } from 'pg';
import { until } from '@agent-rental/test/support/timing/until';
import { newStateDir, removeStateDir, startMarketplace } from '@agent-rental/test/support/marketplace';
import { newParticipant, type Participant } from '@agent-rental/test/support/participant';
import { startSlowAgents } from '@agent-rental/test/support/agents/slow-agents';
import { copyListings, rentCopies, reviseCopies } from './seed.js';

const PRICE_LAMPORTS = 2_000_000;

/** A wallet that has rented, and what lets a program act for it. */
export interface Caller {
  readonly baseUrl: string;
  readonly token: string;
}

/** A marketplace as `npm start` runs it. */
export interface RentedMarketplace {
  readonly mcpUrl: string;
  /** Wallets by how many typical listings they have rented. */
  readonly renters: ReadonlyMap<number, Caller>;
  /** Has rented one agent, which answers at once; it runs elsewhere, so that no sandbox is started. */
  readonly runner: Caller & { readonly agentId: string };
  /** Lets the typical listings change, so that nothing which was made of them is of use. */
  revise(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it, with wallets that have rented so many typical listings. */
export async function startRentedMarketplace(rentals: readonly number[]): Promise<RentedMarketplace> {
  const agents = await startSlowAgents();
  const stateDir = await newStateDir();
  const server = await startMarketplace(stateDir, {
    MODEL_BASE_URL: agents.modelUrl,
    MODEL_NAME: 'stand-in',
    RATE_LIMIT_PER_MINUTE: '1000000000',
    EXECUTIONS_PER_MINUTE: '1000000000',
    NODE_ENV: 'production',
    SANDBOX_MIN_ISOLATION: 'runtime',
  });
  const database = new Pool({ connectionString: findRunningPostgres(stateDir), max: 1 });
  const stop = async (): Promise<void> => {
    await database.end();
    await server.stop();
    await removeStateDir(stateDir);
    await agents.close();
  };
  try {
    const creator = await newParticipant(server);
    const baseUrl = server.dev.base_url;
    // Per task, whose tools say the most: each names its price.
    const template = await publishAgent(creator, agents.agentUrl, 'per_query');
    const holder = await newParticipant(server);
    await rent(holder.client, holder.signer, template, { deposit_lamports: 10 * PRICE_LAMPORTS });
    await copyListings(database, template, Math.max(...rentals));
    const renters = new Map<number, Caller>();
    for (const count of rentals) {
      const { token, signer } = await newParticipant(server);
      await rentCopies(database, holder.signer.address, signer.address, count);
      renters.set(count, { baseUrl, token });
    }
    await database.query('analyze');
    const runner = await newParticipant(server);
    // Paid for once: a run is as short as a run can be, and what a tool adds to it is the larger part.
    const agentId = await publishAgent(creator, agents.agentUrl, 'one_time');
    await rent(runner.client, runner.signer, agentId, { max_price_lamports: PRICE_LAMPORTS });
    let revision = 0;
    return {
      mcpUrl: server.dev.mcp_url,
      renters,
      runner: { baseUrl, token: runner.token, agentId },
      revise: async () => reviseCopies(database, ++revision),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Puts a connected agent on sale that answers at `url`; gives its listing's id. */
export async function publishAgent(
  { client, signer }: Participant,
  url: string,
  rental_model: 'one_time' | 'per_query',
): Promise<string> {
  const { job_id } = await client.registerAgent({
    name: 'quick-agent',
    category: 'research',
    description: 'Answers at once.',
    model: { provider: 'self_hosted', model: 'stand-in', endpoint_url: url },
    entrypoint_url: url,
    input_schema: {},
    output_schema: { type: 'string' },
    listing: { rental_model, price_lamports: PRICE_LAMPORTS, sample_output: ['A sample.'] },
  });
  const listingId = await until(async () => {
    const job = await client.getJob(job_id);
    if (job.status === 'failed') throw new Error(JSON.stringify(job.error));
    return job.result?.listing_id;
  });
  await publish(client, signer, listingId);
  return listingId;
}
