import { zipOf } from '@agent-rental/server/testing';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { PRICE, publishProgram, rentAgent } from '../support/agents/agents.js';
import { call, type Answer } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { rentOverHttp } from '../support/renter.js';

/** Returns a description of its input. */
const PROGRAM = `
const text = typeof input === 'string' ? input : JSON.stringify(input);
return { type: typeof input, length: text.length, beginning: text.slice(0, 40), end: text.slice(-10) };
`;
const MIB = 1024 * 1024;

let marketplace: Marketplace;
let agentId: string;
let renter: Participant;
/** Has a separate rental. */
let other: Participant;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  const creator = await newParticipant(marketplace);
  [renter, other] = [await newParticipant(marketplace), await newParticipant(marketplace)];
  agentId = await publishProgram(marketplace, creator, PROGRAM);
  await rentAgent(renter, agentId);
  await rentAgent(other, agentId);
});

const errorOf = (answer: Answer) => answer.body['error'] as Record<string, unknown>;
const upload = (raw: string, mediaType = 'text/plain', token = renter.token) =>
  call(marketplace, 'POST', '/v1/files', { token, raw, headers: { 'content-type': mediaType } });
const execute = (body: Record<string, unknown>, token = renter.token) =>
  call(marketplace, 'POST', '/v1/execute', { token, body: { agent_id: agentId, task: 'look', ...body } });
const balance = async () => (await renter.client.verifyCredential(agentId)).balance_lamports ?? Number.NaN;

describe('a file', () => {
  test('is kept for 24 hours for its wallet alone, until it deletes it [RUN-16]', async () => {
    const stored = await upload('a,b\n1,2\n', 'text/csv; charset=utf-8');
    expect(stored.status).toBe(201);
    const { file_id: id, created_at: from, expires_at: until } = stored.body as Record<string, string>;
    expect(stored.body).toMatchObject({ media_type: 'text/csv', size_bytes: 8 });
    const hours = (Date.parse(String(until)) - Date.parse(String(from))) / 3_600_000;
    expect(hours).toBeCloseTo(24, 1);
    const path = `/v1/files/${id}`;
    expect((await call(marketplace, 'GET', path, { token: renter.token })).body).toEqual(stored.body);
    for (const method of ['GET', 'DELETE']) {
      const theirs = await call(marketplace, method, path, { token: other.token });
      const absentFile = await call(marketplace, method, `/v1/files/${crypto.randomUUID()}`, {
        token: other.token,
      });
      expect([theirs.status, errorOf(theirs)['message']]).toEqual([404, errorOf(absentFile)['message']]);
    }
    const deleted = await call(marketplace, 'DELETE', path, { token: renter.token });
    expect(deleted.body).toEqual({ file_id: id, deleted: true });
    expect((await call(marketplace, 'GET', path, { token: renter.token })).status).toBe(404);
    expect((await call(marketplace, 'DELETE', path, { token: renter.token })).status).toBe(404);
    expect((await execute({ input_uri: stored.body['input_uri'] })).status).toBe(400);
  });

  test.each([
    ['text', 'text/plain', 'Grüße'.repeat(600_000), 'string'],
    ['JSON', 'application/json', JSON.stringify({ rows: 'x'.repeat(MIB - 100) }), 'object'],
    ['JSON sent as text', 'text/plain', JSON.stringify({ rows: 'x'.repeat(2 * MIB) }), 'string'],
    ['JSON that is a string', 'application/json', '"short"', 'string'],
  ])(
    'of %s reaches a sandboxed agent whole, also beyond the size limit of a request [EXE-3]',
    async (_, type, raw, kind) => {
      const stored = await upload(raw, type);
      expect(stored.body['size_bytes']).toBe(Buffer.byteLength(raw));
      const { status, body } = await execute({ input_uri: stored.body['input_uri'] });
      const text = raw === '"short"' ? 'short' : raw;
      expect(body).toMatchObject({
        status: 'completed',
        output: { type: kind, length: text.length, beginning: text.slice(0, 40), end: text.slice(-10) },
      });
      expect(status).toBe(200);
    },
  );

  test('reaches a connected agent as its input [EXE-3]', async () => {
    await rentOverHttp(marketplace, other, 'one_time');
    const listing = marketplace.listing('one_time');
    const { input } = await marketplace.request('one_time');
    const stored = await upload(JSON.stringify(input), 'application/json', other.token);
    const body = { agent_id: listing.id, task: 'read' };
    const [sent, filed] = await Promise.all(
      [{ input }, { input_uri: stored.body['input_uri'] }].map((source) =>
        execute({ ...body, ...source }, other.token),
      ),
    );
    expect(filed?.body).toMatchObject({ status: 'completed', output: sent?.body['output'] });
  });

  test('that is not text reaches an agent as its bytes', async () => {
    const bytes = Buffer.from([0x89, 0x50, 0, 0xff, 0xfe]);
    const file = await renter.client.uploadFile(bytes, { mediaType: 'image/png' });
    const run = await renter.client.execute({ agent_id: agentId, task: 'look', input_uri: file.input_uri });
    const value = JSON.stringify({
      media_type: 'image/png',
      size_bytes: 5,
      base64: bytes.toString('base64'),
    });
    expect(run.output).toMatchObject({ type: 'object', length: value.length, end: value.slice(-10) });
  });

  test('that is an archive reaches an agent that reads repositories as its files [EXE-43]', async () => {
    const creator = await newParticipant(marketplace);
    const reader = await publishProgram(
      marketplace,
      creator,
      'return { about: Object.keys(input), files: input.files };',
      { tools: [{ name: 'repo_read', scope: 'repo_scoped' }] },
    );
    await rentAgent(renter, reader);
    const archive = zipOf([
      { name: 'src/main.py', content: 'print("ü")' },
      { name: 'logo.png', content: Buffer.from([0, 0xff]) },
    ]);
    const file = await renter.client.uploadFile(Uint8Array.from(archive), { mediaType: 'application/zip' });
    const run = await renter.client.execute({ agent_id: reader, task: 'look', input_uri: file.input_uri });
    expect(run.output).toEqual({
      about: ['media_type', 'size_bytes', 'files'],
      files: [
        { path: 'logo.png', size_bytes: 2, text: null },
        { path: 'src/main.py', size_bytes: 11, text: 'print("ü")' },
      ],
    });
  });

  test('of content-addressed storage is the input, by its address alone [EXE-48]', async () => {
    const listing = await call(marketplace, 'GET', `/v1/listings/${agentId}`, { token: renter.token });
    const { status, body } = await execute({ input_uri: listing.body['metadata_uri'] });
    expect([status, body]).toMatchObject([200, { status: 'completed', output: { type: 'object' } }]);
    expect(JSON.stringify(body['output'])).toContain('category');
  });

  test('is sent, used and deleted by the sdk', async () => {
    const { client } = renter;
    const file = await client.uploadFile(new Blob(['hello']), { mediaType: 'text/plain' });
    expect(await client.getFile(file.file_id)).toEqual(file);
    const run = await client.execute({ agent_id: agentId, task: 'look', input_uri: file.input_uri });
    expect(run.output).toMatchObject({ beginning: 'hello' });
    await client.deleteFile(file.file_id);
    await expect(client.getFile(file.file_id)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('refused requests', () => {
  test.each([
    ['a URI of elsewhere', () => ({ input_uri: 'ipfs://bafkqaaa' })],
    ['a URI of nowhere', () => ({ input_uri: 'agent-rental://files/../../etc/passwd' })],
    ['a file that does not exist', () => ({ input_uri: `agent-rental://files/${crypto.randomUUID()}` })],
    [
      'an input beside a file',
      async () => ({ input: 'x', input_uri: (await upload('y')).body['input_uri'] }),
    ],
    [
      'a file that says it is JSON and is not',
      async () => ({ input_uri: (await upload('{', 'application/json')).body['input_uri'] }),
    ],
    [
      'a JSON file of more than 1 MiB',
      async () => ({
        input_uri: (await upload(JSON.stringify('x'.repeat(MIB)), 'application/json')).body['input_uri'],
      }),
    ],
    [
      'a JSON file with a number that would change',
      async () => ({
        input_uri: (await upload('{"id":1917043659912705297}', 'application/json')).body['input_uri'],
      }),
    ],
    [
      'a JSON file that holds a list',
      async () => ({ input_uri: (await upload('[1]', 'application/json')).body['input_uri'] }),
    ],
  ])('%s: 400, and nothing is charged [EXE-4]', async (_, body) => {
    const before = await balance();
    const answer = await execute(await body());
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_request' });
    expect(await balance()).toBe(before);
  });

  test.each([
    ['leads out of itself', zipOf([{ name: '../../etc/passwd', content: 'x' }])],
    ['holds a link', zipOf([{ name: 'a', content: '/etc/passwd', mode: 0o120_777 }])],
    ['unpacks without end', zipOf([{ name: 'a', content: Buffer.alloc(64 * MIB) }])],
    ['is none', Buffer.from('PK, but no archive')],
  ])('an archive that %s: 400, and nothing is charged', async (_, archive) => {
    const before = await balance();
    const file = await renter.client.uploadFile(Uint8Array.from(archive), { mediaType: 'application/zip' });
    const answer = await execute({ input_uri: file.input_uri });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)['message']).toMatch(/^input_uri: the archive is not taken: /);
    expect(await balance()).toBe(before);
  });

  test('another wallet’s file, in the same words as one that does not exist [RUN-16]', async () => {
    const { body } = await upload('mine');
    const theirs = await execute({ input_uri: body['input_uri'] }, other.token);
    const absentFile = await execute(
      { input_uri: `agent-rental://files/${crypto.randomUUID()}` },
      other.token,
    );
    expect(theirs.status).toBe(400);
    expect(errorOf(theirs)['message']).toBe(errorOf(absentFile)['message']);
  });

  test('a file that is not text, when it is used', async () => {
    const file = await renter.client.uploadFile(new Uint8Array([0xff, 0xfe, 0]), { mediaType: 'text/plain' });
    const answer = await execute({ input_uri: file.input_uri });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)['message']).toContain('UTF-8');
  });

  test.each([
    ['an empty file', 400, '', 'text/plain'],
    ['a file of more than 8 MiB', 413, 'x'.repeat(8 * MIB + 1), 'text/plain'],
    ['a file without a usable type', 415, 'x', 'nonsense'],
  ])('%s: %d', async (_, status, raw, type) => {
    const answer = await upload(raw, type);
    expect(answer.status).toBe(status);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_request' });
  });

  test('a wallet that has rented nothing: 403', async () => {
    const stranger = await newParticipant(marketplace);
    const answer = await upload('x', 'text/plain', stranger.token);
    expect(answer.status).toBe(403);
    expect(errorOf(answer)).toMatchObject({ code: 'credential_not_found' });
  });
});

test('a run over a file costs what any run costs', async () => {
  const before = await balance();
  const { body } = await upload('x');
  await execute({ input_uri: body['input_uri'] });
  expect(await balance()).toBe(before - PRICE);
});
