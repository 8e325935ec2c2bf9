/** An answer of JSON-RPC 2.0. */
export type JsonRpcAnswer =
  | { result: unknown; error?: undefined }
  | { error: { code: number; message: string; data?: unknown }; result?: undefined };

/** Calls a method over plain JSON-RPC; web3.js leaves out the code of an error. */
export async function callRpc(rpcUrl: string, method: string, params: unknown[]): Promise<JsonRpcAnswer> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await response.json()) as JsonRpcAnswer;
}

/** As {@link callRpc}, for calls that must not fail. */
export async function rpcResult(rpcUrl: string, method: string, params: unknown[]): Promise<unknown> {
  const answer = await callRpc(rpcUrl, method, params);
  if (answer.error !== undefined) {
    throw new Error(`${method}: ${answer.error.code} ${answer.error.message}`);
  }
  return answer.result;
}
