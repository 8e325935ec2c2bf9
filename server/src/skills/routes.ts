import { serviceEndpoints, SKILL_PATH, type Json } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import { sendDocument } from '../http/send-document.js';
import type { ListingService } from '../listings/index.js';
import { listingSkill } from './listing-skill.js';
import { marketplaceSkills } from './marketplace-skills.js';

/** Caches may keep a skill for as long as a card of an agent. */
const MAX_AGE_SECONDS = 300;

/**
 * Adds the skills: the marketplace's, which the index lists, and one of each listing on sale, in its latest version.
 */
export function skillRoutes(
  app: FastifyInstance,
  {
    listings,
    sampleInputOf,
    ...options
  }: {
    listings: Pick<ListingService, 'detail'>;
    /** An input that passes a schema, if one is found. */
    sampleInputOf: (schema: Record<string, unknown>) => Promise<Json | undefined>;
    baseUrl: () => string;
  },
): void {
  const baseUrl = () => options.baseUrl().replace(/\/+$/, '');
  const { getSkillsIndex } = serviceEndpoints;
  app.get(getSkillsIndex.path, async (request, reply) => {
    const skills = marketplaceSkills(baseUrl()).map(({ name, description }) => ({
      name,
      description,
      files: ['SKILL.md'],
    }));
    const { mediaType } = getSkillsIndex;
    return sendDocument(request, reply, {
      body: JSON.stringify({ skills }),
      mediaType,
      maxAgeSeconds: MAX_AGE_SECONDS,
    });
  });
  app.get<{ Params: { name: string } }>(SKILL_PATH, async (request, reply) => {
    const { name } = request.params;
    const known = marketplaceSkills(baseUrl()).find((skill) => skill.name === name);
    const { document } = known ?? (await skillOfListing(name));
    return sendDocument(request, reply, {
      body: document,
      mediaType: 'text/markdown',
      maxAgeSeconds: MAX_AGE_SECONDS,
    });
  });

  async function skillOfListing(id: string) {
    const listing = await listings.detail(id);
    if (listing.status !== 'active')
      throw new ApiError('listing_not_found', 'The agent is not on sale now.', {
        next: 'Its listing says why: GET /v1/listings/:id.',
      });
    const example = await sampleInputOf(listing.input_schema).catch(() => undefined);
    return listingSkill(listing, example, baseUrl());
  }
}
