import { createApiKey } from '@agent-rental/sdk/solana';
import { findRunningPostgres, startMailServer, type MailServer } from '@agent-rental/server/testing';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const PATIENCE = { timeout: 120_000 };

let mail: MailServer;
let stateDir: string;
let marketplace: OwnMarketplace;
let reader: Participant;
/** The texts of the messages about events. */
let texts: () => string[];

const start = (port = '0') =>
  startMarketplace(stateDir, {
    EXAMPLES: 'off',
    PORT: port,
    SMTP_URL: mail.url,
    SMTP_FROM: 'Market <no-reply@market.example>',
  });
/** Ends the server at once. @returns a function that starts it again, at its address */
async function kill(): Promise<() => Promise<void>> {
  const { port } = new URL(marketplace.dev.base_url);
  await marketplace.kill();
  return async () => void (marketplace = await start(port));
}
async function openDatabase(): Promise<Client> {
  const database = new Client({ connectionString: findRunningPostgres(stateDir) });
  // It is killed with its server.
  database.on('error', () => undefined);
  await database.connect();
  return database;
}
/** Brings the next round of messages forward, which begins each minute. */
async function tellNow(): Promise<void> {
  const database = await openDatabase();
  await database.query(`update email_addresses set last_sent_at = last_sent_at - interval '15 minutes'`);
  await database.query(`select graphile_worker.add_job('tell_by_email')`);
  await database.end();
}
const newKey = (label: string) => createApiKey(reader.client, reader.signer, label);

beforeEach(async () => {
  [mail, stateDir] = await Promise.all([startMailServer(), newStateDir()]);
  texts = () => mail.mails.slice(1).map(({ parsed }) => parsed.text ?? '');
  marketplace = await start();
  reader = await newParticipant(marketplace);
  const confirmation = mail.next();
  await reader.client.setEmail({ address: 'ada@reader.example' });
  const [, token = ''] = /token=([\w-]{43})/.exec((await confirmation).parsed.text ?? '') ?? [];
  await reader.client.confirmEmail(token);
});
afterEach(async () => {
  await marketplace.stop();
  await mail.close();
  await removeStateDir(stateDir);
});

test(
  'an event is told by e-mail at least once where its server is killed, and never where it was rolled back',
  { timeout: 300_000 },
  async () => {
    const uncommitted = await openDatabase();
    await uncommitted.query('begin');
    await uncommitted.query(`select append_event($1, 'key.created', 'test:1', $2)`, [
      reader.signer.address,
      JSON.stringify({ label: 'rolled back' }),
    ]);
    await newKey('first');
    // Before the message.
    const startAgain = await kill();
    let release = () => {};
    mail.holding = new Promise((resolve) => (release = resolve));
    await startAgain();
    await tellNow();
    await expect.poll(() => texts().length, PATIENCE).toBe(1);
    // The mail server has the message, and the server does not know it.
    const goOn = await kill();
    mail.holding = undefined;
    release();
    await goOn();
    await expect.poll(() => texts().length, PATIENCE).toBe(2);
    for (const text of texts()) expect(text).toContain('first');
    await newKey('second');
    await expect
      .poll(async () => {
        await tellNow();
        return texts().at(-1);
      }, PATIENCE)
      .toContain('second');
    expect(texts().at(-1)).not.toContain('first');
    expect(texts().join('')).not.toContain('rolled back');
  },
);
