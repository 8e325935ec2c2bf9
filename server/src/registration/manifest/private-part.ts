import { modelProvider } from '@agent-rental/contract';
import * as z from 'zod';
import type { Keys } from '../../platform/keys.js';
import { modelOrigin } from './model-origin.js';

/** The registered manifest, which an update changes. */
const manifest = z.record(z.string(), z.unknown()).optional();

/**
 * The part of a manifest that renters must never see. It is sealed in the database and opened only to run
 * the agent.
 */
const privatePart = z.discriminatedUnion('mode', [
  z.object({
    mode: z.literal('declarative'),
    systemPrompt: z.string(),
    tools: z.array(z.object({ name: z.string(), scope: z.string() })),
    model: z.object({
      provider: modelProvider,
      model: z.string().optional(),
      endpointUrl: z.string().optional(),
      key: z.string().optional(),
      /** The origin that the key was given for, and is sent to alone. */
      keyOrigin: z.string().optional(),
      /** The origin of a key that was dropped because the model is at another one now. */
      droppedKeyOrigin: z.string().optional(),
    }),
    salt: z.string(),
    manifest,
  }),
  z.object({
    mode: z.literal('connected'),
    entrypointUrl: z.string(),
    webhookSecret: z.string(),
    /** Signs beside the present one for a while, so that a creator can change over without a gap. */
    previousWebhookSecret: z.object({ secret: z.string(), until: z.number() }).optional(),
    salt: z.string(),
    manifest,
  }),
]);
export type PrivatePart = z.infer<typeof privatePart>;
export type DeclarativeAgent = Extract<PrivatePart, { mode: 'declarative' }>;
export type ConnectedAgent = Extract<PrivatePart, { mode: 'connected' }>;

/** The context that binds a sealed private part to its version. */
export const privatePartContext = (versionId: string) => `agent-version:${versionId}`;

/** Seals the private part of one version. */
export function sealPrivatePart(keys: Keys, versionId: string, part: PrivatePart): Buffer {
  return keys.seal(JSON.stringify(part), privatePartContext(versionId));
}

/** Opens the private part of one version. @throws Error for a version that cannot run any more, whose part is gone. */
export function openPrivatePart(keys: Keys, versionId: string, sealed: Buffer | null): PrivatePart {
  if (sealed === null) throw new Error(`The private part of version ${versionId} is gone.`);
  const part = privatePart.parse(
    JSON.parse(keys.open(sealed, privatePartContext(versionId)).toString('utf8')),
  );
  if (part.mode !== 'declarative' || part.model.key === undefined || part.model.keyOrigin !== undefined) {
    return part;
  }
  // Sealed by an older release: the key is for the model of the same version.
  return { ...part, model: { ...part.model, keyOrigin: modelOrigin(part.model) } };
}

/** The part without its replaced webhook secret, if that secret has expired. Otherwise the same part. */
export function withoutEndedSecret(part: PrivatePart, nowMs: number): PrivatePart {
  if (part.mode !== 'connected' || !part.previousWebhookSecret) return part;
  if (part.previousWebhookSecret.until > nowMs) return part;
  const { previousWebhookSecret: _, ...left } = part;
  return left;
}

/** The secrets that sign a call to a connected agent now, the present one first. */
export function signingSecrets(agent: ConnectedAgent, nowMs: number): string[] {
  const { webhookSecret, previousWebhookSecret: previous } = agent;
  return previous && previous.until > nowMs ? [webhookSecret, previous.secret] : [webhookSecret];
}
