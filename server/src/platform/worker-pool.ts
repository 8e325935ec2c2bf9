import { Worker, type WorkerOptions } from 'node:worker_threads';

interface Waiting<Question, Answer> {
  readonly question: Question;
  resolve(outcome: Answer | 'late'): void;
  reject(error: Error): void;
}

interface PoolOptions {
  most: number;
  deadlineMs: number;
  /** Given to each thread as its `workerData`. */
  settings?: unknown;
}

/** Some threads that answer questions in their order. A thread that is late is ended, and the next one is new. */
export class WorkerPool<Question, Answer> {
  readonly #program: string;
  readonly #deadlineMs: number;
  readonly #most: number;
  readonly #options: WorkerOptions;
  readonly #idle: Worker[] = [];
  readonly #busy = new Set<Worker>();
  readonly #waiting: Waiting<Question, Answer>[] = [];

  /**
   * @param program path of a thread's program. It announces the start of each question's work, then sends the answer.
   */
  constructor(program: string, { most, deadlineMs, settings }: PoolOptions) {
    this.#program = program;
    this.#most = most;
    this.#deadlineMs = deadlineMs;
    // No limit of a thread's heap: one large value beyond it would end the whole process.
    this.#options = {
      stdout: false,
      stderr: false,
      workerData: settings,
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    };
  }

  /** Questions that no thread works on yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Gives the answer, or `late` when it did not come in time; rejects when the thread dies. */
  ask(question: Question): Promise<Answer | 'late'> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      this.#next();
    });
  }

  /** Ends the threads; rejects the waiting questions. */
  async close(): Promise<void> {
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('The server is stopping.'));
    await Promise.all([...this.#idle.splice(0), ...this.#busy].map((worker) => worker.terminate()));
  }

  #next(): void {
    if (this.#waiting.length === 0 || this.#busy.size >= this.#most) return;
    const waiting = this.#waiting.shift();
    if (!waiting) return;
    const worker = this.#idle.pop() ?? new Worker(this.#program, this.#options);
    this.#busy.add(worker);
    this.#work(worker, waiting).then(waiting.resolve, waiting.reject);
  }

  /** One question on one thread, from its asking to its answer or its end. */
  #work(worker: Worker, { question }: Waiting<Question, Answer>): Promise<Answer | 'late'> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const settle = (reusable: boolean, conclude: () => void) => {
        clearTimeout(timer);
        worker.off('message', onMessage).off('exit', onExit);
        this.#busy.delete(worker);
        if (reusable) {
          worker.off('error', onError);
          // Idle threads do not keep the process.
          worker.unref();
          this.#idle.push(worker);
        } else {
          // The listener for errors stays: an error while the thread ends has no question to answer.
          void worker.terminate();
        }
        conclude();
        this.#next();
      };
      const onMessage = (answer: Answer | 'started') => {
        if (answer !== 'started') settle(true, () => resolve(answer));
        // From here on, because a new thread has to load its program first.
        else timer = setTimeout(() => settle(false, () => resolve('late')), this.#deadlineMs);
      };
      const onError = (error: Error) => settle(false, () => reject(error));
      const onExit = () => settle(false, () => reject(new Error('A thread ended unexpectedly.')));
      worker.on('message', onMessage).on('error', onError).once('exit', onExit);
      worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      worker.postMessage(question);
    });
  }
}
