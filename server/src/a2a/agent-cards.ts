import {
  A2A_PATH,
  APP_SCOPES,
  MARK_PATH,
  OAUTH_PATHS,
  RENT_PAGE_PATH,
  serviceEndpoints,
  type Listing,
} from '@agent-rental/contract';
import { creatorLine } from '@agent-rental/tools';
import type { AgentCard, AgentSkill, SecurityScheme } from '@a2a-js/sdk';
import { VERSION } from '../platform/version.js';
import { RENTAL_EXTENSION } from './task-of-run.js';

const TEXT = 'text/plain';
const JSON_TYPE = 'application/json';
/** Longest texts of a creator in a card. */
const MAX = { title: 120, description: 2_000 };

/** The address of an agent, to which its messages go. */
function agentUrlOf(baseUrl: string, listingId: string): string {
  return `${baseUrl}${A2A_PATH}/${listingId}`;
}

/** The card of a listing. Its texts are its creator's. */
export function cardOfListing(listing: Listing, baseUrl: string): AgentCard {
  const { id, title, description, category, version = 1, input_schema, output_schema, icon_path } = listing;
  const name = creatorLine(title, MAX.title);
  const about = creatorLine(description, MAX.description);
  const outputModes = output_schema['type'] === 'string' ? [TEXT] : [JSON_TYPE, TEXT];
  return {
    ...commonParts(agentUrlOf(baseUrl, id), baseUrl),
    name,
    description: about,
    version: String(version),
    provider: {
      organization: creatorLine(listing.creator.display_name, 80),
      url: `${baseUrl}/creators/${listing.creator.id}`,
    },
    documentationUrl: `${baseUrl}/dashboard/listings/${id}`,
    ...(icon_path === undefined ? {} : { iconUrl: baseUrl + icon_path }),
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: false,
      extensions: [
        {
          uri: RENTAL_EXTENSION,
          description:
            'The price of a rental, the page where one rents, and the schemas of input and output.',
          required: false,
          params: {
            listingId: id,
            rentalModel: listing.rental_model,
            priceLamports: listing.price_lamports,
            minDepositLamports: listing.min_deposit_lamports,
            ...(listing.free_trial === undefined ? {} : { freeTrial: listing.free_trial }),
            rentUrl: baseUrl + RENT_PAGE_PATH.replace(':listing_id', id),
            inputSchema: input_schema,
            outputSchema: output_schema,
          },
        },
      ],
    },
    defaultOutputModes: outputModes,
    skills: [skillOf({ id: 'run', name, description: about, tags: category, outputModes })],
  };
}

/** The card of the marketplace, which finds, rents and runs agents. */
export function cardOfMarketplace(baseUrl: string): AgentCard {
  return {
    ...commonParts(baseUrl + A2A_PATH, baseUrl),
    name: 'Agent rental marketplace',
    description: 'Finds, rents and runs AI agents of a marketplace. Each rented agent also has a card.',
    version: VERSION,
    provider: { organization: 'Agent rental marketplace', url: baseUrl },
    documentationUrl: `${baseUrl}/AGENTS.md`,
    iconUrl: baseUrl + MARK_PATH,
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false, extensions: [] },
    defaultOutputModes: [JSON_TYPE, TEXT],
    skills: [
      skillOf({
        id: 'find',
        name: 'Find an agent',
        description: 'Text is a search. Or data: {"skill": "find", "query": "...", "limit": 10}.',
        tags: ['search'],
        examples: ['read invoices'],
      }),
      skillOf({
        id: 'rent',
        name: 'Rent an agent',
        description:
          'Data: {"skill": "rent", "agent_id": "..."}. The answer has the price and the page where the owner of the wallet pays.',
        tags: ['payment'],
      }),
      skillOf({
        id: 'run',
        name: 'Run a rented agent',
        description:
          'Data: {"skill": "run", "agent_id": "...", "task": "...", "input": {}}. The answer is a task.',
        tags: ['run'],
      }),
    ],
  };
}

function skillOf(
  skill: Pick<AgentSkill, 'id' | 'name' | 'description' | 'tags'> & Partial<AgentSkill>,
): AgentSkill {
  return { examples: [], inputModes: [], outputModes: [], securityRequirements: [], ...skill };
}

function commonParts(url: string, baseUrl: string) {
  const at = (protocolVersion: string) => ({ url, protocolBinding: 'JSONRPC', tenant: '', protocolVersion });
  return {
    supportedInterfaces: [at('1.0'), at('0.3')],
    securitySchemes: schemesOf(baseUrl),
    securityRequirements: [
      { schemes: { bearer: { list: [] } } },
      { schemes: { oauth: { list: [...APP_SCOPES] } } },
    ],
    defaultInputModes: [TEXT, JSON_TYPE],
    signatures: [],
  };
}

function schemesOf(baseUrl: string): Record<string, SecurityScheme> {
  const bearer = {
    description: 'An API key of the marketplace, or the token of a wallet login.',
    scheme: 'bearer',
    bearerFormat: '',
  };
  const scopes = Object.fromEntries(APP_SCOPES.map((scope) => [scope, SCOPE_WORDS[scope]]));
  const flow = {
    authorizationUrl: baseUrl + OAUTH_PATHS.authorize,
    tokenUrl: baseUrl + OAUTH_PATHS.token,
    refreshUrl: baseUrl + OAUTH_PATHS.token,
    scopes,
    pkceRequired: true,
  };
  const oauth = {
    description: 'A person connects the client with a wallet.',
    flows: { flow: { $case: 'authorizationCode' as const, value: flow } },
    oauth2MetadataUrl: baseUrl + serviceEndpoints.getAuthorizationServer.path,
  };
  return {
    bearer: { scheme: { $case: 'httpAuthSecurityScheme', value: bearer } },
    oauth: { scheme: { $case: 'oauth2SecurityScheme', value: oauth } },
  };
}

const SCOPE_WORDS: Record<(typeof APP_SCOPES)[number], string> = {
  run: 'Runs rented agents.',
  rent: 'Rents agents within the limits of the wallet’s owner.',
};
