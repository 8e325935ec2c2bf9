import { rent } from '@agent-rental/sdk/solana';
import { listenNode } from '@agent-rental/stand-in';
import { publishAgent } from '@agent-rental/test/support/agents/agents';
import { newStateDir, removeStateDir, startMarketplace } from '@agent-rental/test/support/marketplace';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import { newParticipant, type Participant } from '@agent-rental/test/support/participant';
import type { PublicTool } from '../list-tools.js';
import { ECHO_MARK } from './judge-calls.js';

/** Listings per creator: within the service's limit and the creator's airdrop. */
const LISTINGS_EACH = 25;
const PRICE_LAMPORTS = 100_000;

/** A published tool, or a tool that the service did not publish. */
type Published = { agentId: string; tool: PublicTool } | { tool: string; error: string };

/** A marketplace whose agents return their input, and a renter that has rented all of them. */
export type EchoMarket = Awaited<ReturnType<typeof openEchoMarket>>;

/** Starts a marketplace like `npm start`, and publishes each tool as a listing with its unchanged schema. */
export async function openEchoMarket(tools: readonly PublicTool[]) {
  /** The input that arrived with a task. */
  const arrived = new Map<string, unknown>();
  const agent = await listenNode(async (request) => {
    const { task, input } = (await request.json()) as { task: string; input?: unknown };
    arrived.set(task, input);
    return Response.json({ [ECHO_MARK]: task, input: input ?? null });
  });
  const origin = agent.baseUrl;
  const stateDir = await newStateDir();
  // Lets the service call the agent's address.
  const env = { MODEL_BASE_URL: `${origin}/v1`, MODEL_NAME: 'none' };
  const marketplace = await startMarketplace(stateDir, env);
  const stop = async (): Promise<void> => {
    await marketplace.stop();
    await agent.close();
    await removeStateDir(stateDir);
  };
  try {
    const renter = await newParticipant(marketplace);
    const groups = Array.from({ length: Math.ceil(tools.length / LISTINGS_EACH) }, (_, group) =>
      tools.slice(group * LISTINGS_EACH, (group + 1) * LISTINGS_EACH),
    );
    const published = await inParallel(groups, groups.length, async (group) => {
      const creator = await newParticipant(marketplace);
      return inParallel(group, 1, async (tool): Promise<Published> => {
        try {
          const agentId = await publishEcho(creator, tool, origin);
          await rent(renter.client, renter.signer, agentId, { max_price_lamports: PRICE_LAMPORTS });
          return { agentId, tool };
        } catch (error) {
          return { tool: tool.name, error: String(error) };
        }
      });
    });
    const listings = published.flat().filter((one) => 'agentId' in one);
    const unpublished = published.flat().filter((one) => 'error' in one);
    const mcpUrl = `${marketplace.dev.base_url}/mcp`;
    return { mcpUrl, token: renter.token, listings, unpublished, arrived, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function publishEcho(creator: Participant, { inputSchema }: PublicTool, origin: string): Promise<string> {
  const body = {
    name: 'echo',
    category: 'research',
    description: 'Returns its input.',
    model: { provider: 'self_hosted', endpoint_url: origin },
    entrypoint_url: `${origin}/agent`,
    input_schema: inputSchema,
    output_schema: { type: 'object' },
    listing: { rental_model: 'one_time', price_lamports: PRICE_LAMPORTS, sample_output: ['{}'] },
  };
  // Unverified, because there are more agents than a wallet's daily probes.
  return publishAgent(creator, body, { unverified: true });
}
