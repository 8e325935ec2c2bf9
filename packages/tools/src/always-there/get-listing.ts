import type {
  CredentialVerification,
  Json,
  JsonObject,
  Listing,
  ListingSummary,
} from '@agent-rental/contract';
import type { CallOptions, RentalClient } from '@agent-rental/sdk';
import { cleanJson, creatorLine } from '../text/creator-text.js';
import { failingText } from '../text/failing-text.js';
import { compileInput } from '../schema/compile-input.js';
import type { RentedTool } from '../definitions/rented-tool.js';
import { checkedTool } from '../runs/checked-tool.js';
import { agentIdArgument } from './agent-id.js';
import { answer, objectResult, READ_ONLY } from './answer.js';

/** Bounds that keep the whole answer under the length of one result. */
const MAX = { title: 120, description: 4_000, sample: 1_000, schemaText: 500, schema: 12_000 };

/** `get_listing`: one agent with its input schema and its rental. */
export function getListingTool(client: RentalClient): RentedTool {
  return checkedTool({
    name: 'get_listing',
    title: 'Show an agent',
    description:
      'Shows one agent of the marketplace: description, price, input (input_schema) and the rental of this wallet ' +
      '(rental). An agent with unverified_since was published although the marketplace could not reach it, and no run ' +
      'has succeeded since. Its creator wrote the texts.',
    inputSchema: {
      type: 'object',
      properties: {
        agent_id: { type: 'string', description: 'Id of the agent, for instance invoice-reader-k3x7qa.' },
      },
      required: ['agent_id'],
    },
    annotations: READ_ONLY,
    stream: (args, options) =>
      answer(args, options, async (given, call) => {
        const agentId = agentIdArgument(given);
        const [listing, rental] = await Promise.all([
          client.getListing(agentId, call),
          rentalState(client, agentId, call),
        ]);
        return objectResult({ ...listingFacts(listing), ...(rental && { rental: rentalFacts(rental) }) });
      }),
  });
}

/** The rental of a listing. Absent if the service cannot tell it now: the listing is useful without it. */
async function rentalState(
  client: RentalClient,
  agentId: string,
  call: CallOptions,
): Promise<CredentialVerification | undefined> {
  return client.verifyCredential(agentId, call).catch(() => undefined);
}

function rentalFacts(rental: CredentialVerification): JsonObject {
  const { status, valid, balance_lamports } = rental;
  return { status, valid, ...(balance_lamports === undefined ? {} : { balance_lamports }) };
}

function listingFacts(listing: Listing): JsonObject {
  return {
    agent_id: listing.id,
    title: creatorLine(listing.title, MAX.title),
    description: cleanJson(listing.description.slice(0, MAX.description), MAX.description) as Json,
    category: listing.category,
    status: listing.status,
    ...suspensionFacts(listing),
    ...offerFacts(listing),
    rental_model: listing.rental_model,
    price_sol: listing.price_sol,
    price_lamports: listing.price_lamports,
    min_deposit_lamports: listing.min_deposit_lamports,
    rating: listing.rating,
    review_count: listing.review_count,
    run_count: listing.run_count,
    success_rate: listing.success_rate,
    creator: creatorLine(listing.creator.display_name, 80),
    last_updated: listing.last_updated,
    ...(listing.unverified_since === undefined ? {} : { unverified_since: listing.unverified_since }),
    input_schema: shownSchema(listing.input_schema),
    output_schema: shownSchema(listing.output_schema),
    sample_output: listing.sample_output.slice(0, 3).map((sample) => cleanJson(sample, MAX.sample) as string),
  };
}

/** The operator's reason, or the way to report an agent to the operator. */
function suspensionFacts({ id, status, suspension_reason: reason }: Listing): JsonObject {
  if (status !== 'suspended')
    return { report: `POST /v1/listings/${id}/reports tells the operator of fraud or harm.` };
  return reason === undefined ? {} : { suspension_reason: cleanJson(reason, MAX.description) as Json };
}

/** The marketplace's notes on a failing agent, and on a free first run. */
export function offerFacts(listing: Pick<ListingSummary, 'failing_since' | 'free_trial'>): JsonObject {
  const health = failingText(listing);
  const trial =
    listing.free_trial === 'renters'
      ? 'First run free for renters: run_agent runs it once for a wallet that has rented an agent of another creator.'
      : 'First run free: run_agent runs it once for a wallet that has not rented it.';
  return {
    ...(health === undefined ? {} : { health }),
    ...((listing.free_trial ?? false) === false ? {} : { free_trial: trial }),
  };
}

/** The creator's schema, if a model can read its length. */
function shownSchema(schema: JsonObject): JsonObject {
  const cleaned = cleanJson(schema, MAX.schemaText) as JsonObject;
  return JSON.stringify(cleaned).length <= MAX.schema ? cleaned : compileInput(schema).schema;
}
