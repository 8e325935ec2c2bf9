/** The open answers, so that a closing server can wait for their end. */
export class OpenAnswers {
  #open = 0;
  #onIdle = (): void => undefined;

  /** Counts an answer until its last byte is read, or its reader has left. */
  async track(answering: Promise<Response>): Promise<Response> {
    this.#open += 1;
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      this.#open -= 1;
      if (this.#open === 0) this.#onIdle();
    };
    try {
      const response = await answering;
      if (response.body === null) {
        end();
        return response;
      }
      return new Response(untilEnd(response.body, end), response);
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Resolves when no answer is open, at the latest after `withinMs`. */
  async ended(withinMs: number): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** The same bytes; `end` is called after the last byte, or when the reader has left. */
export function untilEnd(body: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason).catch(() => undefined);
    },
  });
}
