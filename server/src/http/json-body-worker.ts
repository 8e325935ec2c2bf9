/** Reads large JSON bodies in a thread, one at a time; the thread's owner ends it when it takes too long. */
import { isUtf8 } from 'node:buffer';
import { parentPort } from 'node:worker_threads';
import { operations, type Operation } from '@agent-rental/contract';
import secureJson from 'secure-json-parse';
import { checkBySchema } from './check-by-schema.js';
import { measureJson } from '../platform/json/json-size.js';

/** More is refused before it is parsed: to use it would hold the event loop for longer than one request may. */
const MOST = { values: 20_000, depth: 1_000 };
/** Manifests have 64 KB, and are walked more often than a run's input is. */
const MOST_MANIFEST_VALUES = 15_000;
const TAKES_MANIFEST: ReadonlySet<string | undefined> = new Set(['registerAgent', 'updateAgent']);

/** A body, and the operation whose schema it is to have; without one it is only parsed. */
export interface BodyQuestion {
  body: Uint8Array;
  operationId: string | undefined;
}

/** Comes after `started`, which says that the work on a question begins. */
export type BodyAnswer = { value: unknown } | { refusal: string; next?: string | undefined };

const port = parentPort;
if (!port) throw new Error('This file runs as a worker.');

const known = new Map<string, Operation>(Object.entries(operations));

port.on('message', (question: BodyQuestion) => {
  // `postMessage` of a thread has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage('started');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage(answer(question));
});

function answer({ body, operationId }: BodyQuestion): BodyAnswer {
  if (!isUtf8(body)) return { refusal: 'The body is not valid UTF-8.' };
  const isManifest = TAKES_MANIFEST.has(operationId);
  const most = { ...MOST, ...(isManifest ? { values: MOST_MANIFEST_VALUES } : {}) };
  const { values, depth } = measureJson(body, most);
  if (depth > most.depth) return { refusal: 'The body is nested too deeply.' };
  if (values > most.values) {
    const next = isManifest ? undefined : 'Send more as a file: POST /v1/files gives an input_uri.';
    return { refusal: `The body has more than ${most.values} values and member names.`, next };
  }
  let value: unknown;
  try {
    value = secureJson.parse(Buffer.from(body).toString('utf8'), {
      protoAction: 'error',
      constructorAction: 'error',
    });
  } catch (error) {
    return { refusal: `Bad Request: ${(error as Error).message.slice(0, 200)}` };
  }
  const schema = operationId === undefined ? undefined : known.get(operationId)?.body;
  if (!schema) return { value };
  const checked = checkBySchema(schema, value);
  return 'problem' in checked ? { refusal: `The body ${checked.problem}.` } : checked;
}
