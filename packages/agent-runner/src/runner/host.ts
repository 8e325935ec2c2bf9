import type { HostMethod, HostMethods, HostReply, SayNotice, StepNotice } from '../protocol.js';

/** The host's interface for the agent loop. */
export interface Host {
  /** @throws HostRefusal when the host answers with an error. */
  call<M extends HostMethod>(method: M, params: HostMethods[M]['params']): Promise<HostMethods[M]['result']>;
  /** Reports the current step to the watchers of the run. Never contains text of the model, which belongs to the creator. */
  step(name: string, detail: string): Promise<void>;
  /** Adds to the conversation, ahead of the request that asks the model. */
  say(params: SayNotice['params']): Promise<void>;
}

/** The host's answer was an error; its message may be shown to the model. */
export class HostRefusal extends Error {
  override readonly name = 'HostRefusal';
}

/** The host closed the connection or broke the protocol: the run has no receiver. */
export class HostGone extends Error {
  override readonly name = 'HostGone';
}

const MAX_STEP_DETAIL_CHARACTERS = 200;

/** The host at the other end of stdin and stdout. One request at a time, so the next line is the answer. */
export function connectHost(lines: AsyncIterator<string>, write: (line: string) => Promise<void>): Host {
  let lastId = 0;
  return {
    async call<M extends HostMethod>(method: M, params: HostMethods[M]['params']) {
      lastId += 1;
      await write(JSON.stringify({ id: lastId, method, params }));
      const next = await lines.next();
      if (next.done === true) throw new HostGone('the host closed the connection');
      const reply = JSON.parse(next.value) as HostReply;
      if (reply.id !== lastId) throw new HostGone('the host answered another request');
      if ('error' in reply) throw new HostRefusal(reply.error.message);
      return reply.result as HostMethods[M]['result'];
    },
    async step(name, detail) {
      const notice: StepNotice = {
        method: 'step',
        params: { name, detail: detail.slice(0, MAX_STEP_DETAIL_CHARACTERS) },
      };
      await write(JSON.stringify(notice));
    },
    async say(params) {
      const notice: SayNotice = { method: 'say', params };
      await write(JSON.stringify(notice));
    },
  };
}
