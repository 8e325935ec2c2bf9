import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call, errorOf } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { operationsOf, requestOf, type DescribedOperation } from '../support/operations.js';

/** The specification's table of endpoints. */
const ENDPOINTS = [
  'POST /v1/execute',
  'POST /v1/execute/stream',
  'GET /v1/listings',
  'GET /v1/listings/{id}',
  'GET /v1/credentials',
  'GET /v1/credentials/{listing_id}',
  'POST /v1/agents',
  'GET /v1/jobs/{job_id}',
  'GET /v1/auth/challenge',
  'POST /v1/auth/token',
];

let marketplace: Marketplace;
let described: DescribedOperation[];

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  described = await operationsOf(marketplace);
});

describe('the API', () => {
  test('has the endpoints of the specification, and each is there [SVC-1]', async () => {
    const names = described.map(({ method, path }) => `${method} ${path}`);
    expect(names).toEqual(expect.arrayContaining(ENDPOINTS));
    for (const operation of described) {
      const { body } = await requestOf(marketplace, operation, marketplace.apiKey);
      // The router's texts for a route that it does not have.
      expect(JSON.stringify(body)).not.toMatch(/There is no [A-Z]+ |has no [A-Z]+\. Use /);
    }
  });

  test('answers in JSON, without an envelope around it [SVC-3]', async () => {
    for (const path of [
      '/v1/listings',
      '/v1/credentials',
      `/v1/listings/${marketplace.listing('one_time').id}`,
    ]) {
      const { headers, body } = await call(marketplace, 'GET', path, { token: marketplace.apiKey });
      expect(headers.get('content-type')).toContain('application/json');
      expect(body).not.toHaveProperty('data');
    }
  });

  test('is under /v1, and nothing else takes its requests [SVC-2]', async () => {
    for (const { method, path } of described) {
      const { status, body } = await requestOf(
        marketplace,
        { method, path: path.slice('/v1'.length) },
        marketplace.apiKey,
      );
      // Without /v1 this path is the page of a creator, which takes GET alone.
      const isPage = path === '/v1/creators/me';
      const [refused, code] = isPage ? [405, 'invalid_request'] : [404, 'not_found'];
      expect({ path, status, code: errorOf(body)['code'] }).toEqual({ path, status: refused, code });
    }
  });

  test('promises in its documents to keep v1 for twelve months [SVC-8]', async () => {
    const text = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const promise = text.replaceAll(/\s+/g, ' ');
    expect(promise).toContain('Breaking changes come only under a new prefix');
    expect(promise).toContain('for at least 12 months after a new version is released');
  });
});

describe('outside /v1', () => {
  test('health is told to everybody, with the isolation of runs, its bounds and who reviews [ID-3, OPS-1, REG-13]', async () => {
    const { status, body } = await call(marketplace, 'GET', '/health');
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'ok', review: 'automatic' });
    expect(body['sandbox']).toMatchObject({
      isolation: expect.stringMatching(/^(runtime|kernel|microvm)$/) as string,
      memoryBound: expect.stringMatching(/^(machine|cgroup|rlimit|none)$/) as string,
      threadsBound: expect.stringMatching(/^(machine|cgroup|rlimit|none)$/) as string,
    });
  });

  test('and under it, every route of the server is described [SVC-5]', async () => {
    const { body } = await call(marketplace, 'GET', '/openapi.json');
    const paths = body['paths'] as Record<string, Record<string, unknown>>;
    // HEAD is GET without a body, OPTIONS the preflight's; MCP and A2A describe their messages themselves.
    const routes = inject('routes').filter(({ method }) => !['HEAD', 'OPTIONS'].includes(method));
    expect(routes.length).toBeGreaterThan(30);
    const missing = routes.filter(({ method, path }) => {
      // OpenAPI has no parameter with slashes: the content's address is described, not the paths inside it.
      const item = paths[path.replace(/\/\*$/, '').replaceAll(/:(\w+)/g, '{$1}')];
      return !item || (!/^\/(mcp|a2a)\b/.test(path) && !(method.toLowerCase() in item));
    });
    expect(missing).toEqual([]);
  });

  test('the description of the API is for everybody [ID-3, SVC-5]', async () => {
    const { status, body } = await call(marketplace, 'GET', '/openapi.json');
    expect(status).toBe(200);
    expect(body).toMatchObject({ openapi: '3.1.0' });
  });
});
