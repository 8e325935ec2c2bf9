import { createTransport } from 'nodemailer';

/** A message in plain text. */
export interface Message {
  to: string;
  subject: string;
  text: string;
  /** Where a mail program unsubscribes with one click (RFC 8058). */
  unsubscribeUrl?: string;
}

/** The mail server says that no such mailbox takes messages. It names no address. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';
}

/** Hands messages to a mail server. */
export interface Mailer {
  /** Resolves once the server has taken the message. @throws RefusedAddressError, or another Error that names no address. */
  send(message: Message): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** An answer of the mail server. */
interface SmtpError {
  command?: unknown;
  response?: unknown;
}

/**
 * Whether the server permanently refuses the mailbox (RFC 3463): bad or moved addresses, and disabled mailboxes. A full
 * mailbox, a policy or a fault of the sender may pass.
 */
const isOfAddress = ({ command, response }: SmtpError) =>
  command === 'RCPT TO' &&
  /^55[013](?![ -]5\.\d)|^5\d\d[ -]5\.(1\.([0-6]|10)|2\.[01])\b/.test(String(response));

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
        const words = `The mail server took no message: ${String(code)}, ${String(responseCode)}.`;
        throw isOfAddress(Object(error) as SmtpError) ? new RefusedAddressError(words) : new Error(words);
      });
    },
  };
}
