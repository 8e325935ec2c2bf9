import { checkAgent, type AgentFault, type CheckedAgent } from '@agent-rental/sdk/creator';
import type { CliEnvironment } from '../cli-environment.js';
import { CommandError } from '../errors.js';
import { isLoopback, type Connected } from '../marketplace.js';
import { writtenFault } from '../words.js';
import { readAgentProject, type AgentProject } from './agent-file.js';
import { schemaFaults } from './schema-faults.js';

/** The folder's agent with the result of its checks. */
export interface CheckedProject extends Pick<CheckedAgent, 'advice'> {
  readonly project: AgentProject;
}

/** The rules of one marketplace, which refuse more than the general ones do. */
interface MarketRules {
  readonly minQueryPriceLamports: number;
  /** Finds faults that this marketplace alone refuses. */
  faultsOf(project: AgentProject): AgentFault[];
}

/**
 * Reads the folder's agent, and checks all of it.
 *
 * @param rules absent: the rules of all marketplaces
 * @throws CommandError with every fault
 */
export async function checkedProject(folder: string, rules?: MarketRules): Promise<CheckedProject> {
  const project = readAgentProject(folder);
  const { faults, advice } = checkAgent(project.body, rules?.minQueryPriceLamports);
  const all = [
    ...project.faults,
    ...faults,
    ...(await schemaFaults(project.body)),
    ...(rules?.faultsOf(project) ?? []),
  ];
  if (all.length > 0) throw new CommandError(`agent.json is not right: ${all.map(writtenFault).join('; ')}`);
  return { project, advice };
}

type Network = Awaited<ReturnType<Connected['client']['getNetwork']>>;

/**
 * The same for a command that sends the agent to a marketplace: by its rules, and prints the notes.
 *
 * @param more finds further faults of the command
 */
export async function projectToSend(
  { client, url }: Pick<Connected, 'client' | 'url'>,
  environment: CliEnvironment,
  more: (project: AgentProject) => AgentFault[] = () => [],
): Promise<{ project: AgentProject; network: Network }> {
  const network = await client.getNetwork({ signal: environment.signal });
  const { project } = await checkedProject(environment.folder, {
    minQueryPriceLamports: network.min_query_price_lamports,
    faultsOf: (read) => [
      ...toolFaults(read, network.unserved_tools),
      ...loopbackFaults(read, url),
      ...more(read),
    ],
  });
  for (const note of project.notes) environment.err(note);
  return { project, network };
}

function toolFaults({ body }: AgentProject, unserved: readonly { name: string; reason: string }[]) {
  const tools: unknown[] = Array.isArray(body['tools']) ? body['tools'] : [];
  return tools.flatMap((tool, index) => {
    const found = unserved.find(({ name }) => name === (Object(tool) as { name?: unknown }).name);
    if (found === undefined) return [];
    return [{ path: `tools.${index}.name`, message: `${found.name} is not served here: ${found.reason}` }];
  });
}

/** An agent of this machine, for a marketplace elsewhere. */
function loopbackFaults({ body }: AgentProject, marketUrl: string): AgentFault[] {
  const path = body['system_prompt'] === undefined ? 'entrypoint_url' : 'model.endpoint_url';
  const url = path === 'entrypoint_url' ? body[path] : Object(body['model']).endpoint_url;
  const isHere = typeof url === 'string' && URL.canParse(url) && isLoopback(url);
  if (isLoopback(marketUrl) || !isHere) return [];
  return [{ path, message: `is on this machine, and ${marketUrl} cannot call it` }];
}
