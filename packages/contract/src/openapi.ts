import * as z from 'zod';
import { ERROR_STATUS, errorEnvelope } from './errors.js';
import { operationExamples } from './operation-examples.js';
import { operations, type Operation, type OperationId } from './operations.js';

type Schema = Record<string, unknown>;

/** Only "any JSON" refers to itself without having a name; what it says is: anything. */
const ANY_JSON = /^__schema\d+$/;

/** Headers of every answer. */
const HEADERS = {
  'X-Request-Id': { description: 'Id of the request; give it to support.', schema: { type: 'string' } },
  'X-RateLimit-Limit': { description: 'Requests per minute.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left in this window.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'Unix seconds at which the window ends.',
    schema: { type: 'integer' },
  },
};

/** Statuses of errors that any operation may answer with. */
const ERROR_STATUSES = [...new Set(Object.values(ERROR_STATUS))].sort((a, b) => a - b);

/**
 * The OpenAPI 3.1 document of the API, made from the operations.
 *
 * @param version version of this software, for `info.version`
 */
export function openApiDocument(version: string): Schema {
  const components: Record<string, Schema> = {};
  const errorSchema = toSchema(errorEnvelope, 'output', components);
  const paths: Record<string, Record<string, Schema>> = {};
  for (const [id, operation] of Object.entries(operations) as [OperationId, Operation][]) {
    const path = operation.path.replaceAll(/:([a-z_]+)/g, '{$1}');
    const item = (paths[path] ??= {});
    item[operation.method.toLowerCase()] = describe(id, operation, errorSchema, components);
  }
  return rewriteReferences({
    openapi: '3.1.0',
    info: {
      title: 'Agent Rental Marketplace API',
      version,
      description: 'Find, rent and run AI agents. Every answer carries X-Request-Id and the rate headers.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, or the token of a wallet login.',
        },
      },
    },
  });
}

function describe(
  id: OperationId,
  operation: Operation,
  errorSchema: Schema,
  components: Record<string, Schema>,
): Schema {
  const example = operationExamples[id];
  const mediaType = operation.stream ? 'text/event-stream' : 'application/json';
  const errors = ERROR_STATUSES.filter((status) => operation.auth === 'bearer' || status !== 403);
  return {
    operationId: id,
    summary: operation.summary,
    security: operation.auth === 'bearer' ? [{ bearer: [] }] : [],
    parameters: [
      ...parameters(operation.params, 'path', example.params, components),
      ...parameters(operation.query, 'query', example.query, components),
      ...Object.entries(operation.headers ?? {}).map(([name, description]) => ({
        name,
        in: 'header',
        required: false,
        description,
        schema: { type: 'string' },
      })),
    ],
    ...(operation.body
      ? {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: toSchema(operation.body, 'input', components),
                example: example.body,
              },
            },
          },
        }
      : {}),
    ...(operation.upload
      ? { requestBody: { required: true, content: { 'application/octet-stream': {}, '*/*': {} } } }
      : {}),
    responses: {
      [operation.status]: {
        description: 'Success',
        headers: HEADERS,
        content: {
          [mediaType]: {
            schema: toSchema(operation.response, 'output', components),
            ...(operation.events ? { 'x-event-schema': eventSchema(operation.events, components) } : {}),
            example: example.response,
          },
        },
      },
      ...(operation.accepted
        ? {
            202: {
              description: 'It goes on; Location is where to ask for it.',
              headers: { ...HEADERS, Location: { schema: { type: 'string' } } },
              content: {
                'application/json': {
                  schema: toSchema(operation.accepted, 'output', components),
                  example: example.accepted,
                },
              },
            },
          }
        : {}),
      ...Object.fromEntries(
        errors.map((status) => [
          status,
          {
            description: Object.entries(ERROR_STATUS)
              .filter(([, of]) => of === status)
              .map(([code]) => code)
              .join(', '),
            headers: HEADERS,
            content: { 'application/json': { schema: errorSchema } },
          },
        ]),
      ),
    },
  };
}

/** One event of a stream. OpenAPI 3.2 has `itemSchema` for it; before, there is no place but an extension. */
function eventSchema(
  events: Readonly<Record<string, z.ZodType>>,
  components: Record<string, Schema>,
): Schema {
  const alternatives = Object.entries(events).map(([event, data]) => ({
    type: 'object',
    properties: {
      event: { const: event },
      data: {
        type: 'string',
        contentMediaType: 'application/json',
        contentSchema: toSchema(data, 'output', components),
      },
    },
    required: ['event', 'data'],
  }));
  return { oneOf: alternatives };
}

function parameters(
  schema: z.ZodObject | undefined,
  where: 'path' | 'query',
  example: Readonly<Record<string, unknown>> | undefined,
  components: Record<string, Schema>,
): Schema[] {
  if (!schema) return [];
  const whole = toSchema(schema, 'input', components);
  const required = (whole['required'] ?? []) as string[];
  return Object.entries(whole['properties'] as Record<string, Schema>).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: property,
    ...(example?.[name] === undefined ? {} : { example: example[name] }),
  }));
}

/** A Zod schema as JSON Schema; schemas with an id become components and references to them. */
function toSchema(schema: z.ZodType, io: 'input' | 'output', components: Record<string, Schema>): Schema {
  const converted = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
  }) as Schema;
  const { $schema: _, $defs, id, ...rest } = converted;
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Schema>)) {
    const { id: __, ...described } = definition;
    if (!ANY_JSON.test(name)) components[name] ??= described;
  }
  if (typeof id !== 'string') return rest;
  components[id] ??= rest;
  return { $ref: `#/components/schemas/${id}` };
}

/** Points references at the document's components. */
function rewriteReferences(document: Schema): Schema {
  return JSON.parse(JSON.stringify(document), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('$ref' in value)) return value;
    const name = String(value.$ref).split('/').at(-1) ?? '';
    return ANY_JSON.test(name) ? {} : { ...value, $ref: `#/components/schemas/${name}` };
  }) as Schema;
}
