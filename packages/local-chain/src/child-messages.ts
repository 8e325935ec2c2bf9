import * as z from 'zod';
import { chainConfigSchema } from './options.js';

export const toChildSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), config: chainConfigSchema }),
  z.object({ type: z.literal('stop') }),
]);

export const fromChildSchema = z.discriminatedUnion('type', [
  /** The chain answers on this port, and the websocket on the one after it. */
  z.object({ type: z.literal('ready'), rpcPort: z.int() }),
  z.object({ type: z.literal('fatal'), code: z.string(), message: z.string() }),
  z.object({
    type: z.literal('log'),
    entry: z.looseObject({ level: z.enum(['info', 'warn', 'error']), msg: z.string() }),
  }),
]);

export type ToChild = z.input<typeof toChildSchema>;
export type FromChild = z.input<typeof fromChildSchema>;
