import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ParsedMail } from 'mailparser';

/** A message as its reader sees it. */
interface ReceivedMail {
  /** The recipients that the mail server was told. */
  to: string[];
  /** As it came. */
  raw: string;
  parsed: ParsedMail;
}

/** A mail server on this machine that keeps its messages. */
export interface MailServer {
  /** For SMTP_URL. */
  url: string;
  mails: ReceivedMail[];
  /** Resolves with the next message that comes. */
  next(): Promise<ReceivedMail>;
  /** While it is set, no recipient is taken, with this answer and the address. */
  refusal: { code: number; words: string } | undefined;
  /** While it is set, a message is kept at once, and answered when it resolves. */
  holding: Promise<void> | undefined;
  close(): Promise<void>;
}

/** Starts it on a free port. */
export async function startMailServer(): Promise<MailServer> {
  // Only where it is needed: each test file loads this folder.
  const [{ SMTPServer }, { simpleParser }] = await Promise.all([import('smtp-server'), import('mailparser')]);
  const waiting: ((mail: ReceivedMail) => void)[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo({ address }, _session, done) {
      if (started.refusal === undefined) return done();
      const { code, words } = started.refusal;
      done(Object.assign(new Error(`${words} ${address}`), { responseCode: code }));
    },
    onData(stream, { envelope }, done) {
      const to = envelope.rcptTo.map(({ address }) => address);
      void keep(stream, to)
        .then(() => started.holding)
        .finally(done);
    },
  });
  async function keep(stream: Readable, to: string[]): Promise<void> {
    const raw = await buffer(stream);
    const mail = { to, raw: raw.toString(), parsed: await simpleParser(raw) };
    started.mails.push(mail);
    for (const resolve of waiting.splice(0)) resolve(mail);
  }
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const started: MailServer = {
    url: `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    mails: [],
    refusal: undefined,
    holding: undefined,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return started;
}
