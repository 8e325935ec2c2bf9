import {
  agentWarnings,
  listingTerms,
  manifest,
  MANIFEST_MAX_BYTES,
  publishedSecrets,
} from '@agent-rental/contract';

/** One thing that is wrong with an agent, or could be better. `path` is dotted, as in `tools.3.name`. */
export interface AgentFault {
  readonly path: string;
  readonly message: string;
}

/** What {@link checkAgent} found. */
export interface CheckedAgent {
  /** The marketplace would refuse the agent for these. */
  readonly faults: AgentFault[];
  /** Nothing refuses these; renters, or models that choose among tools, are served worse. */
  readonly advice: AgentFault[];
}

type Fields = Record<string, unknown>;

/**
 * Checks the body of a registration as far as it can be done without a marketplace: the manifest, and the terms in
 * `listing`. What only the marketplace knows (whether an address may be called, which tools it serves, its least price) is
 * checked when the agent is registered.
 */
export function checkAgent(body: Fields): CheckedAgent {
  const { listing, model_key: _, ...fields } = body;
  const parsed = manifest.safeParse(fields);
  const terms = listing === undefined ? undefined : listingTerms.safeParse(listing);
  const faults = [
    ...(parsed.error?.issues ?? []).map(({ path, message }) => ({ path: path.join('.'), message })),
    ...(terms?.error?.issues ?? []).map(({ path, message }) => ({
      path: ['listing', ...path].join('.'),
      message,
    })),
    ...publishedSecrets(fields, listing),
  ];
  const bytes = new TextEncoder().encode(JSON.stringify(fields)).length;
  if (bytes > MANIFEST_MAX_BYTES) {
    faults.push({ path: '', message: `the manifest has ${bytes} bytes; the most is ${MANIFEST_MAX_BYTES}` });
  }
  return { faults, advice: adviceFor(fields, listing) };
}

/**
 * Fills in what the manifest of a connected agent needs and nothing reads: its model is its creator's own affair, and the
 * specification asks every manifest for one.
 *
 * @returns the manifest, and whether a model was filled in
 */
export function completeConnected<T extends Fields>(body: T): { body: T; isFilled: boolean } {
  const entrypoint = body['entrypoint_url'];
  if (typeof entrypoint !== 'string' || body['model'] !== undefined) return { body, isFilled: false };
  return {
    body: { ...body, model: { provider: 'self_hosted', endpoint_url: entrypoint } },
    isFilled: true,
  };
}

function adviceFor(fields: Fields, listing: unknown): AgentFault[] {
  const advice: AgentFault[] = agentWarnings(fields);
  if (listing === undefined) {
    advice.push({
      path: 'listing',
      message: 'is missing: rental_model and price_lamports are asked for to publish',
    });
  } else if ((Object(listing) as Fields)['sample_output'] === undefined) {
    advice.push({ path: 'listing.sample_output', message: 'is missing: renters see one to three of them' });
  }
  return advice;
}
