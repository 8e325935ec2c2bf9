import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RentalClient } from '@agent-rental/sdk';
import type { WalletSigner } from '@agent-rental/sdk/solana';
import { expect, onTestFinished, test } from 'vitest';
import { exampleAgents, type ExampleAgent } from '../agents/index.js';
import { openExamplesFolder } from './examples-folder.js';
import { ensurePublished } from './publish.js';

test('an agent is registered again whose registration a restarted server refused', async () => {
  const path = await mkdtemp(join(tmpdir(), 'agent-rental-test-'));
  onTestFinished(() => rm(path, { recursive: true }));
  const folder = await openExamplesFolder(path);
  folder.state.registrations['agent'] = { job_id: 'refused' };
  const registered: unknown[] = [];
  const client = {
    getJob: async (id: string) =>
      id === 'refused'
        ? { status: 'failed' }
        : { status: 'completed', review: { state: 'approved' }, result: { listing_id: 'listing' } },
    getListing: async (id: string) => ({ id }),
    registerAgent: async (manifest: unknown) => {
      registered.push(manifest);
      return { job_id: 'second' };
    },
  } as unknown as RentalClient;

  const publication = {
    agent: exampleAgents[0] as ExampleAgent,
    manifest: {} as never,
    registrationKey: 'agent',
    onWebhookSecret: async () => undefined,
  };
  const creator = { client, signer: {} as WalletSigner };
  expect(await ensurePublished(creator, folder, publication)).toEqual({ listingId: 'listing', isNew: true });
  expect(registered).toHaveLength(1);
  expect((await openExamplesFolder(path)).state.registrations).toEqual({
    agent: { job_id: 'second', listing_id: 'listing' },
  });
});
