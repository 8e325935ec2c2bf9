import { fromBase64, toBase64Url } from './proofs.js';

/** Keys of `_meta` in MCP: of MPP's binding (`mppx`), and of x402's transport `mcp`. */
const MPP_REQUIRED = 'org.paymentauth/payment-required';
const MPP_CREDENTIAL = 'org.paymentauth/credential';
const MPP_RECEIPT = 'org.paymentauth/receipt';
const X402_PAYMENT = 'x402/payment';
const X402_RESPONSE = 'x402/payment-response';

/** Requests of a paid call that its payment answers for. */
const PAID_PATH = /^\/v1\/(execute|runs)(\/|$)/;

type Meta = Record<string, unknown>;

/** The payment of one MCP request, in the forms of both protocols. */
export interface McpPayments {
  /** Takes the payment from the `_meta` of a call; the requests of the call then carry it. Whether there is one. */
  present(meta: Meta | undefined): boolean;
  /**
   * The parts of a refusal for a client that pays: MPP's challenge in `_meta`, and x402's `PaymentRequired` as structured content.
   *
   * @returns undefined where the agent is not sold by the call
   */
  offer(agentId: string): Promise<{ meta: Meta; structured: Meta | undefined } | undefined>;
  /** Receipts of the payment, for `_meta`; empty without one. */
  receipts(): Meta;
}

/**
 * Carries payments between MCP's `_meta` and the headers of HTTP, where they are taken as of any caller.
 *
 * @param fetchAs reaches the API as the caller of the MCP request
 * @param offer the headers of a 402
 */
export function createMcpPayments(
  fetchAs: typeof fetch,
  offer: (agentId: string) => Promise<Record<string, string> | undefined>,
): { fetch: typeof fetch; payments: McpPayments } {
  const presented = new Headers();
  const receipts: Meta = {};

  function keepReceipts(headers: Headers): void {
    const [mpp, x402] = [headers.get('payment-receipt'), headers.get('payment-response')];
    if (mpp !== null) receipts[MPP_RECEIPT] = fromBase64(mpp);
    if (x402 !== null) receipts[X402_RESPONSE] = fromBase64(x402);
  }

  return {
    async fetch(input, init) {
      const { url } = input instanceof Request ? input : { url: String(input) };
      const isPaid = [...presented].length > 0 && PAID_PATH.test(new URL(url).pathname);
      if (!isPaid) return fetchAs(input, init);
      const request = new Request(input, init);
      for (const [name, value] of presented) request.headers.set(name, value);
      const response = await fetchAs(request);
      keepReceipts(response.headers);
      return response;
    },
    payments: {
      present(meta) {
        const { [MPP_CREDENTIAL]: mpp, [X402_PAYMENT]: x402 } = meta ?? {};
        if (mpp !== undefined)
          presented.set('authorization', `Payment ${toBase64Url(withEncodedRequest(mpp))}`);
        if (x402 !== undefined)
          presented.set('payment-signature', Buffer.from(JSON.stringify(x402)).toString('base64'));
        return [...presented].length > 0;
      },
      async offer(agentId) {
        const headers = await offer(agentId);
        if (!headers) return undefined;
        const { 'WWW-Authenticate': mpp, 'PAYMENT-REQUIRED': x402 } = headers;
        return {
          meta:
            mpp === undefined ? {} : { [MPP_REQUIRED]: { httpStatus: 402, challenges: [challengeIn(mpp)] } },
          structured: x402 === undefined ? undefined : (fromBase64(x402) as Meta),
        };
      },
      receipts: () => receipts,
    },
  };
}

/** In MCP a challenge has its request as an object, and in HTTP in base64url. */
function withEncodedRequest(credential: unknown): unknown {
  const { challenge, ...rest } = Object(credential) as { challenge?: unknown };
  const { request, ...fields } = Object(challenge) as { request?: unknown };
  return { ...rest, challenge: { ...fields, request: toBase64Url(request ?? null) } };
}

function challengeIn(header: string): Meta {
  const parts = [...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]);
  const { request, ...fields } = Object.fromEntries(parts) as Record<string, string>;
  return { ...fields, request: fromBase64(request ?? '') };
}
