import { createStandIn } from '@agent-rental/stand-in';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { expect, it, onTestFinished } from 'vitest';
import { HEADERS, serve } from '../testing/opened.js';

const OWN = ['find-and-rent-an-agent', 'run-follow-and-cancel-runs', 'keep-a-budget-and-pay'];

async function openSkills(
  listings: Parameters<typeof createStandIn>[0],
  mode: 'legacy' | 'auto' = 'auto',
): Promise<SkillsClient> {
  const { url } = await serve(createStandIn(listings));
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { ...HEADERS } } }));
  onTestFinished(() => client.close());
  return new SkillsClient(client);
}

it.each(['legacy', 'auto'] as const)('the SDK’s client lists and reads skills (%s)', async (mode) => {
  const skills = await openSkills([{ id: 'agent-aaaaaa' }, { id: 'other-bbbbbb', rental: 'none' }], mode);
  expect(skills.supported).toBe(true);
  const { skills: listed } = await skills.list();
  expect(listed.map(({ frontmatter }) => frontmatter.name)).toEqual([...OWN, 'agent-aaaaaa']);
  for (const skill of listed) {
    const read = await skills.read(skill);
    expect(read).toMatchObject({ verified: true, mimeType: 'text/markdown' });
    expect(read.body).toContain(`# ${skill.frontmatter.name}`);
    expect((await skills.get(skill.uri)).skill).toEqual(skill);
  }
});

it('pages of skills have the skills of all rentals once', async () => {
  const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const ids = letters.flatMap((first) => letters.map((last) => `agent-aaaa${first}${last}`));
  const { skills } = await (await openSkills(ids.map((id) => ({ id })))).list();
  expect(skills.map(({ frontmatter }) => frontmatter.name).sort()).toEqual([...OWN, ...ids].sort());
});

it.each(['skill://none-aaaaaa/SKILL.md', 'skill://agent-aaaaaa/OTHER.md', 'skill://../SKILL.md'])(
  'a skill that is missing is an error (%s)',
  async (uri) => {
    const skills = await openSkills([{ id: 'agent-aaaaaa' }]);
    await expect(skills.get(uri)).rejects.toThrow(/no skill/);
  },
);
