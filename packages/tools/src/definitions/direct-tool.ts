import { formatSol, RENTAL_TERMS, type JsonObject } from '@agent-rental/contract';
import { INPUT_URI_SCHEMA } from '../runs/run-arguments.js';
import { compileInput, type CompiledInput } from '../schema/compile-input.js';
import { describedSchema } from '../schema/publish-node.js';
import { creatorLine, quoteCreator } from '../text/creator-text.js';
import { failingText } from '../text/failing-text.js';
import type { DescribedListing, DirectToolDefinition, RentedListing } from './direct-tool-definition.js';
import { memoised } from './memoised-definitions.js';
import { toolName } from './tool-name.js';

const TITLE_LENGTH = 80;
const DESCRIPTION_LENGTH = 500;

/** Returns the definition of a rental's direct tool. Listings with equal content give the same object. */
export async function defineDirectTool(rented: RentedListing): Promise<DirectToolDefinition> {
  return 'id' in rented ? memoised(rented, () => describeRental(rented)) : describeRental(rented);
}

async function describeRental(rented: RentedListing): Promise<DirectToolDefinition> {
  const known = 'id' in rented ? rented : undefined;
  const agentId = 'id' in rented ? rented.id : rented.listing_id;
  const title = creatorLine('id' in rented ? rented.title : rented.listing_title, TITLE_LENGTH);
  const input = compileInput(known?.input_schema);
  const words = known ? ` Its creator says: ${quoteCreator(known.description, DESCRIPTION_LENGTH)}` : '';
  return {
    name: await toolName(agentId),
    title: `Rented agent: ${title}`,
    // Short, because every request to a model repeats it for each rental.
    description: `Rented agent ${quoteCreator(title, TITLE_LENGTH)}. ${costText(rented)}${healthText(known)}${words}`,
    inputSchema: directInputSchema(agentId, input),
    agentId,
    ...(rented.icon_path === undefined ? {} : { iconPath: rented.icon_path }),
    ...priceOf(rented),
    input,
  };
}

/** The marketplace's own words, before the creator's. */
function healthText(listing: Pick<DescribedListing, 'failing_since'> | undefined): string {
  const text = listing && failingText(listing);
  return text === undefined ? '' : ` ${text}`;
}

function priceOf(rented: RentedListing): Pick<DirectToolDefinition, 'priceLamports'> {
  if (!RENTAL_TERMS[rented.rental_model].chargesRuns) return { priceLamports: 0 };
  return 'price_lamports' in rented ? { priceLamports: rented.price_lamports } : {};
}

/** Shared by all definitions: a process often holds hundreds. */
const TASK_SCHEMA = { type: 'string', description: 'What to do.' };
const REQUIRED = ['agent_id', 'task'];

function directInputSchema(agentId: string, input: CompiledInput): JsonObject {
  return {
    type: 'object',
    properties: {
      // An enum of one: `const` makes Gemini refuse the whole request.
      agent_id: { type: 'string', enum: [agentId] },
      task: TASK_SCHEMA,
      input: describedSchema(input.schema, "Creator's schema."),
      input_uri: INPUT_URI_SCHEMA,
    },
    required: REQUIRED,
  };
}

function costText(rented: RentedListing): string {
  if (!RENTAL_TERMS[rented.rental_model].chargesRuns) return 'Calls cost nothing beyond the rental.';
  const price = 'price_lamports' in rented ? formatSol(rented.price_lamports) : 'its price';
  return `Each call charges ${price}, also when it fails.`;
}
