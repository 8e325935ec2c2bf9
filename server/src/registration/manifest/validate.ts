import { setImmediate } from 'node:timers/promises';
import {
  agentWarnings,
  listingTerms,
  manifest,
  MANIFEST_MAX_BYTES,
  PRICE_LAMPORTS,
  publishedSecrets,
  type ListingTerms,
  type Manifest,
  RENTAL_TERMS,
} from '@agent-rental/contract';
import type { z } from 'zod';
import { findJsonProblem } from '../../platform/json/json-bounds.js';
import { InvalidSchemaError } from '../../platform/json-schema/errors.js';
import { ForbiddenUrlError, isLoopbackUrl, type OutboundHttp } from '../../platform/outbound-http.js';
import { checkSchema } from '../../platform/json-schema/checks.js';

/** One thing that is wrong with a registration. `path` is dotted, as in `tools.3.name`. */
export interface Violation {
  path: string;
  message: string;
}

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
  const violations: Violation[] = [];
  await setImmediate();
  const parsed = manifest.safeParse(body.manifest);
  await setImmediate();
  if (!parsed.success) violations.push(...fromZod(parsed.error, ''));
  else {
    violations.push(...(await manifestViolations(parsed.data, rules)));
    await setImmediate();
    violations.push(...publishedSecrets(parsed.data));
  }

  const terms = body.listing === undefined ? undefined : listingTerms.safeParse(body.listing);
  if (terms && !terms.success) violations.push(...fromZod(terms.error, 'listing.'));
  if (terms?.success) {
    violations.push(...termViolations(terms.data, rules), ...publishedSecrets({}, terms.data));
  }

  if (violations.length > 0 || !parsed.success) return { valid: false, violations };
  await setImmediate();
  const warnings = [...agentWarnings(parsed.data)];
  return { valid: true, manifest: parsed.data, terms: terms?.data, warnings };
}

/** The violations in a listing's terms, beyond their form. */
export function termViolations(
  terms: Pick<ListingTerms, 'rental_model' | 'price_lamports' | 'min_deposit_lamports'>,
  rules: Pick<RegistrationRules, 'minQueryPriceLamports'>,
): Violation[] {
  const violations: Violation[] = [];
  const price = BigInt(terms.price_lamports);
  if (RENTAL_TERMS[terms.rental_model].isPrepaid) {
    if (price < rules.minQueryPriceLamports) {
      violations.push({
        path: 'listing.price_lamports',
        message: `of a ${terms.rental_model} listing is at least ${rules.minQueryPriceLamports} lamports`,
      });
    }
    if (terms.min_deposit_lamports !== undefined && BigInt(terms.min_deposit_lamports) < price) {
      violations.push({ path: 'listing.min_deposit_lamports', message: 'is below the price of one run' });
    }
  } else if (price < BigInt(PRICE_LAMPORTS.min)) {
    violations.push({
      path: 'listing.price_lamports',
      message: `is at least ${PRICE_LAMPORTS.min} lamports`,
    });
  }
  return violations;
}

/** Names that lead nowhere outside of a machine or its network (RFC 6761, 6762, 8375, and ICANN's `internal`). */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa)\.?$/;

async function manifestViolations(value: Manifest, rules: RegistrationRules): Promise<Violation[]> {
  const violations: Violation[] = [];
  for (const field of ['input_schema', 'output_schema'] as const) {
    try {
      await checkSchema(value[field]);
    } catch (error) {
      if (!(error instanceof InvalidSchemaError)) throw error;
      violations.push({ path: field, message: error.message });
    }
  }
  const urls = {
    entrypoint_url: value.entrypoint_url,
    'model.endpoint_url': value.system_prompt && value.model.endpoint_url,
  };
  for (const [path, url] of Object.entries(urls)) {
    if (!url) continue;
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
  for (const [index, tool] of (value.tools ?? []).entries()) {
    if (!rules.servedTools.has(tool.name)) {
      const why = rules.unservedReasons?.[tool.name];
      violations.push({
        path: `tools.${index}.name`,
        message: `${tool.name} is not served by the sandbox in use here${why === undefined ? '' : `: ${why}`}`,
      });
    }
  }
  return violations;
}

/** The issues of zod as violations. */
export function fromZod(error: z.ZodError, prefix: string): Violation[] {
  return error.issues.map(({ path, message }) => ({
    path: (prefix + path.join('.')).replace(/\.$/, ''),
    message,
  }));
}
