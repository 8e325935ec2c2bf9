import type { RentalUpdate } from '@agent-rental/contract';
import type { DirectToolDefinition } from './direct-tool-definition.js';

const MEANING: Record<RentalUpdate['kind'], string> = {
  breaking: 'breaking: its input or output may have another form than before',
  compatible: 'compatible: what was sent before is still taken',
};

/**
 * A definition whose description says that the agent has changed since its renter used it last; the same one where it has
 * not. Words of the marketplace alone: the creator's words stay in their quotation.
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
