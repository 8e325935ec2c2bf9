import { schemaWarnings, type AgentRemark } from './schema-warnings.js';
import { findSecrets } from './secrets.js';

export type { AgentRemark };

type Fields = Readonly<Record<string, unknown>>;

/** Below this a description tells a model little about when to choose the agent. */
const TELLING_CHARACTERS = 40;
/** More are not read. */
const MOST_WARNINGS = 30;

/** Members of a manifest that everyone can read, and those beside it. */
const PUBLIC_MEMBERS = ['name', 'description', 'input_schema', 'output_schema'];

/**
 * What a manifest is refused for because it would be published with a secret in it. Never repeats the secret.
 *
 * @param fields of the manifest
 * @param listing what is said of the listing beside it
 */
export function publishedSecrets(fields: Fields, listing?: unknown): AgentRemark[] {
  const shown = Object.fromEntries(PUBLIC_MEMBERS.map((name) => [name, fields[name]]));
  return [...findSecrets(shown), ...findSecrets(listing, 'listing')].map(({ path, kind }) => ({
    path,
    message: `holds what looks like ${kind}, and everyone can read it: take it out, and replace the key`,
  }));
}

/**
 * What serves renters, the models that choose among tools, or the creator worse, with what to do about it: secrets in what is kept
 * encrypted, descriptions that tell little, schemas that models handle badly. Never repeats a secret.
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
      message: 'is short: say what the agent does, for what input, and what it returns',
    });
  }
  warnings.push(...schemaWarnings(fields['input_schema'], 'input_schema'));
  warnings.push(...schemaWarnings(fields['output_schema'], 'output_schema'));
  return warnings.slice(0, MOST_WARNINGS);
}
