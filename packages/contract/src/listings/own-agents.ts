import * as z from 'zod';
import {
  cursorPage,
  lamports,
  listingId,
  listingStatus,
  pageEnd,
  rentalModel,
  timestamp,
} from '../primitives.js';

/** Why the service cannot work with an agent, with the creator's next step. */
export const UNREACHABLE_REASONS = {
  endpoint_unreachable: {
    what: 'The endpoint could not be reached',
    next: 'Start the agent, and see that its address is public, serves https and has a valid certificate.',
  },
  endpoint_refused: {
    what: 'The endpoint takes no tasks at this address',
    next: 'Tasks are sent with POST to entrypoint_url itself; redirects are not followed.',
  },
  endpoint_signature: {
    what: 'The endpoint does not accept the signature of the marketplace',
    next: "Give it the listing's webhook secret, which POST /v1/listings/:id/webhook-secret replaces.",
  },
  model_key_missing: {
    what: "The model's vendor asks for a key, and there is none",
    next: 'Send it with PUT /v1/listings/:id/model-key.',
  },
  model_key_refused: {
    what: "The model's vendor does not accept the key",
    next: 'Send another key with PUT /v1/listings/:id/model-key.',
  },
  model_refused: {
    what: 'The model refused the request',
    next: 'See that model.model names a model of the vendor, and model.endpoint_url ends before /chat/completions.',
  },
  model_unreachable: {
    what: 'The model could not be reached',
    next: 'See that model.endpoint_url is public, serves https and speaks as OpenAI does.',
  },
  timed_out: { what: 'The agent did not answer in time', next: 'See that it is not overloaded.' },
} as const satisfies Readonly<Record<string, { what: string; next: string }>>;

/** Why the service cannot work with an agent. */
export type UnreachableReason = keyof typeof UNREACHABLE_REASONS;

/** An agent that the service could not work with when it tried last, in a run or by a probe. */
export const unreachableAgent = z
  .object({
    reason: z.enum(Object.keys(UNREACHABLE_REASONS) as [UnreachableReason, ...UnreachableReason[]]),
    /** The HTTP status of the endpoint or of the model's vendor, where there was one. */
    http_status: z.int().optional(),
    /** The cause and the creator's next step. */
    message: z.string(),
    /** No run or probe has succeeded since this time. */
    since: timestamp,
    /** Time of the last try. */
    checked_at: timestamp,
  })
  .meta({ id: 'UnreachableAgent' });
export type UnreachableAgent = z.infer<typeof unreachableAgent>;

/** An agent as its creator sees it in a list. */
export const ownAgent = z
  .object({
    listing_id: listingId,
    title: z.string(),
    status: z.enum(['draft', ...listingStatus.options]),
    /** Number of the current version, or of the unpublished one in a draft. */
    version: z.int().min(1),
    /** Null in a draft that was registered without terms. */
    rental_model: rentalModel.nullable(),
    price_lamports: lamports.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    /** Null while the agent counts as reachable. */
    unreachable: unreachableAgent.nullable(),
    /** The agent was published unreached at this time, and no run or probe has reached it since. */
    unverified_since: timestamp.optional(),
    /** Its nightly runs have failed since this time, and renters see it. */
    failing_since: timestamp.optional(),
    /** Search hides the listing since this time. */
    hidden_since: timestamp.optional(),
  })
  .meta({ id: 'OwnAgent' });
export type OwnAgent = z.infer<typeof ownAgent>;

/** Query of `GET /v1/agents`. */
export const listAgentsQuery = z.strictObject(cursorPage);

/** Answer of `GET /v1/agents`, the latest first. */
export const listAgentsResponse = z
  .object({ agents: z.array(ownAgent), total: z.int(), limit: z.int(), offset: z.int(), ...pageEnd })
  .meta({ id: 'OwnAgentPage' });
