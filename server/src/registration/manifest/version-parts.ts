import { createHash, randomBytes } from 'node:crypto';
import type { Manifest } from '@agent-rental/contract';
import { modelOrigin } from './model-origin.js';
import type { DeclarativeAgent, PrivatePart } from './private-part.js';

/** The parts of a version beside its manifest. */
export interface VersionSecrets {
  /** The manifest as it was sent, defaults not filled in. */
  manifest: Record<string, unknown>;
  /** A key that comes with the request. */
  modelKey: string | undefined;
  /** The model of the version before, with its key. */
  previousModel?: DeclarativeAgent['model'] | undefined;
  /** Of a connected agent. */
  webhookSecret: string | undefined;
}

/** The private part of a version, which no response contains. */
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
    model: withKey({ provider, model, endpointUrl }, secrets),
    salt,
    manifest: secrets.manifest,
  };
}

/** A model with the key that was given for its origin; a key of another origin is never sent there. */
function withKey(
  model: DeclarativeAgent['model'],
  { modelKey, previousModel }: VersionSecrets,
): DeclarativeAgent['model'] {
  const keyOrigin = modelOrigin(model);
  if (modelKey !== undefined) return { ...model, key: modelKey, keyOrigin };
  if (previousModel === undefined) return model;
  const { key, keyOrigin: previousOrigin, droppedKeyOrigin } = previousModel;
  if (key === undefined) return { ...model, droppedKeyOrigin };
  if (previousOrigin === keyOrigin) return { ...model, key, keyOrigin };
  return { ...model, droppedKeyOrigin: previousOrigin };
}

/**
 * The public part of a manifest, for permanent storage. It hides how the agent works. It holds a salted commitment to
 * the whole manifest, so that the creator can later prove the registration.
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

/** The columns of a version that its manifest gives. */
export function versionColumns(manifest: Manifest) {
  return {
    input_schema: JSON.stringify(manifest.input_schema),
    output_schema: JSON.stringify(manifest.output_schema),
    timeout_seconds: manifest.timeout_seconds,
    description: manifest.description,
    category: [manifest.category],
  };
}
