/** A remark on a manifest: a warning, or a cause of refusal. `path` is dotted, as in `tools.3.name`. */
export interface AgentRemark {
  readonly path: string;
  readonly message: string;
}

type Schema = Readonly<Record<string, unknown>>;

/** The most parts of a schema that are checked. A manifest holds thousands at most. */
const MOST_PARTS = 2_000;
const LONGEST_PATH = 200;
/** Models fill in deeper schemas badly. */
const DEEPEST = 6;
const MOST_MEMBERS = 60;
const MOST_CHOICES = 100;

/** Keywords that many models' tool formats do not know. Tool descriptions tell them in words. */
const UNCOMMON = [
  'not',
  'if',
  'patternProperties',
  'dependentSchemas',
  'dependentRequired',
  'unevaluatedProperties',
  'prefixItems',
];

/** Keywords whose schemas describe the same value. */
const BRANCHES = ['anyOf', 'oneOf', 'allOf'];

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parts of a schema that models read or fill in badly. `root` is the member that holds the schema. */
export function schemaWarnings(schema: unknown, root: 'input_schema' | 'output_schema'): AgentRemark[] {
  if (!isSchema(schema)) return [];
  const warnings: AgentRemark[] = [];
  const warn = (path: string, message: string) => warnings.push({ path, message });
  const { type, description, properties } = schema;
  if (root === 'input_schema' && typeof type === 'string' && type !== 'object' && type !== 'string') {
    warn(root, `is of type ${type}: an input is a text or an object, so nothing fits it`);
  }
  if (root === 'output_schema' && description === undefined && !isSchema(properties)) {
    warn(root, 'has no description: describe the output for renters and models that choose the agent');
  }
  const waiting = [{ schema, path: root as string, depth: 0 }];
  let members = 0;
  for (let parts = 0; parts < MOST_PARTS; parts += 1) {
    const next = waiting.shift();
    if (next === undefined) break;
    if (next.depth === DEEPEST + 1) {
      warn(next.path, `is ${next.depth} levels deep: models fill in flat schemas best`);
      continue;
    }
    partWarnings(next.schema, next.path, warn);
    for (const [name, member] of membersOf(next.schema)) {
      members += 1;
      const path = `${next.path}.properties.${name}`;
      if (path.length > LONGEST_PATH) continue;
      if (isSchema(member) && member['description'] === undefined && member['$ref'] === undefined) {
        warn(path, 'has no description, and a model reads it to fill it in');
      }
      if (isSchema(member)) waiting.push({ schema: member, path, depth: next.depth + 1 });
    }
    const { items } = next.schema;
    if (isSchema(items)) waiting.push({ schema: items, path: `${next.path}.items`, depth: next.depth + 1 });
    for (const keyword of BRANCHES) {
      const branches = next.schema[keyword];
      if (!Array.isArray(branches)) continue;
      for (const [index, branch] of branches.entries()) {
        const path = `${next.path}.${keyword}.${index}`;
        if (isSchema(branch) && path.length <= LONGEST_PATH) {
          waiting.push({ schema: branch, path, depth: next.depth });
        }
      }
    }
  }
  if (members > MOST_MEMBERS) {
    warn(root, `has ${members} members: models choose badly among more than ${MOST_MEMBERS}`);
  }
  return warnings;
}

const membersOf = ({ properties }: Schema): [string, unknown][] =>
  isSchema(properties) ? Object.entries(properties) : [];

function partWarnings(schema: Schema, path: string, warn: (path: string, message: string) => void): void {
  const { required, additionalProperties, allOf } = schema;
  const choices = schema['enum'];
  const names = new Set(membersOf(schema).map(([name]) => name));
  const hasPatterns = isSchema(schema['patternProperties']);
  if (additionalProperties === false && !hasPatterns) {
    if (Array.isArray(allOf)) {
      warn(
        path,
        'has additionalProperties false beside allOf: the members that allOf names are refused, too',
      );
    } else if (names.size === 0 && required === undefined && !BRANCHES.some((name) => schema[name])) {
      warn(path, 'has additionalProperties false and no properties: nothing but {} fits it');
    }
    for (const name of Array.isArray(required) ? (required as unknown[]) : []) {
      if (typeof name === 'string' && !names.has(name) && name.length <= LONGEST_PATH) {
        warn(
          path,
          `requires ${JSON.stringify(name)}, which properties does not name and additionalProperties refuses: nothing fits it`,
        );
      }
    }
  }
  if (Array.isArray(choices) && choices.length > MOST_CHOICES) {
    warn(`${path}.enum`, `has ${choices.length} values: models choose badly among more than ${MOST_CHOICES}`);
  }
  for (const keyword of UNCOMMON) {
    if (schema[keyword] !== undefined) {
      warn(
        `${path}.${keyword}`,
        'is not known to many models’ tools, which get it in words: what breaks it is refused, and not charged',
      );
    }
  }
}
