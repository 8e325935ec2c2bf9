import { setTimeout as delay } from 'node:timers/promises';
import type { CID } from 'multiformats/cid';
import * as z from 'zod';
import type { OutboundHttp } from '../../platform/outbound-http.js';
import { askGateway, GatewayError, readBytes } from '../reading/gateway-requests.js';
import type { KuboStore } from './kubo-store.js';
import type { OutsideStore } from './outside-store.js';

const TIMEOUT_MS = 20_000;
const ANSWER_BYTES = 64 * 1024;
/** How long a service may take to fetch a block; then the job that waits for it tries again. */
const PIN_WAIT_MS = 60_000;
const ASK_EVERY_MS = 1_000;

const pinStatus = z.object({
  requestid: z.string().min(1),
  status: z.enum(['queued', 'pinning', 'pinned', 'failed']),
});
const pinList = z.object({ results: z.array(pinStatus) });

/**
 * A service that pins, by the Pinning Service API (ipfs.github.io/pinning-services-api-spec). It fetches content from the
 * node that has it: a pin is asked for after the node has stored the block.
 */
export function createPinningService(
  outbound: OutboundHttp,
  service: { readonly url: string; readonly token: string },
  node: Pick<KuboStore, 'addresses'>,
  waitMs = PIN_WAIT_MS,
): OutsideStore {
  const base = `${service.url.replace(/\/+$/, '')}/pins`;
  const call = async <Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    body?: object,
  ): Promise<z.output<Schema>> => {
    const bytes = await askGateway(
      outbound,
      {
        url: `${base}${path}`,
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
        timeoutMs: TIMEOUT_MS,
      },
      (response) => readBytes(response, ANSWER_BYTES),
    );
    try {
      return schema.parse(JSON.parse(Buffer.from(bytes ?? []).toString('utf8')));
    } catch (cause) {
      throw new GatewayError('the pinning service answers in a form of its own', { cause });
    }
  };
  const find = async (cid: CID, statuses: string) =>
    (await call(pinList, `?cid=${cid.toString()}&status=${statuses}`)).results;

  return {
    async put(cid) {
      // A job that is tried again asks for no second pin.
      const [known] = await find(cid, 'queued,pinning,pinned');
      let pin =
        known ?? (await call(pinStatus, '', { cid: cid.toString(), origins: await node.addresses() }));
      const until = performance.now() + waitMs;
      while (pin.status !== 'pinned') {
        if (pin.status === 'failed')
          throw new GatewayError('the pinning service could not fetch the content');
        if (performance.now() > until)
          throw new GatewayError('the pinning service has not fetched the content yet');
        await delay(ASK_EVERY_MS);
        pin = await call(pinStatus, `/${encodeURIComponent(pin.requestid)}`);
      }
    },
    async remove(cid) {
      for (const { requestid } of await find(cid, 'queued,pinning,pinned,failed')) {
        await askGateway(
          outbound,
          {
            url: `${base}/${encodeURIComponent(requestid)}`,
            method: 'DELETE',
            headers: { authorization: `Bearer ${service.token}` },
            timeoutMs: TIMEOUT_MS,
          },
          async (response) => response.body?.cancel(),
        );
      }
    },
  };
}
