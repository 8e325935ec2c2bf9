import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import {
  EVENT_NAMES,
  errorEnvelope,
  openApiDocument,
  operationExamples,
  operations,
  serviceEndpoints,
  type Operation,
  type ServiceEndpoint,
} from '../index.js';

const document = openApiDocument('0.1.0');

test('the document is valid OpenAPI 3.1 [SVC-5]', async () => {
  const result = await new Validator().validate(structuredClone(document));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
  expect(document['openapi']).toBe('3.1.0');
});

test('no reference leads out of the document', () => {
  const { schemas } = document['components'] as { schemas: Record<string, unknown> };
  const references = JSON.stringify(document).match(/"\$ref":"[^"]+"/g) ?? [];
  expect(references.length).toBeGreaterThan(20);
  for (const reference of new Set(references)) {
    const name = reference.slice('"$ref":"#/components/schemas/'.length, -1);
    expect(Object.keys(schemas)).toContain(name);
  }
});

test('each path to a listing has the form of its id [SVC-5]', () => {
  const paths = document['paths'] as Record<
    string,
    Record<string, { parameters?: { in: string; name: string; schema: object }[] }>
  >;
  const ids = Object.values(paths)
    .flatMap((methods) => Object.values(methods).flatMap(({ parameters = [] }) => parameters))
    .filter((parameter) => parameter.in === 'path' && ['id', 'listing_id'].includes(parameter.name));
  expect(ids.length).toBeGreaterThan(10);
  for (const { schema } of ids)
    expect(schema).toMatchObject({ maxLength: 32, pattern: expect.any(String) as string });
});

const table = Object.entries(operations) as [keyof typeof operations, Operation][];

describe.each(table)('the example of %s', (id, operation) => {
  const example = operationExamples[id];

  test.each(['params', 'query', 'body', 'response', 'accepted'] as const)(
    'has a valid %s [SVC-5]',
    (part) => {
      const schema = operation[part];
      expect(schema === undefined).toBe(example[part] === undefined);
      const parsed = schema?.safeParse(example[part]);
      expect(parsed?.error?.issues ?? []).toEqual([]);
    },
  );

  test('is in the document [SVC-5]', () => {
    const path = operation.path.replaceAll(/:([a-z_]+)/g, '{$1}');
    const paths = document['paths'] as Record<string, Record<string, { operationId: string }>>;
    expect(paths[path]?.[operation.method.toLowerCase()]).toMatchObject({ operationId: id });
    expect(JSON.stringify(paths[path])).toContain(JSON.stringify(example.response));
  });
});

test.each(Object.entries(serviceEndpoints) as [string, ServiceEndpoint][])(
  'the examples of %s are valid, and are in the document [SVC-5]',
  (id, { path, answers, mediaType }) => {
    const paths = document['paths'] as Record<
      string,
      { get: { operationId: string; responses: Record<string, { content: Record<string, unknown> }> } }
    >;
    expect(paths[path]?.get.operationId).toBe(id);
    for (const [status, { schema, example }] of Object.entries(answers)) {
      expect(schema.safeParse(example).error?.issues ?? []).toEqual([]);
      expect(paths[path]?.get.responses[status]?.content[mediaType]).toMatchObject({ example });
    }
  },
);

test('the events of a stream are described', () => {
  const { schemas } = document['components'] as { schemas: Record<string, unknown> };
  expect(schemas).toHaveProperty('OutputEvent');
  expect(schemas).toHaveProperty('DoneEvent');
  expect(JSON.stringify(document)).toContain(
    '"x-event-schema":{"oneOf":[{"type":"object","properties":{"event":{"const":"output"}',
  );
});

test('each event is a webhook of the document, whose body has the data of that event [SVC-5]', () => {
  const webhooks = document['webhooks'] as Record<string, { post: Record<string, unknown> }>;
  expect(Object.keys(webhooks)).toEqual(EVENT_NAMES);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', webhooks, components: document['components'] });
  const [event] = operations.listEvents.response.parse(operationExamples.listEvents.response).events;
  const fits = (name: string) =>
    ajv.validate(
      {
        $ref: `document#/webhooks/${name}/post/requestBody/content/application~1json/schema`,
      },
      event,
    );
  expect(EVENT_NAMES.filter(fits)).toEqual(['run.completed']);
  const ids = Object.values(webhooks).map(({ post }) => post['operationId']);
  expect(new Set([...ids, ...Object.keys(operations)]).size).toBe(
    ids.length + Object.keys(operations).length,
  );
});

/** Every part of the document that is an object. */
function partsOf(value: unknown, place = '#'): [place: string, part: Record<string, unknown>][] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : [[place, value] as [string, Record<string, unknown>]];
  return [...own, ...Object.entries(value).flatMap(([name, below]) => partsOf(below, `${place}/${name}`))];
}

test('every example is valid by the schema beside it [SVC-5]', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: document['components'] });
  const wrong: unknown[] = [];
  let examples = 0;
  for (const [place, { schema, example }] of partsOf(document['paths'])) {
    if (schema === undefined || example === undefined) continue;
    examples += 1;
    const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object;
    if (!ajv.validate(absolute, example)) wrong.push([place, example, ajv.errorsText()]);
  }
  expect(wrong).toEqual([]);
  expect(examples).toBeGreaterThan(100);
});

test('every operation has a tag of the document, and a description [SVC-5]', () => {
  const tags = (document['tags'] as { name: string }[]).map(({ name }) => name);
  const found = partsOf(document['paths']).filter(([, { operationId }]) => operationId !== undefined);
  for (const [place, { tags: own, description }] of found) {
    expect([place, tags]).toEqual([place, expect.arrayContaining(own as string[])]);
    expect([place, own, description]).toEqual([place, [expect.any(String)], expect.stringMatching(/\w/)]);
  }
  expect(found.length).toBeGreaterThan(60);
});

test('an error of every status is described', () => {
  const error = { code: 'not_found', message: 'no', status: 404, request_id: 'req_1' };
  expect(errorEnvelope.safeParse({ error }).success).toBe(true);
  expect(JSON.stringify(document)).toContain('rate_limit_exceeded');
});

describe('what generators need of the document', () => {
  const { schemas } = document['components'] as { schemas: Record<string, Record<string, unknown>> };

  test('every object in a union of components has a name [SVC-5]', () => {
    for (const [name, { anyOf, oneOf }] of Object.entries(schemas)) {
      for (const variant of (anyOf ?? oneOf ?? []) as object[])
        expect([name, variant]).toHaveProperty('1.$ref');
    }
  });

  test('no member of a body has the keyword default [SVC-5]', () => {
    expect(JSON.stringify(schemas)).not.toContain('"default":');
    expect(schemas['Execute']).toMatchObject({
      properties: { priority: { description: 'Absent: `standard`.' } },
      required: ['agent_id', 'task'],
    });
  });

  test('no component has a name that generated code has already [SVC-5]', () => {
    for (const [name, { properties = {} }] of Object.entries(schemas)) {
      expect(['Error', 'File', 'Response', 'Client']).not.toContain(name);
      const members = Object.entries(properties as Record<string, { type?: string }>)
        .filter(([, { type }]) => type !== 'string')
        .map(([member]) => member);
      expect(members).not.toContain(name.replaceAll(/(?!^)[A-Z]/g, '_$&').toLowerCase());
    }
  });

  test('a file has a schema, and may be of any type [SVC-5]', () => {
    const { post } =
      (document['paths'] as Record<string, { post: { requestBody: object } }>)['/v1/files'] ?? {};
    const bytes = { schema: { type: 'string', format: 'binary' } };
    expect(post?.requestBody).toEqual({
      required: true,
      content: { 'application/octet-stream': bytes, '*/*': bytes },
    });
  });
});
