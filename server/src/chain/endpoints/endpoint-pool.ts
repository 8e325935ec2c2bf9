import type { Logger } from '../../platform/logger.js';
import { EndpointError, isAnswer, type RpcEndpoint } from './endpoint.js';
import { unreachable } from './unreachable.js';
import { createEndpointHealth, LAG_SLOTS, type EndpointHealth } from './endpoint-health.js';

/** An endpoint that takes longer is left, while there is another one. */
const PATIENCE_MS = 3_000;
/** How long the first answers wait for the other endpoints. */
const SECOND_WORD_MS = 1_000;
/** An endpoint in use is asked for its slot when it was not heard of for this long. */
const SILENCE_MS = 2_000;

/** Numbers of one endpoint, for operators. */
export interface EndpointStats {
  /** Host and port; `#2` and so on where several have the same. */
  readonly host: string;
  readonly isInUse: boolean;
  /** Whether reads go to it at the moment. */
  readonly isChosen: boolean;
  readonly requests: number;
  readonly failures: number;
  /** How far it is behind the newest slot. */
  readonly slotsBehind: number;
}

/** The answer of one endpoint. */
interface Word<T> {
  readonly host: string;
  readonly value: T;
}

/** Several endpoints of one cluster. */
export interface EndpointPool {
  /**
   * Makes a call at the first endpoint that answers, in the order of the configuration. An endpoint that fails or takes
   * longer than 3 s is left for a time. Endpoints behind the others come last.
   *
   * @param isGood if an answer is not good, the next endpoint is asked; without a good answer the first one is given
   * @throws the last failure when none answers; Error when none is in use.
   */
  first<T>(call: (endpoint: RpcEndpoint) => Promise<T>, isGood?: (value: T) => boolean): Promise<T>;
  /**
   * Asks all endpoints in use, or the first `most`, at once; gives the answers within a second of the first one.
   *
   * @throws the last failure when none answers.
   */
  all<T>(call: (endpoint: RpcEndpoint) => Promise<T>, options?: AskOptions<T>): Promise<Word<T>[]>;
  /** Gives bytes to all endpoints in use; resolves when one has taken them. */
  send(call: (endpoint: RpcEndpoint) => Promise<unknown>): Promise<void>;
  /** How many endpoints' words are waited for. */
  voters(): number;
  /** How long ago two endpoints last answered one question, in milliseconds. */
  msSincePair(): number;
  heard(endpoint: RpcEndpoint, slot: number): void;
  /** The genesis hash of the cluster. @throws Error when no endpoint answers, or two are of different clusters. */
  requireOneCluster(): Promise<string>;
  stats(): EndpointStats[];
}

interface AskOptions<T> {
  most?: number;
  /** The answers are words on transactions: one that is missing counts against the endpoint's vote. */
  isVote?: boolean;
  /** Whether the answers so far need no other. */
  isEnough?: (values: T[]) => boolean;
}

interface Member {
  endpoint: RpcEndpoint;
  host: string;
  health: EndpointHealth;
  /** The slot that it stood at when it was left. */
  leftAtSlot: number;
  /** Undefined until it was asked. */
  genesis: string | undefined;
  isProbed: boolean;
}

/** Makes the pool. There is no timer: endpoints that are silent or may return are probed beside the calls, one probe at a time. */
export function createEndpointPool(
  endpoints: readonly RpcEndpoint[],
  {
    logger,
    now = () => performance.now(),
    random = Math.random,
    patienceMs = PATIENCE_MS,
  }: {
    logger: Pick<Logger, 'info' | 'warn' | 'error'>;
    now?: () => number;
    random?: () => number;
    patienceMs?: number;
  },
): EndpointPool {
  const members = endpoints.map((endpoint, index): Member => {
    const before = endpoints.slice(0, index).filter(({ host }) => host === endpoint.host).length;
    const host = before === 0 ? endpoint.host : `${endpoint.host}#${before + 1}`;
    return {
      endpoint,
      host,
      health: createEndpointHealth(now, random),
      leftAtSlot: 0,
      genesis: undefined,
      isProbed: false,
    };
  });
  let cluster: string | undefined;
  let lastPairAt = Number.NEGATIVE_INFINITY;

  const inUse = () => members.filter(({ health }) => health.isInUse);
  const newestSlot = () => Math.max(0, ...inUse().map(({ health }) => health.slot));
  const isBehind = ({ health }: Member) => newestSlot() - health.slot > LAG_SLOTS;
  /** In the order of the configuration; lagging ones last. */
  const inOrder = () => inUse().toSorted((a, b) => Number(isBehind(a)) - Number(isBehind(b)));

  function leave(member: Member, cause: unknown): void {
    const error = cause instanceof EndpointError ? cause : new EndpointError('a malformed answer', 0, cause);
    const wasInUse = member.health.isInUse;
    const ms = member.health.leave(error);
    if (!wasInUse) return;
    member.leftAtSlot = member.health.slot;
    const fields = { rpc_host: member.host, reason: error.reason, back_in_ms: Math.round(ms) };
    logger.warn(fields, 'an RPC endpoint is left for a time');
  }

  function heard(member: Member, slot?: number): void {
    member.health.answered(slot);
    if (member.health.isInUse && member.health.standsStill(newestSlot())) {
      leave(member, new EndpointError('its slot does not move'));
    }
  }

  /** Calls an endpoint, and leaves it when it fails, or takes longer than the patience. */
  async function attempt<T>(
    member: Member,
    call: (endpoint: RpcEndpoint) => Promise<T>,
    isLast: boolean,
  ): Promise<T> {
    member.health.requested();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      if (!isLast) timer = setTimeout(() => reject(new EndpointError('too slow')), patienceMs);
    });
    try {
      const value = await Promise.race([call(member.endpoint), late]);
      heard(member);
      return value;
    } catch (error) {
      if (isAnswer(error)) heard(member);
      else leave(member, error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Asks in the background; the caller does not wait. */
  function tend(): void {
    for (const member of members) {
      const { health, isProbed } = member;
      const isDue = health.isInUse ? now() - health.heardAt > SILENCE_MS : health.mayReturn;
      if (isProbed || !isDue) continue;
      member.isProbed = true;
      void probe(member).finally(() => (member.isProbed = false));
    }
  }

  async function probe(member: Member): Promise<void> {
    const { health } = member;
    const { isInUse } = health;
    try {
      const slot = await attempt(
        member,
        async ({ connection }) => {
          await requireCluster(member);
          return connection.getSlot('processed');
        },
        false,
      );
      heard(member, slot);
    } catch {
      return;
    }
    // A probe that began before the endpoint was left does not bring it back.
    if (isInUse) return;
    // By its own slot: one that claims to be far ahead must not keep the others out.
    if (isBehind(member) && health.slot <= member.leftAtSlot) {
      return leave(member, new EndpointError('its slot does not move'));
    }
    health.returned();
    logger.info({ rpc_host: member.host }, 'an RPC endpoint is in use again');
  }

  /** @throws EndpointError for an endpoint of another cluster. */
  async function requireCluster(member: Member): Promise<void> {
    member.genesis ??= await member.endpoint.connection.getGenesisHash();
    cluster ??= member.genesis;
    if (member.genesis === cluster) return;
    logger.error(
      { rpc_host: member.host, genesis_hash: member.genesis, expected_genesis_hash: cluster },
      'an RPC endpoint is of another cluster and is not used',
    );
    member.genesis = undefined;
    throw new EndpointError('another cluster', 60_000);
  }

  return {
    async first<T>(
      call: (endpoint: RpcEndpoint) => Promise<T>,
      isGood: (value: T) => boolean = () => true,
    ): Promise<T> {
      tend();
      const candidates = inOrder();
      let failure: unknown = new Error('No RPC endpoint is in use at the moment.');
      const answers: { value: T }[] = [];
      for (const [index, member] of candidates.entries()) {
        try {
          const value = await attempt(member, call, index === candidates.length - 1);
          if (isGood(value)) return value;
          answers.push({ value });
        } catch (error) {
          failure = error;
        }
      }
      if (answers[0]) return answers[0].value;
      throw failure;
    },

    async all<T>(
      call: (endpoint: RpcEndpoint) => Promise<T>,
      { most = members.length, isVote = false, isEnough = () => false }: AskOptions<T> = {},
    ): Promise<Word<T>[]> {
      tend();
      const asked = inOrder().slice(0, most);
      const words: Word<T>[] = [];
      let failure: unknown = new Error('No RPC endpoint is in use at the moment.');
      await new Promise<void>((resolve) => {
        let open = asked.length;
        let timer: NodeJS.Timeout | undefined;
        const end = () => {
          clearTimeout(timer);
          resolve();
        };
        if (open === 0) end();
        const ask = async (member: Member) => {
          try {
            const value = await attempt(member, call, asked.length === 1);
            if (isVote) member.health.voted();
            words.push({ host: member.host, value });
            timer ??= setTimeout(end, SECOND_WORD_MS);
          } catch (error) {
            failure = error;
          }
          open -= 1;
          if (open === 0 || isEnough(words.map(({ value }) => value))) end();
        };
        for (const member of asked) void ask(member);
      });
      if (words.length >= 2) lastPairAt = now();
      if (words.length === 0) throw failure;
      // A late word is none of this answer.
      return [...words];
    },

    async send(call) {
      tend();
      const asked = inOrder();
      if (asked.length === 0) throw new Error('No RPC endpoint is in use at the moment.');
      await Promise.any(asked.map((member) => attempt(member, call, asked.length === 1)));
    },

    voters: () => members.filter(({ health }) => health.isVoter).length,
    msSincePair: () => now() - lastPairAt,
    heard(endpoint, slot) {
      const member = members.find((each) => each.endpoint === endpoint);
      if (member) heard(member, slot);
    },

    async requireOneCluster() {
      const found = await Promise.all(
        members.map(async (member) => {
          const genesis = await attempt(member, ({ connection }) => connection.getGenesisHash(), false).catch(
            () => undefined,
          );
          member.genesis = genesis;
          return { host: member.host, genesis };
        }),
      );
      const known = found.filter(({ genesis }) => genesis !== undefined);
      cluster = known[0]?.genesis;
      if (cluster === undefined) throw new Error(unreachable(found.map(({ host }) => host)));
      const other = known.find(({ genesis }) => genesis !== cluster);
      if (other) {
        throw new Error(
          `SOLANA_RPC_URLS names different clusters: the genesis hash of ${known[0]?.host} is ${cluster}, ` +
            `the hash of ${other.host} is ${other.genesis}. Name endpoints of one cluster.`,
        );
      }
      return cluster;
    },

    stats() {
      const chosen = inOrder()[0];
      const newest = newestSlot();
      return members.map((member) => ({
        host: member.host,
        isInUse: member.health.isInUse,
        isChosen: member === chosen,
        requests: member.health.requests,
        failures: member.health.failures,
        slotsBehind: Math.max(0, newest - member.health.slot),
      }));
    },
  };
}
