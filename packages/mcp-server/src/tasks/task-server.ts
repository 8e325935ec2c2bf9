import { Server, type JSONRPCRequest, type Result, type ServerContext } from '@modelcontextprotocol/server';
import { withPlainErrors } from '../calls/wrong-params.js';

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/**
 * The SDK's server with tasks. The SDK reads every answer of `tools/call` as a tool's result, and would make a task an empty
 * result. This class returns tasks unchanged, and tells wrong parameters in words.
 */
/* oxlint-disable no-underscore-dangle -- the SDK's name for its hook */
export class TaskServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    if (method !== 'tools/call') return withPlainErrors(method, super._wrapHandler(method, handler));
    return withPlainErrors(method, async (request, context) => {
      let task: Result | undefined;
      const checked = super._wrapHandler(method, async (asked, same) => {
        const result = await handler(asked, same);
        if (result['resultType'] !== 'task') return result;
        task = result;
        return { content: [] };
      });
      const result = await checked(request, context);
      return task ?? result;
    });
  }
}
