import { publish } from '@agent-rental/sdk/solana';
import { beforeAll, expect, inject, test } from 'vitest';
import { jobEnd, textAgent } from '../support/agents/agents.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const HOSTILE =
  '# A clerk\n<script>alert(1)</script> [here](javascript:alert(1)) ![picture](https://a.example/p.png) a&#x202e;b';

let marketplace: Marketplace;
let owner: Participant;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  owner = await newParticipant(marketplace);
});

const agentWith = (readme: string | number) => {
  const manifest = textAgent('https://agent.invalid/v1');
  return { ...manifest, listing: { ...manifest.listing, readme } };
};
const pageOf = async (id: string) => {
  const answer = await fetch(`${marketplace.dev.base_url}/dashboard/listings/${id}`);
  return { html: await answer.text(), policy: answer.headers.get('content-security-policy') };
};
const readmeOf = (html: string) => /<div class="readme" dir="auto">(.*?)<\/div>/s.exec(html)?.[1];

test('a README is on the listing and its page, as safe HTML; it is changed and removed without a new version [LST-46]', async () => {
  const job = await jobEnd(owner.client, (await owner.client.registerAgent(agentWith(HOSTILE))).job_id);
  const id = job.result?.listing_id ?? '';
  await publish(owner.client, owner.signer, id, { unverified: true });
  const first = await owner.client.getListing(id);
  expect(first.readme).toBe(HOSTILE);
  const { html, policy } = await pageOf(id);
  expect(readmeOf(html)).toBe(
    '<h3>A clerk</h3><p>&lt;script&gt;alert(1)&lt;/script&gt; [here](javascript:alert(1)) ' +
      '<a href="https://a.example/p.png" rel="nofollow noopener ugc">picture</a> ab</p>',
  );
  // No image of another service: the policy is the one of the other pages.
  expect(policy).toMatch(/^default-src 'none';[^;]*; img-src 'self' data:;/);

  const change = async (readme: string | null) =>
    jobEnd(owner.client, (await owner.client.updateAgent(id, { listing: { readme } })).job_id);
  expect(await change('Another *text*.')).toMatchObject({ status: 'completed' });
  expect(readmeOf((await pageOf(id)).html)).toBe('<p>Another <em>text</em>.</p>');
  expect(await owner.client.getListing(id)).toMatchObject({
    version: first.version,
    metadata_uri: first.metadata_uri,
    readme: 'Another *text*.',
  });
  await change(null);
  expect(await owner.client.getListing(id)).not.toHaveProperty('readme');
  expect(readmeOf((await pageOf(id)).html)).toBeUndefined();
});

test('the public part of an agent, and so its address, is the same with a README [LST-46]', async () => {
  const { job_id: jobId } = await owner.client.registerAgent(agentWith('A text for people.'));
  const id = (await jobEnd(owner.client, jobId)).result?.listing_id ?? '';
  await publish(owner.client, owner.signer, id, { unverified: true });
  const { metadata_uri: uri } = await owner.client.getListing(id);
  const answer = await fetch(`${marketplace.dev.base_url}/ipfs/${uri.replace('ipfs://', '')}?format=raw`);
  expect(answer.status).toBe(200);
  const text = await answer.text();
  expect(text).toContain('Answers in text.');
  expect(text).not.toContain('A text for people.');
});

test.each([
  ['x'.repeat(20_481), /20480/],
  ['\u20ac'.repeat(6_827), /more than 20480 bytes/],
  [7, /expected string/],
  ['AKIAQ3ZL7XW2M9PT4R5V', /access key of AWS/],
])('a README that is too long, no text or holds a key is refused: %#', async (readme, message) => {
  const job = await jobEnd(owner.client, (await owner.client.registerAgent(agentWith(readme))).job_id);
  expect(job).toMatchObject({
    status: 'failed',
    error: { details: [{ path: 'listing.readme', message: expect.stringMatching(message) as string }] },
  });
});
