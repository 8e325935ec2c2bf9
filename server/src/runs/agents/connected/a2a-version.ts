import { StreamResponse } from '@a2a-js/sdk';
import { legacyPushNotificationToV1StreamResponse, v1MethodToLegacyJsonRpc } from '@a2a-js/sdk/compat/v0_3';
import * as z from 'zod';

/** A part of a message in the form of 1.0. */
export type MessagePart = { text: string } | { data: unknown };

/** The words of a version of the protocol, for agents that are called. */
export interface A2aVersion {
  headers: Readonly<Record<string, string>>;
  /** The name of a method of 1.0. */
  method(name: string): string;
  /** The parameters of a message. */
  message(messageId: string, parts: MessagePart[]): object;
  /** An answer in the form of 1.0. @throws ZodError for another form than the version's. */
  read(answer: unknown): unknown;
}

const CURRENT: A2aVersion = {
  headers: { 'a2a-version': '1.0' },
  method: (name) => name,
  message: (messageId, parts) => ({
    message: { messageId, role: 'ROLE_USER', parts },
    configuration: { returnImmediately: false },
  }),
  read: (answer) => answer,
};

const legacyAnswer = z.union([
  z.object({ error: z.unknown() }),
  z.object({ result: z.unknown().transform(toCurrent) }),
]);

/** 0.3, as the SDK translates it. */
const LEGACY: A2aVersion = {
  headers: {},
  method: v1MethodToLegacyJsonRpc,
  message: (messageId, parts) => ({
    message: {
      kind: 'message',
      messageId,
      role: 'user',
      parts: parts.map((part) => ({ kind: 'text' in part ? 'text' : 'data', ...part })),
    },
    configuration: { blocking: true },
  }),
  read: (answer) => legacyAnswer.parse(answer),
};

/** The words of version 1 or 0.3; undefined for others. */
export function versionOf(protocolVersion: string): A2aVersion | undefined {
  if (protocolVersion.startsWith('1.')) return CURRENT;
  return /^0\.3(\.|$)/.test(protocolVersion) ? LEGACY : undefined;
}

/** Its events of a task have one form, in an answer, a stream and a push. */
function toCurrent(result: unknown, context: z.RefinementCtx): unknown {
  try {
    return StreamResponse.toJSON(legacyPushNotificationToV1StreamResponse(result));
  } catch {
    context.addIssue('It is no event of A2A 0.3.');
    return z.NEVER;
  }
}
