import * as z from 'zod';
import { addressKey } from '../ledger/account-state.js';
import type { AccountView } from '../rpc/views/account-view.js';
import {
  accountViewFields,
  addressParam,
  contextFields,
  signatureParam,
  type Commitment,
} from '../rpc/params.js';
import { filtersParam, type ProgramFilter } from '../rpc/views/program-filters.js';

/** The topic of a client's subscription, with the commitment of its notifications. */
export type Topic =
  | { kind: 'account'; key: string; view: AccountView; commitment: Commitment }
  | {
      kind: 'program';
      key: string;
      view: AccountView;
      filters: readonly ProgramFilter[];
      commitment: Commitment;
    }
  | { kind: 'logs'; key: string; commitment: Commitment }
  | { kind: 'signature'; key: string; signature: Uint8Array; commitment: Commitment; received: boolean }
  | { kind: 'slot'; key: string }
  | { kind: 'root'; key: string };

export type TopicKind = Topic['kind'];

/** The key of topics that are not about one address or signature. */
export const EVERYTHING = '*';

const viewConfig = z.object({ ...contextFields, ...accountViewFields }).nullish();
const programConfig = z
  .object({ ...contextFields, ...accountViewFields, filters: filtersParam.nullish() })
  .nullish();
const signatureConfig = z
  .object({ ...contextFields, enableReceivedNotification: z.boolean().nullish() })
  .nullish();
const logsFilter = z.union([
  z.enum(['all', 'allWithVotes']).transform(() => EVERYTHING),
  z.object({ mentions: z.tuple([addressParam]) }).transform(({ mentions: [address] }) => addressKey(address)),
]);

/** The params of each `<kind>Subscribe` method, parsed into a topic. */
const PARAMS: Record<TopicKind, z.ZodType<Topic>> = {
  account: z.tuple([addressParam, viewConfig]).transform(([address, config]) => ({
    kind: 'account' as const,
    key: addressKey(address),
    view: viewOf(config),
    commitment: commitmentOf(config),
  })),
  program: z.tuple([addressParam, programConfig]).transform(([programId, config]) => ({
    kind: 'program' as const,
    key: addressKey(programId),
    view: viewOf(config),
    filters: config?.filters ?? [],
    commitment: commitmentOf(config),
  })),
  logs: z.tuple([logsFilter, z.object(contextFields).nullish()]).transform(([key, config]) => ({
    kind: 'logs' as const,
    key,
    commitment: commitmentOf(config),
  })),
  signature: z.tuple([signatureParam, signatureConfig]).transform(([signature, config]) => ({
    kind: 'signature' as const,
    key: addressKey(signature),
    signature,
    commitment: commitmentOf(config),
    received: config?.enableReceivedNotification === true,
  })),
  slot: z.tuple([]).transform(() => ({ kind: 'slot' as const, key: EVERYTHING })),
  root: z.tuple([]).transform(() => ({ kind: 'root' as const, key: EVERYTHING })),
};

/** The kinds by the name of the method that subscribes to them. */
export function topicKindOf(method: string, suffix: 'Subscribe' | 'Unsubscribe'): TopicKind | null {
  const name = method.endsWith(suffix) ? method.slice(0, -suffix.length) : '';
  return Object.keys(PARAMS).includes(name) ? (name as TopicKind) : null;
}

export function parseTopic(kind: TopicKind, params: unknown): z.ZodSafeParseResult<Topic> {
  return PARAMS[kind].safeParse(params ?? []);
}

function commitmentOf(config: { commitment?: Commitment | null | undefined } | null | undefined): Commitment {
  return config?.commitment ?? 'finalized';
}

function viewOf(config: AccountView | null | undefined): AccountView {
  // Without an encoding validators notify in base58, which cannot show most accounts.
  return { encoding: config?.encoding ?? 'base64', dataSlice: config?.dataSlice };
}
