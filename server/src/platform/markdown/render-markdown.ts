import { fileURLToPath } from 'node:url';
import { WorkerPool } from '../worker-pool.js';
import { plainHtml } from './markdown-html.js';
import type { MarkdownAnswer } from './worker.js';

const WORKER = fileURLToPath(new URL('../../../dist/platform/markdown/worker.js', import.meta.url));
/** The worst text of 20 KB that is known takes half a second; the rest is room for busy machines. */
const DEADLINE_MS = 2_000;

/** Renders strangers' Markdown outside the event loop and within a time. */
export interface MarkdownRenderer {
  /** Safe HTML. Where rendering takes too long, or the HTML is too long: the Markdown source as text. */
  render(markdown: string): Promise<string>;
  /** Texts that wait for the thread. */
  readonly waiting: number;
  close(): Promise<void>;
}

/** Starts no thread before the first text, and it does not keep the process. */
export function createMarkdownRenderer(deadlineMs = DEADLINE_MS): MarkdownRenderer {
  const pool = new WorkerPool<string, MarkdownAnswer>(WORKER, { most: 1, deadlineMs });
  return {
    async render(markdown) {
      const answer = await pool.ask(markdown);
      return (answer === 'late' ? undefined : answer.html) ?? plainHtml(markdown);
    },
    get waiting() {
      return pool.waiting;
    },
    close: () => pool.close(),
  };
}
