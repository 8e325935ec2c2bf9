import { createTransport } from 'nodemailer';

/** A message in plain text. */
export interface Message {
  to: string;
  subject: string;
  text: string;
  /** Where a mail program unsubscribes with one click (RFC 8058). */
  unsubscribeUrl?: string;
}

/** Hands messages to a mail server. */
export interface Mailer {
  /** Resolves once the server has taken the message. @throws Error that names no address. */
  send(message: Message): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Makes the mailer. A password leaves this machine over TLS alone. */
export function createMailer({ url, from }: { url: string; from: string }): Mailer {
  const { password, hostname } = new URL(url);
  const transport = createTransport({
    url,
    requireTLS: password !== '' && !LOOPBACK.includes(hostname),
    dnsTimeout: TIMEOUT_MS,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ to, subject, text, unsubscribeUrl }) {
      const message = {
        from,
        to: { name: '', address: to },
        // A word in the form of RFC 2047 would be decoded by its reader.
        subject: subject.replaceAll('=?', '= ?'),
        text,
        xMailer: false as const,
        headers: {
          'Auto-Submitted': 'auto-generated',
          ...(unsubscribeUrl === undefined
            ? {}
            : {
                'List-Unsubscribe': `<${unsubscribeUrl}>`,
                'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
              }),
        },
      };
      await transport.sendMail(message).catch((error: unknown) => {
        // Not as its cause: the answer of the server repeats the address.
        const { code = 'no code', responseCode = 'no answer' } = Object(error) as Record<string, unknown>;
        throw new Error(`The mail server took no message: ${String(code)}, ${String(responseCode)}.`);
      });
    },
  };
}
