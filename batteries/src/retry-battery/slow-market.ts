import { setTimeout as delay } from 'node:timers/promises';
import { publish, rent } from '@agent-rental/sdk/solana';
import { textAgent } from '@agent-rental/test/support/agents/agents';
import { slowTask, startSlowAgents } from '@agent-rental/test/support/agents/slow-agents';
import { newStateDir, removeStateDir, startMarketplace } from '@agent-rental/test/support/marketplace';
import { newParticipant } from '@agent-rental/test/support/participant';

const PRICE_LAMPORTS = 250_000;
const POLL_MS = 50;

/** A renter with a balance of its own. */
interface Renter {
  readonly token: string;
  /** What each of its runs cost, in lamports, once none of them goes on. */
  costs(): Promise<number[]>;
}

/** A marketplace as `npm start` runs it, with an agent that takes as long as its task says. */
export interface Market {
  readonly mcpUrl: string;
  readonly agentId: string;
  newRenter(paidRuns: number): Promise<Renter>;
  stop(): Promise<void>;
}

/** Starts a marketplace and publishes the agent. */
export async function openMarket(): Promise<Market> {
  const agents = await startSlowAgents();
  const stateDir = await newStateDir();
  const marketplace = await startMarketplace(stateDir, {
    MODEL_BASE_URL: agents.modelUrl,
    MODEL_NAME: 'stand-in',
  });
  const stop = async (): Promise<void> => {
    await marketplace.stop();
    await agents.close();
    await removeStateDir(stateDir);
  };
  try {
    const creator = await newParticipant(marketplace);
    const { job_id: jobId } = await creator.client.registerAgent(
      textAgent(agents.modelUrl, {
        timeout_seconds: 300,
        model_key: 'a-key',
        listing: { rental_model: 'per_query', price_lamports: PRICE_LAMPORTS },
      }),
    );
    let job = await creator.client.getJob(jobId);
    while (job.status === 'queued') {
      await delay(POLL_MS);
      job = await creator.client.getJob(jobId);
    }
    const agentId = job.result?.listing_id;
    if (agentId === undefined) throw new Error(JSON.stringify(job.error));
    await publish(creator.client, creator.signer, agentId);
    return {
      mcpUrl: `${marketplace.dev.base_url}/mcp`,
      agentId,
      async newRenter(paidRuns) {
        const { client, signer, token } = await newParticipant(marketplace);
        const listing = await client.getListing(agentId);
        const least = listing.min_deposit_lamports ?? PRICE_LAMPORTS;
        await rent(client, signer, agentId, {
          deposit_lamports: Math.max(least, paidRuns * PRICE_LAMPORTS),
        });
        // An empty balance is one that was used up.
        const used = paidRuns === 0 ? Math.ceil(least / PRICE_LAMPORTS) : 0;
        for (let runs = 0; runs < used; runs += 1) {
          await client.execute({ agent_id: agentId, task: slowTask(1, `used ${runs}`) });
        }
        return {
          token,
          async costs() {
            for (;;) {
              const { runs } = await client.listRuns({ limit: 100 });
              if (runs.every(({ status }) => status !== 'running')) {
                return runs.map(({ cost_lamports: cost }) => cost).slice(0, runs.length - used);
              }
              await delay(POLL_MS);
            }
          },
        };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
