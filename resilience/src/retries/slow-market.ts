import { rent } from '@agent-rental/sdk/solana';
import { PRICE, publishAgent, textAgent } from '@agent-rental/test/support/agents/agents';
import { slowTask, startSlowAgents } from '@agent-rental/test/support/agents/slow-agents';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  withoutExamples,
} from '@agent-rental/test/support/marketplace';
import { newParticipant } from '@agent-rental/test/support/participant';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import { until } from '@agent-rental/test/support/timing/until';

/** A marketplace like `npm start`'s, with agents whose tasks say how long they work. */
export type Market = Awaited<ReturnType<typeof openMarket>>;
export type Renter = Awaited<ReturnType<Market['newRenter']>>;

/**
 * Starts a marketplace and publishes the agents.
 *
 * @param agentCount listings that share the callers. A listing runs 20 tasks at once, and queues the others.
 */
export async function openMarket(agentCount = 1) {
  const agents = await startSlowAgents();
  const stateDir = await newStateDir();
  const env = withoutExamples(agents.modelUrl);
  const marketplace = await startMarketplace(stateDir, env);
  const stop = async (): Promise<void> => {
    await marketplace.stop();
    await agents.close();
    await removeStateDir(stateDir);
  };
  try {
    const creator = await newParticipant(marketplace);
    const agent = textAgent(agents.modelUrl, { timeout_seconds: 300, model_key: 'a-key' });
    const agentIds = await inParallel(Array(agentCount), 1, () => publishAgent(creator, agent));
    let renters = 0;
    return {
      mcpUrl: `${marketplace.dev.base_url}/mcp`,
      /** Makes a renter and rents an agent for it. The agents take turns. */
      async newRenter(paidRuns: number) {
        const agentId = agentIds[renters++ % agentIds.length] as string;
        const { client, signer, token } = await newParticipant(marketplace);
        const listing = await client.getListing(agentId);
        const least = listing.min_deposit_lamports ?? PRICE;
        await rent(client, signer, agentId, { deposit_lamports: Math.max(least, paidRuns * PRICE) });
        // A deposit has a minimum, so an empty balance must be used up.
        const used = paidRuns === 0 ? Math.ceil(least / PRICE) : 0;
        for (let runs = 0; runs < used; runs += 1)
          await client.execute({ agent_id: agentId, task: slowTask(1, `used ${runs}`) });
        return {
          token,
          agentId,
          /** The starts and ends of its runs, as lines that start with a time. */
          async times() {
            const { runs } = await client.listRuns({ limit: 100 });
            return runs.flatMap(({ run_id: id, created_at: began, finished_at: ended }) => [
              `${began} run ${id} began`,
              `${ended} run ${id} ended`,
            ]);
          },
          /** Waits for the end of its runs. @returns their costs in lamports. */
          costs: () =>
            until(async () => {
              const { runs } = await client.listRuns({ limit: 100 });
              if (runs.some(({ status }) => status === 'running')) return undefined;
              return runs.map(({ cost_lamports: cost }) => cost).slice(0, runs.length - used);
            }, 10 * 60_000),
        };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
