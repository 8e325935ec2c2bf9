import {
  createDeadline,
  WEBHOOK_TIMEOUT_MS,
  type WalletEvent,
  type WebhookAttempt,
} from '@agent-rental/contract';
import { connectionFailure, readText, type OutboundHttp } from '../../platform/outbound-http.js';
import { signedHeaders } from '../../platform/standard-webhooks.js';

/** The part of an answer that is read, so that its connection can serve again; it is not looked at. */
const READ_BYTES = 1024;
/** The longest that is waited for that part. */
const READ_MS = 250;

/** An event and its address. */
export interface SentEvent {
  url: string;
  event: WalletEvent;
  /** Each signs. */
  secrets: readonly string[];
  /** In place of the event: a request in the form of another protocol. */
  request?: { headers: Record<string, string>; body: string };
}

/** How an event is sent. */
export interface Sending {
  outbound: Pick<OutboundHttp, 'fetch'>;
  /** Ends the attempt, which then counts for nothing. */
  stopping: AbortSignal;
  timeoutMs?: number | undefined;
}

/** Makes one attempt to deliver an event. Any status but 2xx is a failure. @returns undefined where the server stopped it. */
export async function sendEvent(
  { url, event, secrets, request }: SentEvent,
  { outbound, stopping, timeoutMs = WEBHOOK_TIMEOUT_MS }: Sending,
): Promise<WebhookAttempt | undefined> {
  const body = request?.body ?? JSON.stringify(event);
  const startedAt = Date.now();
  const reading = new AbortController();
  const deadline = createDeadline(timeoutMs, stopping, reading.signal);
  const { signal } = deadline;
  const attempt = (result: Pick<WebhookAttempt, 'http_status' | 'reason'>): WebhookAttempt => ({
    at: new Date(startedAt).toISOString(),
    duration_ms: Date.now() - startedAt,
    ...result,
  });
  try {
    const signed = signedHeaders(event.id, body, secrets);
    const headers = { ...signed, ...request?.headers, 'user-agent': 'agent-rental-webhooks' };
    const response = await outbound.fetch(url, { method: 'POST', headers, body, signal });
    const told = attempt({ http_status: response.status, ...failureOf(response) });
    const timer = setTimeout(() => reading.abort(), READ_MS);
    await readText(response, READ_BYTES).catch(() => undefined);
    clearTimeout(timer);
    return told;
  } catch (error) {
    if (stopping.aborted) return undefined;
    return attempt({
      reason: deadline.isOver ? `no answer within ${timeoutMs / 1000} s` : connectionFailure(error),
    });
  } finally {
    deadline.clear();
  }
}

function failureOf({ ok, status }: Response): Pick<WebhookAttempt, 'reason'> {
  if (ok) return {};
  const isRedirect = status >= 300 && status < 400;
  return { reason: `it answered ${status}${isRedirect ? ', and redirects are not followed' : ''}` };
}
