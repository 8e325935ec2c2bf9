/**
 * Describes a paid call for catalogs of paid services: the extension `bazaar` of x402 (specs/extensions/bazaar.md). Samples
 * and schemas of the listing would not fit into a header.
 */
export const bazaarOf = (listingId: string) => ({
  info: {
    input: {
      type: 'http',
      method: 'POST',
      bodyType: 'json',
      body: { agent_id: listingId, task: 'The task in plain language.' },
    },
    output: { type: 'json', example: { run_id: 'string', status: 'completed', output: {} } },
  },
  schema: SCHEMA,
});

const text = { type: 'string' };
const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    input: {
      type: 'object',
      properties: {
        type: { type: 'string', const: 'http' },
        method: { type: 'string', enum: ['POST'] },
        bodyType: { type: 'string', enum: ['json'] },
        body: {
          type: 'object',
          properties: { agent_id: text, task: text, input: { type: 'object' } },
          required: ['agent_id', 'task'],
        },
      },
      required: ['type', 'method', 'bodyType', 'body'],
      additionalProperties: false,
    },
    output: { type: 'object', properties: { type: text, example: { type: 'object' } }, required: ['type'] },
  },
  required: ['input'],
};
