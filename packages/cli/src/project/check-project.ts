import { checkAgent, type AgentFault, type CheckedAgent } from '@agent-rental/sdk/creator';
import type { CliEnvironment } from '../cli-environment.js';
import { CommandError } from '../errors.js';
import { writtenFault } from '../words.js';
import { readAgentProject, type AgentProject } from './agent-file.js';
import { schemaFaults } from './schema-faults.js';

/** The folder's agent with the result of its checks. */
export interface CheckedProject extends Pick<CheckedAgent, 'advice'> {
  readonly project: AgentProject;
}

/**
 * Reads the folder's agent, and checks all of it that needs no marketplace.
 *
 * @param minQueryPriceLamports the marketplace's least price of a Per-Task listing; default: the usual one
 * @throws CommandError with every fault
 */
export async function checkedProject(
  folder: string,
  minQueryPriceLamports?: number,
): Promise<CheckedProject> {
  const project = readAgentProject(folder);
  const { faults, advice } = checkAgent(project.body, minQueryPriceLamports);
  const all: AgentFault[] = [...project.faults, ...faults, ...(await schemaFaults(project.body))];
  if (all.length > 0) throw new CommandError(`agent.json is not right: ${all.map(writtenFault).join('; ')}`);
  return { project, advice };
}

/** The same for a command that goes on: prints the notes. */
export async function projectToSend(
  environment: CliEnvironment,
  minQueryPriceLamports: number,
): Promise<AgentProject> {
  const { project } = await checkedProject(environment.folder, minQueryPriceLamports);
  for (const note of project.notes) environment.err(note);
  return project;
}
