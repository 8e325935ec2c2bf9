import { createHash, randomBytes } from 'node:crypto';
import type { Manifest } from '@agent-rental/contract';
import type { PrivatePart } from './private-part.js';

/** What a version is made of beside its manifest. */
export interface VersionSecrets {
  /** The manifest as it was sent, defaults not filled in. */
  manifest: Record<string, unknown>;
  modelKey: string | undefined;
  /** Of a connected agent. */
  webhookSecret: string | undefined;
}

/** A secret in the form of Standard Webhooks. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

/** The part of a version that nobody sees. */
export function privatePartOf(manifest: Manifest, secrets: VersionSecrets): PrivatePart {
  const salt = randomBytes(32).toString('base64');
  if (manifest.entrypoint_url !== undefined && secrets.webhookSecret !== undefined) {
    return {
      mode: 'connected',
      entrypointUrl: manifest.entrypoint_url,
      webhookSecret: secrets.webhookSecret,
      salt,
      manifest: secrets.manifest,
    };
  }
  const { provider, model, endpoint_url: endpointUrl } = manifest.model;
  return {
    mode: 'declarative',
    systemPrompt: manifest.system_prompt ?? '',
    tools: manifest.tools ?? [],
    model: { provider, model, endpointUrl, key: secrets.modelKey },
    salt,
    manifest: secrets.manifest,
  };
}

/**
 * What permanent storage may hold: nothing of how the agent works, and a salted commitment to the whole, so
 * that its creator can later prove what was registered.
 */
export function publicPart(
  manifest: Manifest,
  whole: Record<string, unknown>,
  salt: string,
): Record<string, unknown> {
  const commitment = createHash('sha256').update(salt).update(JSON.stringify(whole)).digest('hex');
  const { name, category, description, input_schema, output_schema, timeout_seconds } = manifest;
  return { name, category, description, input_schema, output_schema, timeout_seconds, commitment };
}
