import { readBody, startHttpStandIn, type HttpStandIn } from '@agent-rental/server/testing';

/** A push notification, as it came. */
interface Pushed {
  readonly path: string;
  readonly authorization?: string;
  readonly token?: string;
  readonly taskId?: string | undefined;
  readonly state?: string | undefined;
}

/** An address of push notifications. */
export interface PushReceiver extends HttpStandIn {
  /** The next one; waits for it. */
  next(): Promise<Pushed>;
}

/** The forms of both versions: an update of a status, and a task. */
interface Body {
  id?: string;
  status?: { state: string };
  statusUpdate?: { taskId: string; status: { state: string } };
}

/** Starts it on a free port. */
export async function startPushReceiver(): Promise<PushReceiver> {
  const waiting: ((pushed: Pushed) => void)[] = [];
  const received: Pushed[] = [];
  const standIn = await startHttpStandIn(async (request, response) => {
    const body = JSON.parse(await readBody(request)) as Body;
    const { authorization, 'x-a2a-notification-token': token } = request.headers;
    const pushed = {
      path: request.url ?? '',
      ...(authorization === undefined ? {} : { authorization }),
      ...(token === undefined ? {} : { token: String(token) }),
      taskId: body.statusUpdate?.taskId ?? body.id,
      state: (body.statusUpdate?.status ?? body.status)?.state,
    };
    const take = waiting.shift();
    if (take) take(pushed);
    else received.push(pushed);
    response.writeHead(204).end();
  });
  return {
    ...standIn,
    next: async () => received.shift() ?? new Promise((resolve) => waiting.push(resolve)),
  };
}
