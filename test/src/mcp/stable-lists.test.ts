import { findRunningPostgres } from '@agent-rental/server/testing';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { IS_QUICK } from '../support/form.js';

const FORMATS = ['openai', 'anthropic', 'gemini', 'mcp'] as const;

/** The lists of a renter of three agents, as the bytes of the answers. */
async function lists({ dev, apiKey }: OwnMarketplace): Promise<Record<string, string>> {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const sent: Record<string, string> = {};
  for (const format of FORMATS) {
    const answer = await fetch(new URL(`/v1/tools?format=${format}`, dev.base_url), { headers });
    sent[format] = await answer.text();
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  sent['tools/list'] = await (await fetch(dev.mcp_url, { method: 'POST', headers, body })).text();
  for (const { id } of dev.listings) {
    for (const [name, text] of Object.entries(sent))
      expect([name, text]).toEqual([name, expect.stringContaining(id)]);
  }
  return sent;
}

/** Moves all times in the database one day into the past. */
async function passADay(stateDir: string): Promise<void> {
  const client = new Client({ connectionString: findRunningPostgres(stateDir) });
  await client.connect();
  try {
    const { rows } = await client.query<{ table_name: string; column_name: string }>(
      `select table_name, column_name from information_schema.columns
        where table_schema = 'public' and data_type = 'timestamp with time zone' and is_generated = 'NEVER'
          and table_name in ('credentials', 'listings', 'runs', 'api_keys')`,
    );
    expect(rows.map(({ column_name: name }) => name)).toContain('purchased_at');
    for (const { table_name: table, column_name: column } of rows) {
      await client.query(`update ${table} set ${column} = ${column} - interval '1 day'`);
    }
  } finally {
    await client.end();
  }
}

test.skipIf(IS_QUICK)(
  'two lists of the same rentals are byte-equal a day apart, and after a restart [ADP-21]',
  async () => {
    const stateDir = await newStateDir();
    onTestFinished(() => removeStateDir(stateDir));
    const first = await startMarketplace(stateDir);
    onTestFinished(() => first.kill());
    const before = await lists(first);
    expect(await lists(first)).toEqual(before);
    await passADay(stateDir);
    expect(await lists(first)).toEqual(before);
    await first.stop();

    const second = await startMarketplace(stateDir);
    onTestFinished(() => second.kill());
    expect(await lists(second)).toEqual(before);
    // PostgreSQL outlives a killed server for a moment, and writes into the folder that the test removes.
    await second.stop();
  },
  120_000,
);
