import * as z from 'zod';
import { EVENT_NAMES, EVENTS, walletEvent } from '../events/events.js';
import { toSchema, type Schema } from './openapi-schemas.js';

const SIGNATURE_HEADERS = {
  'webhook-id': 'The id of the event. It is the same in each attempt.',
  'webhook-timestamp': 'Unix seconds of the attempt.',
  'webhook-signature': 'Signatures of id, timestamp and body, with spaces between them (Standard Webhooks).',
};

/** The requests that the service sends to webhooks: one for each event. */
export function describeWebhooks(components: Record<string, Schema>): Record<string, Schema> {
  const parameters = Object.entries(SIGNATURE_HEADERS).map(([name, description]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  }));
  return Object.fromEntries(
    EVENT_NAMES.map((name) => {
      const event = walletEvent.extend({ name: z.literal(name), data: EVENTS[name].data });
      const post = {
        operationId: `on_${name.replaceAll('.', '_')}`,
        summary: EVENTS[name].summary,
        description: 'Answer with a 2xx status within 10 seconds. Another answer is an attempt that failed.',
        tags: ['Events'],
        security: [],
        parameters,
        requestBody: {
          required: true,
          content: { 'application/json': { schema: toSchema(event, 'output', components) } },
        },
        responses: { 204: { description: 'The event was taken.' } },
      };
      return [name, { post }];
    }),
  );
}
