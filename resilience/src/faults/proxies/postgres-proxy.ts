import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import {
  errorMessages,
  MessageSplitter,
  readNotice,
  readParameters,
  readTexts,
  simpleQuery,
  type Message,
} from './postgres-messages.js';
import type { Fate, Step, StepObserver } from './step.js';

/** `disk_full`. */
const DISK_FULL = '53100';
const ENDS_TRANSACTION = /^(commit|rollback)\b/i;

/** Starts a proxy in front of PostgreSQL. The observer decides the fate of each statement. */
export async function startPostgresProxy(databaseUrl: string, observer: StepObserver) {
  let target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
    new ProxiedConnection(client, upstream, observer).start();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    /** The address that replaces the database's own. */
    url: url.href,
    /** Sends new connections to another database. */
    retarget: (changed: string) => (target = new URL(changed)),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** One connection. The server sends a query only after the answer to the query before it. */
class ProxiedConnection {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #observer: StepObserver;
  readonly #statements = new Map<string, string>();
  #query: Message[] = [];
  #text = '';
  #isPrepared = false;
  #current: { step: Step; fate: Fate } | undefined;
  #isReady = false;
  #inTransaction = false;
  #keptAnswer = false;
  /** The error that the server gets after the database has failed the transaction. */
  #refusal: Buffer | undefined;

  constructor(client: Socket, upstream: Socket, observer: StepObserver) {
    this.#client = client;
    this.#upstream = upstream;
    this.#observer = observer;
  }

  start(): void {
    const fromClient = new MessageSplitter('client');
    const fromServer = new MessageSplitter('server');
    this.#client.on('data', (chunk: Buffer) => {
      for (const message of fromClient.push(chunk)) this.#fromClient(message);
    });
    this.#upstream.on('data', (chunk: Buffer) => {
      for (const message of fromServer.push(chunk)) this.#fromServer(message);
    });
    const cut = () => this.#cut();
    for (const socket of [this.#client, this.#upstream]) socket.on('error', cut).on('close', cut);
  }

  #cut(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }

  #fromClient(message: Message): void {
    // Login and termination.
    if (!this.#isReady || message.type === 'X') {
      this.#upstream.write(message.bytes);
      return;
    }
    this.#query.push(message);
    switch (message.type) {
      case 'P': {
        const [name = '', text = ''] = readTexts(message.body, 2);
        this.#statements.set(name, text);
        break;
      }
      case 'B': {
        const [, name = ''] = readTexts(message.body, 2);
        this.#text = this.#statements.get(name) ?? '';
        this.#isPrepared = name !== '';
        break;
      }
      case 'Q':
        this.#text = message.body.toString('utf8', 0, message.body.length - 1);
        this.#isPrepared = false;
        this.#begin();
        break;
      case 'S':
        this.#begin();
        break;
    }
  }

  #begin(): void {
    const messages = this.#query;
    this.#query = [];
    const name = this.#text.replaceAll(/\s+/g, ' ').trim();
    const step: Step = {
      at: 'database',
      name,
      parameters: messages.flatMap(({ type, body }) => (type === 'B' ? readParameters(body) : [])),
      holds: (bytes) => messages.some(({ type, body }) => type !== 'P' && body.includes(bytes)),
      inTransaction: this.#inTransaction,
      isPrepared: this.#isPrepared,
      endsTransaction: ENDS_TRANSACTION.test(name),
      connection: this,
    };
    const fate = this.#observer.onStep(step);
    this.#current = { step, fate };
    switch (fate) {
      case 'hold':
        return;
      case 'cut':
        this.#cut();
        return;
      case 'refuse':
        this.#current = undefined;
        this.#refuse();
        return;
      case 'pass':
      case 'hold_answer':
      case 'cut_answer':
        this.#keptAnswer = fate !== 'pass';
        this.#upstream.write(Buffer.concat(messages.map(({ bytes }) => bytes)));
        return;
      default:
        fate satisfies never;
    }
  }

  /** Answers with an error. Inside a transaction it also fails the database's transaction. */
  #refuse(): void {
    const text = 'could not extend file: No space left on device';
    const refusal = errorMessages(DISK_FULL, text, this.#inTransaction);
    if (this.#inTransaction) {
      // The database's transaction must be in the state that the server sees.
      this.#keptAnswer = true;
      this.#refusal = refusal;
      this.#upstream.write(simpleQuery('select 1/0'));
    } else this.#client.write(refusal);
  }

  #fromServer(message: Message): void {
    if (message.type === 'N') this.#observer.onNotice?.(readNotice(message.body));
    const isEnd = message.type === 'Z';
    if (isEnd) {
      this.#isReady = true;
      this.#inTransaction = message.body[0] !== 'I'.charCodeAt(0);
    }
    if (isEnd && this.#refusal !== undefined) {
      this.#client.write(this.#refusal);
      this.#refusal = undefined;
      this.#keptAnswer = false;
      return;
    }
    if (!this.#keptAnswer) this.#client.write(message.bytes);
    const current = this.#current;
    if (!isEnd || current === undefined) return;
    this.#current = undefined;
    this.#observer.onDone(current.step, current.fate);
    if (current.fate === 'cut_answer') this.#cut();
  }
}
