import { request as httpRequest } from 'node:http';

/** A call whose caller may leave. */
interface Call {
  url: string;
  body: object;
  headers: Readonly<Record<string, string>>;
  /** After this time it breaks its connection. Undefined: it reads the answer. */
  leavesAfterMs: number | undefined;
}

/** An answer; no status where the caller left before its end. */
export interface Heard {
  status?: number;
  body: string;
}

/** Sends a call over a separate connection, and breaks it at the given moment. */
export function sendAndLeave({ url, body, headers, leavesAfterMs }: Call): Promise<Heard> {
  return new Promise((resolve) => {
    const options = {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', ...headers },
    };
    let text = '';
    const outgoing = httpRequest(url, options, (response) => {
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('error', () => resolve({ body: text }));
      response.on('end', () => end({ status: response.statusCode ?? 0, body: text }));
    });
    const leave = () => outgoing.destroy();
    const timer = leavesAfterMs === undefined ? undefined : setTimeout(leave, leavesAfterMs);
    const end = (heard: Heard) => {
      clearTimeout(timer);
      resolve(heard);
    };
    outgoing.on('error', () => end({ body: text }));
    outgoing.end(JSON.stringify(body));
  });
}
