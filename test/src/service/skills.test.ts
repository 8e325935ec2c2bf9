import { ERROR_GUIDE, MARKETPLACE_SKILLS, skillsIndex } from '@agent-rental/contract';
import { createClient } from '@agent-rental/sdk';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { attach, type Marketplace } from '../support/marketplace.js';

const FOLDER = '/.well-known/skills';

let marketplace: Marketplace;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
});

const get = (path: string) => fetch(new URL(path, marketplace.dev.base_url));
const textOf = async (path: string) => (await get(path)).text();
/** The blocks of JSON in a document: the schema, an example of the input, and a body. */
const blocksOf = (text: string) =>
  [...text.matchAll(/```json\n(.*)\n```/g)].map(([, json = '']) => JSON.parse(json) as object);

test('the index has the marketplace’s skills, made of the texts of AGENTS.md [SVC-15]', async () => {
  const { skills } = skillsIndex.parse(await (await get(`${FOLDER}/index.json`)).json());
  expect(skills.map(({ name }) => name)).toEqual(MARKETPLACE_SKILLS);
  const guide = await textOf('/AGENTS.md');
  const unnumbered = (step: string) => step.replace(/^\d\. /, '');
  for (const { name, description, files } of skills) {
    const text = await textOf(`${FOLDER}/${name}/${files[0]}`);
    expect(text.startsWith(`---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n`)).toBe(
      true,
    );
    const [first = ''] = /^1\. (?:.+\n)+/m.exec(text) ?? [];
    expect(guide).toContain(unnumbered(first.split(/\n(?=\d\. )/)[0] ?? 'missing'));
    for (const code of text.matchAll(/^- `(\w+)`: /gm)) expect(Object.keys(ERROR_GUIDE)).toContain(code[1]);
    for (const { id, title } of marketplace.dev.listings) {
      expect(text).not.toContain(id);
      expect(text).not.toContain(title);
    }
  }
});

test('every example in a skill passes the schema of its listing [SVC-15]', async () => {
  const client = createClient({ baseUrl: marketplace.dev.base_url, apiKey: marketplace.apiKey });
  let checked = 0;
  for (let offset = 0, total = 1; offset < total; offset += 100) {
    const page = await client.searchListings({ limit: 100, offset });
    total = page.total;
    for (const { id } of page.listings) {
      const { input_schema } = await client.getListing(id);
      const [shown, example, body] = blocksOf(await client.getSkill(id));
      expect(shown).toEqual(input_schema);
      expect(z.fromJSONSchema(input_schema).safeParse(example).error).toBeUndefined();
      expect(body).toMatchObject({ agent_id: id, input: example });
      checked += 1;
    }
  }
  expect(checked).toBeGreaterThanOrEqual(marketplace.dev.listings.length);
});

test('the SDK’s client gets the same documents over MCP, verified [ADP-33]', async () => {
  const client = new Client({ name: 'test', version: '1' });
  const authorization = `Bearer ${marketplace.apiKey}`;
  await client.connect(
    new StreamableHTTPClientTransport(new URL(marketplace.dev.mcp_url), {
      requestInit: { headers: { authorization } },
    }),
  );
  onTestFinished(() => client.close());
  const skills = new SkillsClient(client);
  const { skills: listed } = await skills.list();
  const names = listed.map(({ frontmatter }) => frontmatter.name);
  expect(names.slice(0, 3)).toEqual(MARKETPLACE_SKILLS);
  expect(names).toEqual(expect.arrayContaining(marketplace.dev.listings.map(({ id }) => id)));
  for (const skill of listed) {
    const { text, verified } = await skills.read(skill);
    expect(verified).toBe(true);
    expect(text).toBe(await textOf(`${FOLDER}/${skill.frontmatter.name}/SKILL.md`));
  }
});

test.each([
  ['none-aaaaaa', 404],
  ['no-such-skill', 400],
])('a name without a skill is refused (%s)', async (name, status) => {
  expect((await get(`${FOLDER}/${name}/SKILL.md`)).status).toBe(status);
});
