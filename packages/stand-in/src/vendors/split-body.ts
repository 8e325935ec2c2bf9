/** The same response, its body in chunks of so many bytes: characters and events come apart anywhere. */
export function splitBody(response: Response, bytes: number): Response {
  if (response.body === null) return response;
  const split = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      for (let start = 0; start < chunk.length; start += bytes) {
        controller.enqueue(chunk.slice(start, start + bytes));
      }
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(split), { status, statusText, headers });
}
