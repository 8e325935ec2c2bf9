import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestRuns } from '../../compose/index.js';
import { readConfig } from '../../config/index.js';
import {
  insertAgent,
  keys,
  openRegistration,
  CONNECTED,
} from '../../registration/registration.test-support.js';
import { createApprovals } from '../../registration/index.js';
import { actionsAbout } from '../../moderation/index.js';
import { OperatorError } from '../operator-error.js';
import { systemUser } from '../system-user.js';
import { parseReviewCommand, runReviewCommand } from './index.js';

const PROMPT = 'You read invoices.\nYou never guess.';
const MODEL_KEY = 'sk-of-the-creator-0123456789';

const fixture = await openRegistration({ answersProbes: false });
const { db } = fixture.database;
let agentUrl: string;
let received: unknown[] = [];
const agent = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    received.push(JSON.parse(body));
    response.setHeader('content-type', 'application/json').end('{"due":"12 EUR"}');
  });
});
beforeAll(async () => {
  await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve));
  agentUrl = `http://127.0.0.1:${(agent.address() as AddressInfo).port}/secret-path`;
});
afterAll(async () => {
  agent.close();
  await fixture.close();
});

/** The printed text of a command line. */
async function operate(...argv: string[]): Promise<string> {
  const command = parseReviewCommand(argv);
  if (!command) throw new Error('It is no command about reviews.');
  const config = readConfig({ ALLOW_LOOPBACK: agentUrl });
  return runReviewCommand({ db, readKeys: async () => keys, openRuns: () => openTestRuns(config) }, command);
}

describe('review', () => {
  it('shows how an agent works, and not its keys [OPS-132]', async () => {
    const fields = { system_prompt: PROMPT, model_key: MODEL_KEY };
    const { id } = await fixture.draft(fields, 'operator');
    const text = await operate('review', id);
    expect(text).toMatch(/system_prompt:\n {2}You read invoices\.\n {2}You never guess\./);
    expect(text).toContain('model: openai m at https://api.openai.com');
    expect(text).toContain('model key: given');
    expect(text).toMatch(/sample output +\["12 EUR"\]/);
    expect(text).toMatch(/input_schema:\n {2}\{/);
    expect(text + (await operate('review', id, '--json'))).not.toContain(MODEL_KEY);
    expect(JSON.parse(await operate('review', id, '--json'))).toMatchObject({
      listing_id: id,
      present: { version: 1, agent: { mode: 'declarative', system_prompt: PROMPT } },
      approved: null,
    });
  });

  it('shows the differences to the approved version, and whether they break renters [OPS-132]', async () => {
    const { wallet, id } = await fixture.draft({ system_prompt: PROMPT }, 'operator');
    await createApprovals(db).decide(id, { approved: true }, { operator: 'someone' });
    await fixture.update('operator', wallet, id, {
      system_prompt: 'You read invoices.\nYou always guess.',
      input_schema: { type: 'object', required: ['page'] },
    });
    const text = await operate('review', id);
    expect(text).toContain('Since the approved version 1, for its renters breaking');
    expect(text).toMatch(/^- {2}You never guess\.$/m);
    expect(text).toMatch(/^\+ {2}You always guess\.$/m);
    // A line that is the same stays one.
    expect(text).not.toMatch(/^[-+] *You read invoices\.$/m);
    expect(JSON.parse(await operate('review', id, '--json'))).toMatchObject({
      present: { version: 2 },
      approved: { version: 1, change: { kind: 'breaking' } },
    });
  });

  it('is on record with its reader before anything is shown [OPS-132]', async () => {
    const { id } = await fixture.draft({ system_prompt: PROMPT }, 'operator');
    await operate('reviews');
    expect(await actionsAbout(db, id, 10)).toEqual([]);
    await operate('review', id);
    expect(await actionsAbout(db, id, 10)).toEqual([
      expect.objectContaining({
        action: 'review',
        operator: systemUser(),
        details: { version: 1, test_run: false },
      }),
    ]);
  });

  it('keeps the terminal from the words of a creator', async () => {
    const { id } = await fixture.draft({ system_prompt: 'Evil\u001b[2J\u202etext' }, 'operator');
    const text = await operate('review', id);
    expect(text).toContain('Evil[2Jtext');
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\u202e');
  });

  it('runs an agent once on the input of the reviewer, and leaves no run behind [OPS-132]', async () => {
    received = [];
    const connected = { ...CONNECTED, entrypointUrl: agentUrl };
    const { id } = await insertAgent(
      db,
      connected,
      { status: 'draft', published_at: null },
      { type: 'object' },
    );
    const asked = { task: 'Read it.', input: { page: 1 } };
    const printed = JSON.parse(
      await operate('review', id, '--json', '--run', JSON.stringify(asked)),
    ) as object;
    expect(printed).toMatchObject({
      present: { agent: { mode: 'connected', origin: new URL(agentUrl).origin } },
      test_run: { ...asked, output: { due: '12 EUR' } },
    });
    expect(JSON.stringify(printed)).not.toContain('secret-path');
    expect(received).toEqual([expect.objectContaining({ agent_id: id, ...asked })]);
    const rows = await db.selectFrom('runs').select('id').execute();
    expect(rows).toEqual([]);
    await expect(operate('review', id, '--run', '{"task":"x","input":"text"}')).rejects.toThrow(
      /input_schema refuses/,
    );
  });

  it.each([
    [['review'], /review <listing_id>/],
    [['review', 'a', '--run', '{'], /no JSON/],
    [['review', 'a', '--run', '{"task":"x"}'], /input/],
    [['review', 'a', '--run', '{"task":"x","input":"y","more":1}'], /more/],
    [['review', 'a', '--run', `"${'x'.repeat(70_000)}"`], /65536 bytes/],
    [['reviews', 'a'], /reviews \[--json\]/],
    [['review', 'a', '--force'], /--force/],
  ])('%j is refused, saying why', (argv, message) => {
    expect(() => parseReviewCommand(argv)).toThrow(OperatorError);
    expect(() => parseReviewCommand(argv)).toThrow(message);
  });

  it('of an unknown listing is refused', async () => {
    await expect(operate('review', 'absent-aaaaaa')).rejects.toThrow(/no listing "absent-aaaaaa"/);
  });
});

it('reviews marks the agents that could not be reached', async () => {
  const { id } = await fixture.draft(
    { entrypoint_url: 'https://gone.example/', system_prompt: undefined },
    'operator',
  );
  expect(await operate('reviews')).not.toContain('NOT REACHED');
  const { version_id: versionId } = await fixture.listing(id);
  await fixture.repository.storeProbe(id, versionId, {
    reason: 'endpoint_unreachable',
    detail: 'ECONNREFUSED',
  });
  expect(await operate('reviews')).toMatch(new RegExp(`${id}[^]*NOT REACHED  .*ECONNREFUSED`));
  const waiting = JSON.parse(await operate('reviews', '--json')) as { id: string }[];
  expect(waiting.find((row) => row.id === id)).toMatchObject({
    unreachable: { reason: 'endpoint_unreachable' },
  });
});
