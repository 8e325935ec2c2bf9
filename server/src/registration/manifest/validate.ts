import { setImmediate } from 'node:timers/promises';
import {
  agentWarnings,
  listingTerms,
  manifest,
  MANIFEST_MAX_BYTES,
  priceViolations,
  publishedSecrets,
  violationsOf,
  type ListingTerms,
  type Manifest,
  type Violation,
} from '@agent-rental/contract';
import { findJsonProblem } from '../../platform/json/json-bounds.js';
import { InvalidSchemaError } from '../../platform/json-schema/errors.js';
import { ForbiddenUrlError, isLoopbackUrl, type OutboundHttp } from '../../platform/outbound-http.js';
import { checkSchema } from '../../platform/json-schema/checks.js';

export type { Violation };

/** The settings for validating a registration. */
export interface RegistrationRules {
  outbound: OutboundHttp;
  /** Whether addresses on the server's own machine can be allowed: on the embedded default. */
  canAllowLoopback?: boolean;
  /** Names of the tools that the sandbox in use can serve. */
  servedTools: ReadonlySet<string>;
  /** The reason why this server does not offer a tool, and the remedy. */
  unservedReasons?: Readonly<Record<string, string>>;
  /** The least price of a Per-Task listing, in lamports, from the protocol's account. */
  minQueryPriceLamports: bigint;
}

export type Validated =
  | {
      valid: true;
      manifest: Manifest;
      terms: ListingTerms | undefined;
      /** Advice, which refuses nothing. */
      warnings: Violation[];
    }
  | { valid: false; violations: Violation[] };

/**
 * Validates a registration's manifest and terms; gives every violation, not only the first. Gives way to the event loop
 * between its parts: each walks the whole manifest.
 */
export async function validateRegistration(
  body: { manifest: unknown; listing: unknown },
  rules: RegistrationRules,
): Promise<Validated> {
  await setImmediate();
  const problem = findJsonProblem(body.manifest) ?? findJsonProblem(body.listing);
  if (problem) return { valid: false, violations: [{ path: problem.field, message: problem.message }] };
  await setImmediate();
  const size = Buffer.byteLength(JSON.stringify(body.manifest));
  if (size > MANIFEST_MAX_BYTES) {
    // Further faults do not matter, and would take long to find.
    const message = `the manifest has ${size} bytes; the most is ${MANIFEST_MAX_BYTES}`;
    return { valid: false, violations: [{ path: '', message }] };
  }
  await setImmediate();
  const parsed = manifest.safeParse(body.manifest);
  await setImmediate();
  const violations = violationsOf(parsed.error, body.manifest);
  // Also where single fields are wrong: a creator gets every violation at once.
  violations.push(
    ...(await manifestViolations(body.manifest, rules, new Set(violations.map(({ path }) => path)))),
  );
  await setImmediate();
  violations.push(...publishedSecrets(Object(body.manifest) as Record<string, unknown>));

  const terms = body.listing === undefined ? undefined : listingTerms.safeParse(body.listing);
  violations.push(...violationsOf(terms?.error, body.listing, 'listing.'));
  violations.push(...priceViolations(body.listing, Number(rules.minQueryPriceLamports)));
  if (terms?.success) violations.push(...publishedSecrets({}, terms.data));

  if (violations.length > 0 || !parsed.success) return { valid: false, violations };
  await setImmediate();
  const warnings = [...agentWarnings(parsed.data)];
  return { valid: true, manifest: parsed.data, terms: terms?.data, warnings };
}

/** Names that lead nowhere outside of a machine or its network (RFC 6761, 6762, 8375, and ICANN's `internal`). */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa)\.?$/;

/** @param told paths that are known to be wrong, which are not judged again */
async function manifestViolations(
  given: unknown,
  rules: RegistrationRules,
  told: ReadonlySet<string>,
): Promise<Violation[]> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return [];
  const value = given as Record<string, unknown>;
  const violations: Violation[] = [];
  for (const field of ['input_schema', 'output_schema'] as const) {
    if (told.has(field)) continue;
    try {
      await checkSchema(value[field] as object);
    } catch (error) {
      if (!(error instanceof InvalidSchemaError)) throw error;
      violations.push({ path: field, message: error.message });
    }
  }
  const urls = {
    entrypoint_url: value['entrypoint_url'],
    'model.endpoint_url':
      value['system_prompt'] && (Object(value['model']) as Record<string, unknown>)['endpoint_url'],
  };
  for (const [path, url] of Object.entries(urls)) {
    if (typeof url !== 'string' || url === '' || told.has(path)) continue;
    try {
      rules.outbound.checkUrl(url);
      const { protocol, hostname } = new URL(url);
      if (protocol === 'https:' && LOCAL_NAME.test(hostname)) {
        violations.push({ path, message: `cannot be called: ${hostname} is a name of a private network` });
      }
    } catch (error) {
      if (!(error instanceof ForbiddenUrlError)) throw error;
      const advice =
        rules.canAllowLoopback === true && isLoopbackUrl(url)
          ? `. To try it on this machine, start the server with ALLOW_LOOPBACK=${new URL(url).origin}`
          : '';
      violations.push({ path, message: `cannot be called: ${error.message}${advice}` });
    }
  }
  const tools = Array.isArray(value['tools']) ? (value['tools'] as unknown[]) : [];
  for (const [index, tool] of tools.entries()) {
    const { name } = Object(tool) as { name?: unknown };
    const path = `tools.${index}.name`;
    if (typeof name !== 'string' || told.has(path) || rules.servedTools.has(name)) continue;
    const why = rules.unservedReasons?.[name];
    violations.push({
      path,
      message: `${name} is not served by the sandbox in use here${why === undefined ? '' : `: ${why}`}`,
    });
  }
  return violations;
}
