import { isApiError, type RentalClient } from '@agent-rental/sdk';
import { MARKETPLACE_SKILLS } from '@agent-rental/tools';
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ReadResourceResult,
  type Server,
} from '@modelcontextprotocol/server';
import {
  SKILLS_EXTENSION_ID,
  SKILLS_GET_METHOD,
  SKILLS_LIST_METHOD,
  skillEntry,
  type Skill,
} from '@modelcontextprotocol/server/ext/skills';
import * as z from 'zod';
import { nextAfter, startOf } from './pages.js';

/** MCP's Skills extension (SEP-2640). The SDK attaches it to its high-level server alone. */
export const SKILLS_EXTENSION = SKILLS_EXTENSION_ID;

/** Rentals on a page. Each is a request to the marketplace. */
const PAGE_SIZE = 20;
const FILE = 'SKILL.md';
const NAME = /^skill:\/\/([a-z0-9]+(?:-[a-z0-9]+)*)\/SKILL\.md$/;
/** Revisions from 2026-07-28 on have fields for caches. Prices change, so nothing is kept. */
const CACHE = { ttlMs: 0, cacheScope: 'private' } as const;

/** Whether a resource is the document of a skill. */
export const isSkillUri = (uri: string): boolean => uri.startsWith('skill://');

/**
 * Answers `skills/list` and `skills/get`: the skills of the marketplace, and one of each current rental. The marketplace
 * writes them all.
 */
export function serveSkills(server: Server, client: RentalClient): void {
  const cacheFields = () => ((server.getNegotiatedProtocolVersion() ?? '') >= '2026-07-28' ? CACHE : {});
  server.setRequestHandler(
    SKILLS_LIST_METHOD,
    { params: z.object({ cursor: z.string().optional() }).optional() },
    async (params, { mcpReq: { signal } }) => {
      const { start, place } = startOf('skills', params?.cursor);
      const rentals = await client.listCredentials(
        { status: 'current', limit: PAGE_SIZE, cursor: place },
        { signal },
      );
      const { credentials, next_cursor: next } = rentals;
      const own = start === 0 ? MARKETPLACE_SKILLS : [];
      const names = [...own, ...credentials.map(({ listing_id }) => listing_id)];
      const skills: Skill[] = [];
      // One after the other: a list is a small part of a caller's requests.
      for (const name of names) {
        const skill = await entryOf(client, name, signal);
        if (skill !== undefined) skills.push(skill);
      }
      const end = start + credentials.length;
      return {
        skills,
        ...(next === undefined ? {} : nextAfter('skills', end, end + 1, next)),
        ...cacheFields(),
      };
    },
  );
  server.setRequestHandler(
    SKILLS_GET_METHOD,
    { params: z.object({ uri: z.string() }) },
    async ({ uri }, { mcpReq: { signal } }) => {
      const [, name] = NAME.exec(uri) ?? [];
      const skill = name === undefined ? undefined : await entryOf(client, name, signal);
      if (skill === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no skill at ${uri}.`);
      return { skill, ...cacheFields() };
    },
  );
}

/** Reads the document of a skill. @throws ResourceNotFoundError if there is none */
export async function readSkill(
  client: RentalClient,
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  const [, name] = NAME.exec(uri) ?? [];
  const text = name === undefined ? undefined : await documentOf(client, name, signal);
  if (text === undefined) throw new ResourceNotFoundError(uri);
  return { contents: [{ uri, mimeType: 'text/markdown', text }] };
}

async function entryOf(client: RentalClient, name: string, signal: AbortSignal): Promise<Skill | undefined> {
  const text = await documentOf(client, name, signal);
  return text === undefined ? undefined : skillEntry(name, { [FILE]: text });
}

/** The document of a skill; undefined for a listing that is not on sale, or unknown. */
async function documentOf(
  client: RentalClient,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await client.getSkill(name, { signal });
  } catch (error) {
    if (isApiError(error) && (error.status === 404 || error.code === 'invalid_listing_id')) return undefined;
    throw error;
  }
}
