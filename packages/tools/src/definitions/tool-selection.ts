/** The rented agents with a direct tool: all, none, or some by their ids. */
export type ToolSelection = 'all' | 'none' | readonly string[];

/** Most ids in a setting: each one costs a request. */
const MAX_NAMED = 50;
const LISTING_ID = /^[a-z0-9][a-z0-9-]{0,199}$/;

/** An invalid selection of tools. The message says how to correct it. */
export class ToolSelectionError extends Error {
  override readonly name = 'ToolSelectionError';
}

/**
 * Reads a setting: `all`, `none`, or ids of listings with commas between them.
 *
 * @returns undefined if nothing is set.
 * @throws ToolSelectionError
 */
export function readToolSelection(text: string | null | undefined): ToolSelection | undefined {
  const said = text?.trim() ?? '';
  if (said === '') return undefined;
  if (said === 'all' || said === 'none') return said;
  const ids = [...new Set(said.split(',').map((id) => id.trim()))].filter((id) => id !== '');
  const wrong = ids.find((id) => !LISTING_ID.test(id));
  if (wrong !== undefined || ids.length === 0 || ids.length > MAX_NAMED) {
    throw new ToolSelectionError(
      `It is all, none, or up to ${MAX_NAMED} ids of listings with commas between them.`,
    );
  }
  return ids;
}
