import { createClient, type RentalClient } from '@agent-rental/sdk';
import { clientOptions, type StandIn } from '@agent-rental/stand-in';
import type { RentedTool } from '../definitions/rented-tool.js';
import { rentedToolset, type ToolsetOptions } from '../toolset.js';

/** A client of a stand-in, with other methods in the place of some. */
export const clientOf = (
  standIn: Pick<StandIn, 'fetch'>,
  changes: Partial<RentalClient> = {},
): RentalClient => ({ ...createClient(clientOptions(standIn)), ...changes });

/** The toolset over a marketplace, and its fixed tools by name. */
export function toolsOf(client: RentalClient, options: ToolsetOptions = {}) {
  const toolset = rentedToolset(client, options);
  const named = (name: string): RentedTool => {
    const tool = toolset.alwaysThere.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool;
  };
  return { toolset, named };
}

/** Any tool of a toolset by its name. */
export async function toolOf(
  client: RentalClient,
  name: string,
  options?: ToolsetOptions,
): Promise<RentedTool> {
  const tool = await rentedToolset(client, options).find(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
}
