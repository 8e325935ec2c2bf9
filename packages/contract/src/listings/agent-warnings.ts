import { schemaWarnings, type AgentRemark } from './schema-warnings.js';
import { findSecrets } from './secrets.js';

export type { AgentRemark };

type Fields = Readonly<Record<string, unknown>>;

/** A shorter description helps a model little to choose the agent. */
const TELLING_CHARACTERS = 40;
/** Creators read no more. */
const MOST_WARNINGS = 30;

/** Members of a manifest that everyone can read. */
const PUBLIC_MEMBERS = ['name', 'description', 'input_schema', 'output_schema'];

/**
 * Secrets in the public members of a manifest, for which it is refused. Never repeats the secret.
 *
 * @param fields of the manifest
 * @param listing terms of the listing, beside the manifest
 */
export function publishedSecrets(fields: Fields, listing?: unknown): AgentRemark[] {
  const shown = Object.fromEntries(PUBLIC_MEMBERS.map((name) => [name, fields[name]]));
  return [...findSecrets(shown), ...findSecrets(listing, 'listing')].map(({ path, kind }) => ({
    path,
    message: `holds what looks like ${kind}, and everyone can read it: take it out, and replace the key`,
  }));
}

/**
 * Weak points of a manifest, each with its remedy: secrets in encrypted members, short descriptions, and schemas that models
 * handle badly. Never repeats a secret.
 */
export function agentWarnings(fields: Fields): AgentRemark[] {
  const hidden = Object.fromEntries(
    Object.entries(fields).filter(([name]) => !PUBLIC_MEMBERS.includes(name)),
  );
  const warnings: AgentRemark[] = findSecrets(hidden).map(({ path, kind }) => ({
    path,
    message: `holds what looks like ${kind}: a renter may get the agent to tell it. Take it out, and replace the key`,
  }));
  const { description } = fields;
  if (typeof description === 'string' && description.length < TELLING_CHARACTERS) {
    warnings.push({
      path: 'description',
      message: 'is short: describe the agent’s task, its input and its result',
    });
  }
  warnings.push(...schemaWarnings(fields['input_schema'], 'input_schema'));
  warnings.push(...schemaWarnings(fields['output_schema'], 'output_schema'));
  return warnings.slice(0, MOST_WARNINGS);
}
