/**
 * Loaded into the marketplace's own process before it (`--import`). Over the process's channel it tells the CPU
 * time used so far, and which queries one request makes. While it is not asked it does nothing.
 */
import pg from 'pg';
import type { DatabaseAddress, ProbeAnswer, ProbeQuestion, RecordedQuery } from './probe-messages.js';

/** As `pg` has it, without its overloads. */
type Query = (this: pg.Client & DatabaseAddress, ...args: unknown[]) => unknown;

const prototype = pg.Client.prototype as unknown as { query: Query };
const query = prototype.query;

let queries: RecordedQuery[] = [];
let database: DatabaseAddress | undefined;

function record(): void {
  queries = [];
  prototype.query = function recorded(...args) {
    const [first, parameters] = args;
    const text = typeof first === 'string' ? first : (first as { text?: unknown }).text;
    const given = parameters ?? (first as { values?: unknown }).values;
    const { host, port, user, password, database: name } = this;
    database = { host, port, user, password, database: name };
    // No message carries a bigint; PostgreSQL takes its digits as well.
    const values = (Array.isArray(given) ? given : []).map((value) =>
      typeof value === 'bigint' ? String(value) : (value as unknown),
    );
    if (typeof text === 'string') queries.push({ text, values });
    return query.apply(this, args);
  };
}

function answerTo(question: ProbeQuestion): ProbeAnswer {
  switch (question.probe) {
    case 'cpu': {
      const { user, system } = process.cpuUsage();
      return { probe: 'cpu', cpuMicroseconds: user + system };
    }
    case 'record':
      record();
      return { probe: 'record' };
    case 'recorded':
      prototype.query = query;
      return { probe: 'recorded', queries, database };
    default:
      return question satisfies never;
  }
}

// The server's children inherit the option and not the question.
if (process.send && process.argv[1]?.endsWith('main.js')) {
  process.on('message', (question) => {
    if (typeof question === 'object' && question !== null && 'probe' in question)
      process.send?.(answerTo(question as ProbeQuestion));
  });
}
