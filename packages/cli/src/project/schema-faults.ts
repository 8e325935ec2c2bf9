import type { AgentFault } from '@agent-rental/sdk/creator';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** The faults of an agent's schemas. The marketplace alone judges schemas of other drafts than 2020-12. */
export async function schemaFaults(body: Readonly<Record<string, unknown>>): Promise<AgentFault[]> {
  // It takes some time to load, and most commands do without it.
  const { Ajv2020 } = (await import('ajv/dist/2020.js')).default;
  return ['input_schema', 'output_schema'].flatMap((path) => {
    const schema = body[path];
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return [];
    const { $schema: dialect = DIALECT } = schema as { $schema?: unknown };
    if (typeof dialect !== 'string' || dialect.replace(/#$/, '') !== DIALECT) return [];
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
    const told = (fault: string) => [{ path, message: `is not a usable JSON Schema: ${fault}` }];
    try {
      if (ajv.validateSchema(schema) !== true) {
        const { instancePath = '', message = '' } = ajv.errors?.[0] ?? {};
        return told(`${instancePath === '' ? '' : `at ${instancePath}: `}${message}`);
      }
      ajv.compile(schema);
      return [];
    } catch (error) {
      return told((error as Error).message);
    }
  });
}
