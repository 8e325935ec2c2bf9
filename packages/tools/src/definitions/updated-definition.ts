import type { RentalUpdate } from '@agent-rental/contract';
import type { DirectToolDefinition } from './direct-tool-definition.js';

const MEANING: Record<RentalUpdate['kind'], string> = {
  breaking: 'breaking: its input or output may have another form than before',
  compatible: 'compatible: it still takes earlier inputs',
};

/**
 * Adds a line to a definition if the agent has changed since its renter's last use. The line has only the marketplace's
 * words: the creator's words stay in their quotation.
 */
export function withUpdate(
  definition: DirectToolDefinition,
  update: RentalUpdate | undefined,
): DirectToolDefinition {
  if (update === undefined) return definition;
  const { from_version: from, version, kind } = update;
  const line = `Changed since your last use, version ${from} to ${version}, ${MEANING[kind]}.`;
  return { ...definition, description: `${line} ${definition.description}` };
}
