import type { RentalClient } from '@agent-rental/sdk';
import type { ToolResult } from '@agent-rental/tools';
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { AskedState } from './approvals.js';
import { elicitationModes } from './elicitation-modes.js';
import { askOwner, waitForOwner } from './owner-approval.js';

const codec = createRequestStateCodec<AskedState>({ key: randomBytes(32) });
const PAGE_URL = 'https://market.example/dashboard/approvals/q-1';
const refused: ToolResult = {
  status: 'error',
  text: 'It waits.',
  error: {
    code: 'approval_required',
    ownerApproval: { id: 'q-1', url: PAGE_URL, expiresAt: '2026-01-05T11:00:00.000Z', reason: 'It has to.' },
  },
};

/** A round of a call: the state that the client sends back, and its answer. */
function round(carried?: Partial<AskedState>, action?: string): ServerContext {
  const inputResponses = action === undefined ? undefined : { owner_approval: { action } };
  return {
    mcpReq: { requestState: () => carried, inputResponses, envelope: undefined },
  } as unknown as ServerContext;
}

describe('the modes of a client', () => {
  it.each([
    [undefined, { form: false, url: false }],
    [{}, { form: false, url: false }],
    [{ elicitation: {} }, { form: true, url: false }],
    [{ elicitation: { form: {} } }, { form: true, url: false }],
    [{ elicitation: { url: {} } }, { form: false, url: true }],
    [{ elicitation: { form: {}, url: {} } }, { form: true, url: true }],
  ])('that declares %j are %j [ID-79]', (declared, modes) => {
    expect(elicitationModes({ getClientCapabilities: () => declared }, round())).toEqual(modes);
  });
});

describe('a call that needs the owner’s approval', () => {
  it('opens the page in a client with URL elicitation, and shows a form with its address in a client with forms [ID-79]', async () => {
    for (const form of [true, false]) {
      const asked = await askOwner(refused, { form, url: true }, round(), codec);
      expect(asked?.inputRequests?.['owner_approval']).toMatchObject({
        method: 'elicitation/create',
        params: { mode: 'url', url: PAGE_URL },
      });
    }
    const asked = await askOwner(refused, { form: true, url: false }, round(), codec);
    const request = asked?.inputRequests?.['owner_approval'];
    expect(request).toMatchObject({ params: { message: expect.stringContaining(PAGE_URL) as string } });
    expect(request).not.toHaveProperty('params.url');
    expect(request).not.toHaveProperty('params.requestedSchema.required');
  });

  it('leaves a client that declares neither with the result, which names the page [ID-79]', async () => {
    expect(await askOwner(refused, { form: false, url: false }, round(), codec)).toBeUndefined();
  });

  it('leads a client there once', async () => {
    const modes = { form: true, url: true };
    expect(await askOwner(refused, modes, round({ ownerApproval: 'q-1' }, 'accept'), codec)).toBeUndefined();
    expect(await askOwner(refused, modes, round({ ownerApproval: 'q-0' }, 'accept'), codec)).toBeDefined();
    expect(await askOwner({ status: 'completed', text: '' }, modes, round(), codec)).toBeUndefined();
  });

  it('waits for the answer only after the user has opened the page', async () => {
    const asked: unknown[] = [];
    const client = {
      getApproval: async (id: string, { waitSeconds }: { waitSeconds: number }) =>
        void asked.push([id, waitSeconds]),
    } as unknown as RentalClient;
    const { signal } = new AbortController();
    await waitForOwner(client, round(), 9_000, signal);
    await waitForOwner(client, round({ ownerApproval: 'q-1' }, 'decline'), 9_000, signal);
    expect(asked).toEqual([]);
    await waitForOwner(client, round({ ownerApproval: 'q-1' }, 'accept'), 9_000, signal);
    expect(asked).toEqual([['q-1', 9]]);
  });
});
