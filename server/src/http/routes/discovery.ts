import {
  MARK_PATH,
  MARK_SIDE_PX,
  MCP_PATH,
  SITEMAP_PATH,
  serverCard,
  serviceEndpoints,
  type ServerCard,
} from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { VERSION } from '../../platform/version.js';
import { sendDocument } from '../send-document.js';
import { agentsGuide, llmsIndex } from './renter-guide.js';

const { getServerCard, getWellKnownServerCard, getAiCatalog, getLlmsTxt, getAgentsGuide, getRobotsTxt } =
  serviceEndpoints;

/** Search engines read the pages about agents and creators. The others are a wallet's. */
const robots = (baseUrl: string): string =>
  [
    'User-agent: *',
    'Allow: /dashboard/listings/',
    'Disallow: /dashboard',
    'Disallow: /v1/',
    `Sitemap: ${baseUrl}${SITEMAP_PATH}`,
    '',
  ].join('\n');

/**
 * Discovery for a program that knows this address alone: an MCP server card, its catalog, and two pages for agents. They
 * hold no text of creators.
 */
export function discoveryRoutes(app: FastifyInstance, options: { baseUrl: () => string }): void {
  const baseUrl = () => options.baseUrl().replace(/\/+$/, '');
  const documents = [
    { endpoint: getServerCard, write: () => JSON.stringify(cardOf(baseUrl())) },
    { endpoint: getWellKnownServerCard, write: () => JSON.stringify(cardOf(baseUrl())) },
    { endpoint: getAiCatalog, write: () => JSON.stringify(catalogOf(baseUrl())) },
    { endpoint: getLlmsTxt, write: () => llmsIndex(baseUrl()) },
    { endpoint: getAgentsGuide, write: () => agentsGuide(baseUrl()) },
    { endpoint: getRobotsTxt, write: () => robots(baseUrl()) },
  ];
  for (const { endpoint, write } of documents) {
    const { mediaType } = endpoint;
    app.get(endpoint.path, async (request, reply) =>
      sendDocument(request, reply, { body: write(), mediaType, maxAgeSeconds: 3600 }),
    );
  }
}

/** The card of SEP-2127, which describes how to connect and leaves the tools to MCP itself. */
function cardOf(baseUrl: string): ServerCard {
  return serverCard.parse({
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: 'io.github.agent-rental/mcp-server',
    title: 'Agent rental marketplace',
    description: 'Finds, rents and runs AI agents of a marketplace, as tools.',
    version: VERSION,
    websiteUrl: `${baseUrl}/AGENTS.md`,
    icons: [{ src: baseUrl + MARK_PATH, mimeType: 'image/png', sizes: [`${MARK_SIDE_PX}x${MARK_SIDE_PX}`] }],
    remotes: [
      {
        type: 'streamable-http',
        url: baseUrl + MCP_PATH,
        headers: [
          {
            name: 'Authorization',
            description:
              'Bearer and an API key of the marketplace, or the token of a wallet login. Not set where the client logs in by OAuth.',
            isRequired: false,
            isSecret: true,
          },
        ],
      },
    ],
  } satisfies ServerCard);
}

function catalogOf(baseUrl: string): object {
  return {
    specVersion: '1.0',
    entries: [
      {
        identifier: `urn:air:${new URL(baseUrl).hostname}:mcp:mcp-server`,
        type: getServerCard.mediaType,
        url: baseUrl + getServerCard.path,
      },
    ],
  };
}
