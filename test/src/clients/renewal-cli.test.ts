import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '@agent-rental/cli';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { attach } from '../support/marketplace.js';
import { newParticipant } from '../support/participant.js';

test('a renewal says its days and its new end before it is paid, and an early one needs --early [TXN-24]', async () => {
  const marketplace = await attach(inject('stateDir'));
  const renter = await newParticipant(marketplace);
  const { id } = marketplace.listing('subscription');
  const folder = await mkdtemp(join(tmpdir(), 'agent rental cli '));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'agent-wallet.json'), JSON.stringify([...renter.wallet.secretKey]), {
    mode: 0o600,
  });
  const cli = async (...args: string[]) => {
    const told: string[] = [];
    const code = await runCli(['rent', id, ...args, '--yes'], {
      variables: { AGENT_RENTAL_URL: marketplace.dev.base_url },
      folder,
      signal: new AbortController().signal,
      out: (line) => void told.push(line),
      write: (text) => void told.push(text),
      err: (line) => void told.push(line),
    });
    return { code, told: told.join(' ') };
  };
  const end = async () => {
    const { credentials } = await renter.client.listCredentials();
    return credentials.find(({ listing_id }) => listing_id === id)?.expires_at;
  };

  expect(await cli('--days', '30')).toMatchObject({ code: 0 });
  const first = await end();
  const request = { action: 'renew', listing_id: id, duration_seconds: 2_592_000, early: true } as const;
  // The chain's next second: before it a renewal adds nothing.
  await vi.waitFor(() => renter.client.createTransaction(request), { timeout: 10_000, interval: 100 });
  const refused = await cli('--days', '30');
  expect(refused.code).toBe(1);
  expect(refused.told).toMatch(/would add less than 1 of 30 days: a window counts from now.*Renew from 20/);
  expect(await end()).toBe(first);

  const early = await cli('--days', '30', '--early');
  expect(early.code).toBe(0);
  expect(early.told).toContain('The renewal adds less than 1 of 30 days, and moves the end to 20');
  expect(await end()).not.toBe(first);
  expect((await cli('--days', '90')).told).toMatch(/this renews it.*adds (59|60) of 90 days/);
});
